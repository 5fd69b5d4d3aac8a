"""The way of the money, with everything that can go wrong on it."""

import pytest

from farthing.client import errors
from farthing.testing import Sandbox
from marketplace import Buyer, Market, Seller


@pytest.fixture
def market(farthing: Sandbox) -> Market:
    return Market(farthing.client, farthing.tenant.customer_id)


@pytest.fixture
def seller(farthing: Sandbox, market: Market) -> Seller:
    numbers = farthing.numbers
    return market.welcome_seller("Sam", numbers.sort_codes.works, numbers.account)


@pytest.fixture
def buyer(farthing: Sandbox, market: Market) -> Buyer:
    return market.welcome_buyer("Bea", farthing.numbers.cards.visa, "1299", "123")


@pytest.fixture
def order(farthing: Sandbox, market: Market, buyer: Buyer, seller: Seller) -> str:
    """Give an order that is paid."""
    made = market.buy(buyer, seller, 5000, "A chair")
    farthing.webhooks.expect("transaction.held", object_id=made.id)
    return made.id


def test_the_money_waits_for_the_goods(market: Market, seller: Seller, order: str) -> None:
    assert market.balance(seller.account_id) == 0
    market.deliver(order)
    assert market.balance(seller.account_id) == 4500
    assert market.balance(market.fees_id) == 500


def test_a_seller_is_paid_out(
    farthing: Sandbox, market: Market, seller: Seller, order: str
) -> None:
    market.deliver(order)
    payout = market.pay_out(seller)
    farthing.webhooks.expect("transaction.effected", object_id=payout.id)
    assert (payout.amount, market.balance(seller.account_id)) == ("4500", 0)


def test_to_deliver_twice_is_to_deliver_once(market: Market, seller: Seller, order: str) -> None:
    market.deliver(order)
    market.deliver(order)
    assert market.balance(seller.account_id) == 4500


def test_an_order_that_is_cancelled_goes_back_to_the_card(
    farthing: Sandbox, market: Market, seller: Seller, order: str
) -> None:
    market.cancel(order)
    farthing.webhooks.expect("transaction.cancelled", object_id=order)
    with pytest.raises(errors.TransitionNotAllowed):
        market.deliver(order)
    assert market.balance(seller.account_id) == 0


def test_a_buyer_who_says_nothing_for_two_weeks_has_the_goods(
    farthing: Sandbox, market: Market, seller: Seller, order: str
) -> None:
    farthing.clock.advance(days=13)
    assert market.deliver_overdue(farthing.clock.now) == []
    farthing.clock.advance(days=2)
    assert market.deliver_overdue(farthing.clock.now) == [order]
    assert market.balance(seller.account_id) == 4500


def test_a_refund_is_the_sellers_affair_and_the_fee_stays(
    market: Market, seller: Seller, order: str
) -> None:
    market.deliver(order)
    market.refund(order, 2000)
    assert market.balance(seller.account_id) == 2500
    assert market.balance(market.fees_id) == 500


def test_a_card_that_is_refused_makes_no_order(
    farthing: Sandbox, market: Market, buyer: Buyer, seller: Seller
) -> None:
    farthing.rail.fail_next()
    order = market.buy(buyer, seller, 5000, "A chair")
    farthing.webhooks.expect("transaction.failed", object_id=order.id)
    again = market.buy(buyer, seller, 5000, "A chair")
    farthing.webhooks.expect("transaction.held", object_id=again.id)


def test_a_card_without_money_makes_no_order(
    farthing: Sandbox, market: Market, seller: Seller
) -> None:
    card = farthing.numbers.cards.insufficient_funds
    poor = market.welcome_buyer("Pat", card, "1299", "123")
    order = market.buy(poor, seller, 5000, "A chair")
    farthing.webhooks.expect("transaction.failed", object_id=order.id)


def test_a_dispute_takes_the_money_aside_until_it_is_decided(
    farthing: Sandbox, market: Market, seller: Seller, order: str
) -> None:
    market.deliver(order)
    farthing.client.sandbox.transactions.dispute(order, amount="3000")
    assert market.balance(seller.account_id) == 1500
    farthing.client.sandbox.transactions.win(order)
    assert market.balance(seller.account_id) == 4500


def test_some_cards_are_disputed_a_minute_after_the_purchase(
    farthing: Sandbox, market: Market, seller: Seller
) -> None:
    card = farthing.numbers.cards.charges_disputed
    sly = market.welcome_buyer("Sly", card, "1299", "123")
    order = market.buy(sly, seller, 5000, "A chair")
    farthing.webhooks.expect("transaction.held", object_id=order.id)
    market.deliver(order.id)
    farthing.clock.advance(minutes=2)
    farthing.webhooks.expect("transaction.disputed", object_id=order.id)


def test_a_payout_that_the_bank_returns_is_the_sellers_again(
    farthing: Sandbox, market: Market, buyer: Buyer
) -> None:
    numbers = farthing.numbers
    moved = market.welcome_seller("Max", numbers.sort_codes.payouts_returned, numbers.account)
    order = market.buy(buyer, moved, 5000, "A chair")
    farthing.webhooks.expect("transaction.held", object_id=order.id)
    market.deliver(order.id)
    payout = market.pay_out(moved)
    farthing.webhooks.expect("transaction.failed", object_id=payout.id)
    assert market.balance(moved.account_id) == 4500
