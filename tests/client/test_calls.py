"""Calls: typed answers, tokens by themselves, lists without cursors, one exception per code."""

import pickle
from collections import UserList
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pytest
from tests.client.conftest import Maker, Running, Shop

from farthing.client import Farthing, _listing, errors
from farthing.client.models import (
    Action,
    Address,
    AdjustmentOption,
    Card,
    CardPage,
    MoveOptions,
)

UNKNOWN = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
CARD = {"card_number": "4242424242424242", "expiry": "1230", "cvv": "123"}


def new_customer(client: Any, **fields: Any) -> str:
    return str(client.customers.create(type="INDIVIDUAL", name="Ada", **fields).id)


def new_card(client: Any, owner: str, **fields: Any) -> Card:
    address = Address(country_iso="GB", street="St James's Square")
    card = client.cards.create(owner_id=owner, billing_address=address, **CARD, **fields)
    assert isinstance(card, Card)
    return card


def fund(client: Any, account: str, amount: str = "900") -> None:
    """Let a bank transfer arrive."""
    reference = client.references.create(to_id=account)
    client.sandbox.inbound(reference=reference.reference, amount=amount, currency_iso="GBP")


def test_a_customer_pays_by_card_and_is_refunded(client: Any) -> None:
    ada = new_customer(client)
    own = client.for_customer(ada)
    account = own.accounts.create(owner_id=ada, currency_iso="GBP")
    card = new_card(own, ada)
    assert (card.card_number_suffix, card.billing_address.country_iso) == ("4242", "GB")
    payment = own.transactions.inbound(
        account_id=account.id,
        amount="2500",
        method="card",
        purpose="DEPOSIT",
        payment_instrument_id=card.id,
        target_state_id="PENDING",
    )
    assert payment.state_id == "PENDING"
    # The identifier as the answer says it is the one that the next call takes.
    cancelled = own.transactions.move(payment.id, to_state_id="CANCELLED")
    assert cancelled.state_id == "CANCELLED"
    fund(client, account.id)
    [arrived] = client.transactions.list(state_id="EFFECTED")
    options = MoveOptions(adjustment=AdjustmentOption(adjustment_amount="400"))
    rehearsed = client.transactions.move_dry_run(
        arrived.id, to_state_id="ADJUSTED", options=options
    )
    assert rehearsed.path[-1] == "ADJUSTED"
    assert client.transactions.get(arrived.id).state_id == "EFFECTED"
    moved = client.transactions.move(arrived.id, to_state_id="ADJUSTED", options=options)
    assert [one.amount for one in moved.adjustments] == ["400"]
    assert own.accounts.get(account.id).available_balance == "500"


def test_the_key_alone_acts_for_the_whole_tenant(client: Any, shop: Shop) -> None:
    ada = new_customer(client)
    account = client.accounts.create(owner_id=ada, currency_iso="GBP")
    assert account.owner_id == ada
    assert client.customers.get(shop.id).id == shop.id


def test_a_customer_sees_only_its_own(client: Any) -> None:
    ada, bob = new_customer(client), new_customer(client)
    account = client.accounts.create(owner_id=bob, currency_iso="GBP")
    with pytest.raises(errors.NotFound):
        client.for_customer(ada).accounts.get(account.id)
    with pytest.raises(errors.Forbidden):
        client.for_customer(ada).webhooks.create(url="https://example.org/hook")


def test_a_token_that_is_worth_nothing_any_more_is_renewed(client: Any) -> None:
    ada = new_customer(client)
    own = client.for_customer(ada)
    assert own.customers.get(ada).id == ada
    # A token lives for an hour, by the clock of the tenant.
    client.sandbox.clock.advance(advance="PT2H")
    assert own.customers.get(ada).id == ada
    assert own.accounts.create(owner_id=ada, currency_iso="GBP").owner_id == ada


def test_a_key_that_is_worth_nothing_is_told_so(make: Maker, shop: Shop) -> None:
    other = "A" if shop.key[-1] != "A" else "B"
    with pytest.raises(errors.Unauthenticated):
        make(shop.key[:-2] + other * 2).customers.get(shop.id)
    with pytest.raises(errors.Unauthenticated):
        make(shop.key[:-2] + other * 2).accounts.list().pages().__next__()


def test_the_operator_names_the_tenant_and_throws_tenants_away(make: Maker, shop: Shop) -> None:
    operator = make(shop.operator, tenant=shop.id)
    ada = new_customer(operator)
    assert [one.id for one in operator.accounts.list()] == []
    assert operator.for_customer(ada).customers.get(ada).id == ada
    made = operator.sandbox.tenants.create(name="For an hour")
    assert made.api_key not in repr(made)
    assert new_customer(make(made.api_key))
    operator.sandbox.tenants.delete(made.id)


def test_an_access_token_is_of_one_customer(make: Maker, client: Any) -> None:
    ada = new_customer(client)
    issued = client.tokens.issue(ada)
    assert issued.access_token not in repr(issued)
    own = make(issued.access_token)
    assert own.customers.get(ada).id == ada
    with pytest.raises(ValueError, match="one customer already"):
        own.for_customer(ada)


