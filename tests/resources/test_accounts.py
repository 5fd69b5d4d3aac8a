"""Accounts: seven amounts, one currency, and an end only when nothing is left."""

import asyncio
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from tests.ledger.books import Books

from farthing.http.service import Service
from farthing.ledger import effects
from farthing.resources.accounts.model import MACHINE

if TYPE_CHECKING:
    from tests.conftest import Tenant

AMOUNTS = {
    "completeBalance",
    "availableBalance",
    "incompleteCredits",
    "incompleteDebits",
    "disputedCredits",
    "disputedDebits",
    "withheldBalance",
}


def uuid_of(identifier: str) -> UUID:
    return UUID(identifier.partition("/")[2])


async def test_a_new_account_has_seven_amounts_of_nothing(tenant: "Tenant") -> None:
    owner = await tenant.new_customer()
    body = {"ownerId": owner, "currencyISO": "JPY", "tags": ["a"], "annotations": {"b": "c"}}
    answer = await tenant.call("POST", "/v1/accounts", body)
    account = answer.json()
    assert answer.status_code == 201
    assert body.items() <= account.items()
    assert {account[amount] for amount in AMOUNTS} == {"0"}
    common = {"id", "createdAt", "updatedAt", "stateId", "ownerId", "currencyISO", "tags"}
    assert set(account) == AMOUNTS | common | {"annotations"}
    assert (await tenant.call("GET", f"/v1/accounts/{account['id']}")).json() == account


async def test_an_account_shows_what_the_ledger_holds(tenant: "Tenant", service: Service) -> None:
    owner = await tenant.new_customer()
    one, two = await tenant.new_account(owner), await tenant.new_account(owner)
    books = Books(service.pool, service.committer, tenant.id)
    payer, payee = uuid_of(one), uuid_of(two)
    await books.post(effects.move(books.outside, payer, 1000))
    await books.post(effects.reserve(payer, payee, 300))
    await books.post(effects.withhold(payer, 100))
    await books.post(effects.set_aside(books.outside, payer, 50))
    shown = (await tenant.call("GET", f"/v1/accounts/{one}")).json()
    assert {amount: shown[amount] for amount in AMOUNTS} == {
        "completeBalance": "1000",
        "availableBalance": "550",
        "incompleteCredits": "0",
        "incompleteDebits": "300",
        "disputedCredits": "0",
        "disputedDebits": "50",
        "withheldBalance": "100",
    }
    listed = (await tenant.call("GET", f"/v1/accounts?ownerId={owner}")).json()["results"]
    assert [account["id"] for account in listed] == [two, one]
    assert listed[1] == shown


@pytest.mark.parametrize("currency", ["gbp", "GB", "XAU", "XTS", "ABC", "£££", ""])
async def test_an_account_has_a_currency_that_can_be_held(tenant: "Tenant", currency: str) -> None:
    body = {"ownerId": tenant.customer, "currencyISO": currency}
    answer = await tenant.call("POST", "/v1/accounts", body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/currencyISO"


async def test_an_unknown_owner_is_refused(tenant: "Tenant", other_tenant: "Tenant") -> None:
    for owner in ("customer/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", other_tenant.customer):
        body = {"ownerId": owner, "currencyISO": "GBP"}
        answer = await tenant.call("POST", "/v1/accounts", body)
        (fault,) = answer.json()["errors"]
        assert (answer.status_code, fault["pointer"]) == (422, "/ownerId")


async def test_an_owner_who_is_not_enabled_gets_no_account(tenant: "Tenant") -> None:
    owner = await tenant.new_customer()
    await tenant.call("PATCH", f"/v1/customers/{owner}/state", {"toStateId": "DISABLED"})
    answer = await tenant.call("POST", "/v1/accounts", {"ownerId": owner, "currencyISO": "GBP"})
    assert (answer.status_code, answer.json()["code"]) == (409, "owner_not_active")


async def test_an_account_with_money_cannot_be_closed(tenant: "Tenant", service: Service) -> None:
    account = await tenant.new_account(await tenant.new_customer())
    books = Books(service.pool, service.committer, tenant.id)
    await books.post(effects.move(books.outside, uuid_of(account), 1))
    path = f"/v1/accounts/{account}/state"
    refused = await tenant.call("PATCH", path, {"toStateId": "CLOSED"})
    assert (refused.status_code, refused.json()["code"]) == (409, "balance_not_zero")
    await books.post(effects.move(uuid_of(account), books.outside, 1))
    closed = await tenant.call("PATCH", path, {"toStateId": "CLOSED"})
    assert closed.json()["stateId"] == "CLOSED"


async def test_a_closed_account_stays_closed(tenant: "Tenant") -> None:
    account = await tenant.new_account(tenant.customer)
    path = f"/v1/accounts/{account}/state"
    await tenant.call("PATCH", path, {"toStateId": "CLOSED"})
    for state in MACHINE.states:
        answer = await tenant.call("PATCH", path, {"toStateId": state}, token=tenant.operator)
        assert (answer.status_code, answer.json()["code"]) == (409, "transition_not_allowed")
        assert answer.json()["allowedStateIds"] == []


async def test_forty_closings_at_once_close_once(tenant: "Tenant") -> None:
    account = await tenant.new_account(tenant.customer)
    path, body = f"/v1/accounts/{account}/state", {"toStateId": "CLOSED"}
    answers = await asyncio.gather(*(tenant.call("PATCH", path, body) for _ in range(40)))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 39


async def test_an_update_changes_tags_and_annotations_only(tenant: "Tenant") -> None:
    account = await tenant.new_account(tenant.customer, tags=["old"], annotations={"a": "1"})
    path = f"/v1/accounts/{account}"
    updated = (await tenant.call("PATCH", path, {"tags": ["new"]})).json()
    assert (updated["tags"], updated["annotations"]) == (["new"], {"a": "1"})
    refused = await tenant.call("PATCH", path, {"currencyISO": "EUR"})
    assert refused.json()["errors"][0]["code"] == "unknown_field"
