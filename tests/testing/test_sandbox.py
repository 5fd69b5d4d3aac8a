"""The fixture `farthing`: a sandbox of its own for each test, in which anything can happen."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from farthing.client import Farthing, errors
from farthing.client.models import Account, Address, Transaction
from farthing.rails.numbers import MAGIC_CARDS, MAGIC_SORT_CODES
from farthing.testing import Sandbox
from farthing.testing.numbers import Cards, Numbers, SortCodes
from farthing.testing.sandbox import Server

pytestmark = pytest.mark.slow


def open_account(sandbox: Sandbox, card_number: str = Cards.visa) -> Account:
    """Give a new customer an account and a card."""
    ada = sandbox.client.customers.create(type="INDIVIDUAL", name="Ada")
    sandbox.client.cards.create(
        owner_id=ada.id,
        card_number=card_number,
        expiry="1299",
        cvv="123",
        billing_address=Address(country_iso="GB"),
        set_as_preferred=True,
    )
    return sandbox.client.accounts.create(owner_id=ada.id, currency_iso="GBP")


def pay_in(sandbox: Sandbox, account: Account) -> Transaction:
    return sandbox.client.transactions.inbound(
        account_id=account.id, amount="2500", method="card", purpose="DEPOSIT"
    )


def test_each_sandbox_has_a_tenant_of_its_own_that_is_thrown_away(farthing_server: Server) -> None:
    with farthing_server.open_sandbox("one") as one, farthing_server.open_sandbox("two") as two:
        assert one.tenant.id != two.tenant.id
        one.client.customers.create(type="INDIVIDUAL", name="Ada")
        assert [found.name for found in two.client.customers.list()] == ["two"]
    with (
        Farthing(one.api_key, base_url=one.url) as late,
        pytest.raises(errors.Unauthenticated),
    ):
        late.sandbox.clock.get()


def test_a_tenant_is_thrown_away_after_a_test_that_failed(farthing_server: Server) -> None:
    with pytest.raises(ZeroDivisionError), farthing_server.open_sandbox("one") as one:
        raise ZeroDivisionError
    with pytest.raises(errors.NotFound):
        farthing_server.operator.sandbox.tenants.get(one.tenant.id)


def test_the_name_of_a_test_may_be_as_long_as_it_likes(farthing_server: Server) -> None:
    with farthing_server.open_sandbox("long" * 100 + "[é]") as sandbox:
        assert sandbox.client.customers.get(sandbox.tenant.customer_id).name


def test_time_passes_and_what_falls_due_happens(farthing: Sandbox) -> None:
    account = open_account(farthing, Cards.charges_disputed)
    payment = pay_in(farthing, account)
    farthing.webhooks.expect("transaction.effected", object_id=payment.id)
    before = farthing.clock.now
    happened = farthing.clock.advance(days=3)
    assert farthing.clock.now - before >= timedelta(days=3)
    assert "transaction.disputed" in {event.type for event in happened}
    # What is delivered is verified by the time of this machine.
    assert farthing.webhooks.expect("transaction.disputed").object_id == payment.id


async def test_a_clock_arrives_however_much_there_is_to_do_on_its_way(farthing: Sandbox) -> None:
    account = open_account(farthing)
    # One request moves a clock no further than to about a thousand events.
    for _ in range(11):
        making = [farthing.async_client.references.create(to_id=account.id) for _ in range(100)]
        await asyncio.gather(*making)
    before = farthing.clock.now
    happened = farthing.clock.advance(days=400)
    assert farthing.clock.now - before >= timedelta(days=400)
    expired = [event.object_id for event in happened if event.type == "reference.expired"]
    assert len(expired) == len({*expired}) == 1100


def test_a_clock_does_not_go_back(farthing: Sandbox) -> None:
    with pytest.raises(ValueError, match="does not go back"):
        farthing.clock.advance(days=-1)


def test_the_next_payment_fails_and_no_other(farthing: Sandbox) -> None:
    account = open_account(farthing)
    farthing.rail.fail_next()
    first, second = pay_in(farthing, account), pay_in(farthing, account)
    farthing.webhooks.expect("transaction.failed", object_id=first.id)
    farthing.webhooks.expect("transaction.effected", object_id=second.id)
    assert farthing.client.accounts.get(account.id).available_balance == "2500"


def test_the_rail_can_be_down_and_come_back(farthing: Sandbox) -> None:
    account = open_account(farthing)
    farthing.rail.down()
    payment = pay_in(farthing, account)
    farthing.webhooks.expect("transaction.errored", object_id=payment.id)
    farthing.rail.normal()
    farthing.clock.advance(hours=1)
    farthing.webhooks.expect("transaction.effected", object_id=payment.id)


def test_every_mood_can_be_had(farthing: Sandbox) -> None:
    rail, had = farthing.rail, []
    for change in (rail.slow, rail.forgetful, rail.down, rail.normal):
        change()
        had.append(farthing.client.sandbox.rail.get().mood)
    assert had == ["slow", "forgetful", "down", "normal"]


def test_an_event_is_handed_out_once_whether_it_came_before_or_comes_now(farthing: Sandbox) -> None:
    made = [farthing.client.customers.create(type="INDIVIDUAL", name=name) for name in "AB"]
    found = {farthing.webhooks.expect("customer.created").object_id for _ in made}
    assert found == {one.id for one in made}
    with pytest.raises(AssertionError) as failed:
        farthing.webhooks.expect("customer.created", object_id=made[0].id, timeout=0.01)
    told = str(failed.value).splitlines()
    assert told[0] == f"No customer.created of {made[0].id} came within 0.01 s."
    assert told[1] == "What came:"
    expected = [one.split() for one in told if "(was expected before)" in one]
    assert sorted(one[1] for one in expected) == sorted(found)


def test_a_repetition_is_seen_and_not_handed_out_twice(farthing: Sandbox) -> None:
    farthing.client.sandbox.faults.arm(kind="duplicateDelivery")
    first = farthing.client.customers.create(type="INDIVIDUAL", name="Ada")
    farthing.webhooks.expect("customer.created")
    # What comes after it for the same object comes after both.
    farthing.client.customers.update(first.id, name="Eve")
    farthing.webhooks.expect("customer.updated", object_id=first.id)
    of_first = [one.type for one in farthing.webhooks.events if one.object_id == first.id]
    assert of_first.count("customer.created") == 2
    with pytest.raises(AssertionError):
        farthing.webhooks.expect("customer.created", timeout=0.01)


def test_a_delivery_is_there_as_it_came_and_a_forged_one_is_told_of(farthing: Sandbox) -> None:
    farthing.client.customers.create(type="INDIVIDUAL", name="Ada")
    came = farthing.webhooks.expect_delivery("customer.*")
    assert came.event.id == came.headers["webhook-id"]
    assert farthing.webhooks.secret.startswith("whsec_")
    assert not farthing.webhooks.take(came.body + b" ", came.headers)
    with pytest.raises(AssertionError, match=r"1 more came that were not signed"):
        farthing.webhooks.expect("nothing.like-it", timeout=0.01)


async def test_everything_can_be_awaited(farthing: Sandbox) -> None:
    ada = await farthing.async_client.customers.create(type="INDIVIDUAL", name="Ada")
    event = await farthing.webhooks.expect_async("customer.created")
    assert event.object_id == ada.id
    assert farthing.async_client is farthing.async_client


def constants(holder: type[Any]) -> list[str]:
    return [value for name, value in vars(holder).items() if not name.startswith("_")]


def test_every_number_with_a_fate_has_a_name() -> None:
    assert sorted(constants(Cards)) == sorted(card.number for card in MAGIC_CARDS)
    assert sorted(constants(SortCodes)) == sorted(code.sort_code for code in MAGIC_SORT_CODES)
    assert Numbers.cards is Cards
