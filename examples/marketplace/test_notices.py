"""What people are told, from webhooks as they were really delivered."""

import pytest

from farthing.client import errors
from farthing.testing import Sandbox
from marketplace import Market, Notices


@pytest.fixture
def order(farthing: Sandbox) -> str:
    numbers, market = farthing.numbers, Market(farthing.client, farthing.tenant.customer_id)
    seller = market.welcome_seller("Sam", numbers.sort_codes.works, numbers.account)
    buyer = market.welcome_buyer("Bea", numbers.cards.visa, "1299", "123")
    return market.buy(buyer, seller, 5000, "A chair").id


def test_the_seller_is_told_once_that_the_order_is_paid(farthing: Sandbox, order: str) -> None:
    notices = Notices(farthing.webhooks.secret)
    delivery = farthing.webhooks.expect_delivery("transaction.held", object_id=order)
    for _ in range(2):
        notices.receive(delivery.body, delivery.headers)
    assert notices.about == {order: ["It is paid. Please send the goods."]}


def test_what_nobody_signed_is_refused(farthing: Sandbox, order: str) -> None:
    notices = Notices(farthing.webhooks.secret)
    delivery = farthing.webhooks.expect_delivery("transaction.held", object_id=order)
    with pytest.raises(errors.InvalidSignature):
        notices.receive(delivery.body.replace(b"5000", b"9000"), delivery.headers)
    assert not notices.about