def test_a_list_is_read_to_its_end_and_no_further_than_its_limit(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_listing, "_LARGEST_PAGE", 10)
    begun = datetime.now(UTC)
    made = [new_customer(client, annotations={"n": str(n)}) for n in range(13)]
    found = [one.id for one in client.customers.list(created_from=begun)]
    assert found == made[::-1]
    assert [one.id for one in client.customers.list(limit=3)] == made[:-4:-1]
    assert [len(page.results) for page in client.customers.list(limit=11).pages()] == [10, 1]
    assert [one.id for one in client.customers.list(annotations={"n": "7"})] == [made[7]]
    with pytest.raises(ValueError, match="1 at least"):
        list(client.customers.list(limit=0))


def test_pages_are_typed_and_a_cursor_goes_on(client: Any) -> None:
    ada = new_customer(client)
    cards = [new_card(client, ada).id for _ in range(3)]
    page = next(client.cards.list(limit=1).pages())
    assert isinstance(page, CardPage)
    assert [one.id for one in client.cards.list(cursor=page.next_cursor)] == cards[1::-1]


def test_the_log_of_events_ends_and_goes_on(client: Any) -> None:
    ada = new_customer(client)
    [*_, last] = client.events.list().pages()
    assert not last.has_more
    account = client.accounts.create(owner_id=ada, currency_iso="GBP")
    [event] = client.events.list(cursor=last.next_cursor)
    assert (event.type, event.object) == ("account.created", client.accounts.get(account.id))
    assert client.events.get(event.id) == event


def test_a_statement_is_read_in_every_form(client: Any) -> None:
    account = client.accounts.create(owner_id=new_customer(client), currency_iso="GBP")
    fund(client, account.id)
    period = {"from_": datetime(2020, 1, 1, tzinfo=UTC), "to": datetime(2090, 1, 1, tzinfo=UTC)}
    assert client.accounts.statement(account.id, **period).closing_balance == "900"
    text = client.accounts.statement_as(account.id, media_type="text/csv", **period)
    assert text.startswith(b"line,accountId")
    assert b"camt.053" in client.accounts.statement_as(
        account.id, media_type="application/xml", **period
    )


def test_a_problem_is_an_exception_of_its_own_with_everything_that_was_said(client: Any) -> None:
    account = client.accounts.create(owner_id=new_customer(client), currency_iso="GBP")
    with pytest.raises(errors.StateMismatch) as caught:
        client.accounts.move(account.id, from_state_id="CLOSED", to_state_id="DISABLED")
    told = caught.value.problem
    assert (told.code, told.status, told.current_state_id) == ("state_mismatch", 409, "ENABLED")
    assert told.request_id in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).problem == told  # noqa: S301 - our own
    with pytest.raises(errors.ValidationFailed) as refused:
        client.accounts.create(owner_id="nobody", currency_iso="XYZ")
    assert {one.pointer for one in refused.value.problem.errors} == {"/ownerId", "/currencyISO"}


def test_whoever_is_refused_by_a_rule_is_told_by_which(client: Any) -> None:
    rule = client.rules.create(
        name="Nobody comes in",
        on="customer.create",
        when="true",
        then=[Action(action="refuse", message="We are closed.", code="closed")],
    )
    with pytest.raises(errors.RefusedByRule, match="We are closed") as refused:
        new_customer(client)
    told = refused.value.problem
    assert (told.rule_id, told.rule_code) == (rule.id, "closed")


@pytest.mark.parametrize(
    "identifier",
    [UNKNOWN, f"card/{UNKNOWN}", f"account/{UNKNOWN}/state", "account/../../status", "", None],
)
def test_what_is_no_identifier_leads_to_no_other_address(client: Any, identifier: Any) -> None:
    with pytest.raises(ValueError, match="must be account/<uuid>"):
        client.accounts.get(identifier)


def test_what_is_no_customer_is_refused_at_once(make: Maker, client: Any, shop: Shop) -> None:
    with pytest.raises(ValueError, match="must be customer/<uuid>"):
        client.for_customer("Ada")
    with pytest.raises(ValueError, match="must be customer/<uuid>"):
        make(shop.operator, tenant=UNKNOWN)


def test_any_sequence_and_any_mapping_will_do(client: Any) -> None:
    ada = client.customers.create(
        type="INDIVIDUAL", tags=UserList(["vip"]), annotations=MappingProxyType({"n": "1"})
    )
    assert (ada.tags, ada.annotations) == (["vip"], {"n": "1"})


def test_threads_share_a_client(running: Running, shop: Shop) -> None:
    with Farthing(shop.key, base_url=running.url) as client, ThreadPoolExecutor(8) as threads:
        owners = list(threads.map(lambda _: new_customer(client), range(16)))
        opened = threads.map(
            lambda one: client.for_customer(one).accounts.create(owner_id=one, currency_iso="GBP"),
            owners,
        )
        assert [one.owner_id for one in opened] == owners


def test_the_service_is_asked_about_itself(client: Any) -> None:
    assert client.status.get().environment == "sandbox"
    assert "transaction" in {one.noun for one in client.machines.list().results}
    assert "card.created" in {one.type for one in client.events.schemas().results}
