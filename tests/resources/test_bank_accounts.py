"""Bank accounts: four required fields, a destination that is verified, one preferred at most."""

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from farthing.resources.bank_accounts.model import MACHINE

if TYPE_CHECKING:
    import httpx2
    from tests.conftest import Database, Tenant

UK = {"accountNumber": "31926819", "sortCode": "108800"}
GERMAN = {"iban": "DE89370400440532013000", "bic": "COBADEFFXXX"}


def body(owner: str, **fields: Any) -> dict[str, Any]:
    return {
        "ownerId": owner,
        "currencyISO": "GBP",
        "countryISO": "GB",
        "billingAddress": {"countryISO": "GB"},
        **fields,
    }


async def create(tenant: "Tenant", owner: str | None = None, **fields: Any) -> "httpx2.Response":
    owner = owner or await tenant.new_customer()
    return await tenant.call("POST", "/v1/bank-accounts", body(owner, **fields))


async def preferred(tenant: "Tenant", customer: str) -> str | None:
    shown = (await tenant.call("GET", f"/v1/customers/{customer}")).json()
    found: str | None = shown.get("preferredInstruments", {}).get("bankAccountId")
    return found


async def test_only_the_four_required_fields_are_needed(tenant: "Tenant") -> None:
    owner = await tenant.new_customer()
    answer = await create(tenant, owner)
    assert answer.status_code == 201
    made = answer.json()
    assert made["stateId"] == "PENDING"
    assert (made["tags"], made["annotations"]) == ([], {})
    assert body(owner).items() <= made.items()
    known = {"id", "createdAt", "updatedAt", "stateId", "annotations", "tags", *body(owner)}
    assert set(made) == known
    assert (await tenant.call("GET", f"/v1/bank-accounts/{made['id']}")).json() == made


async def test_a_full_bank_account_shows_everything_but_set_as_preferred(tenant: "Tenant") -> None:
    address = {
        "flatNumber": "2",
        "houseNameNumber": "12",
        "street": "High Street",
        "townCity": "Leeds",
        "region": "Yorkshire",
        "postalCode": "LS1 1AA",
        "countryISO": "GB",
    }
    sent: dict[str, Any] = {
        **UK,
        "billingAddress": address,
        "tags": ["a"],
        "annotations": {"b": "c"},
    }
    made = (await create(tenant, **sent, setAsPreferred=True)).json()
    assert sent.items() <= made.items()
    assert "setAsPreferred" not in made


@pytest.mark.parametrize(
    ("destination", "state"),
    [
        (UK, "ENABLED"),
        ({**UK, "sortCode": "108801"}, "PENDING"),
        ({**UK, "sortCode": "108802"}, "ENABLED"),
        ({"iban": "GB82WEST12345698765432"}, "ENABLED"),
        ({**GERMAN, "countryISO": "DE", "currencyISO": "EUR"}, "ENABLED"),
        ({"iban": "GB82WEST12345698765432", "countryISO": "JE"}, "ENABLED"),
    ],
)
async def test_the_bank_decides_whether_an_account_is_enabled(
    tenant: "Tenant", destination: dict[str, str], state: str
) -> None:
    made = (await create(tenant, **destination)).json()
    assert made["stateId"] == state
    history = (await tenant.call("GET", f"/v1/bank-accounts/{made['id']}/transitions")).json()
    said = history["history"][0]["reason"]
    assert said.startswith(f"The bank said: {'verified' if state == 'ENABLED' else 'pending'}")


async def test_an_update_brings_the_destination_that_was_missing(tenant: "Tenant") -> None:
    made = (await create(tenant)).json()
    path = f"/v1/bank-accounts/{made['id']}"
    updated = (await tenant.call("PATCH", path, UK)).json()
    assert updated == {**made, **UK, "stateId": "ENABLED", "updatedAt": updated["updatedAt"]}


async def test_a_destination_that_cannot_be_verified_may_be_replaced(tenant: "Tenant") -> None:
    made = (await create(tenant, **{**UK, "sortCode": "108801"})).json()
    path = f"/v1/bank-accounts/{made['id']}"
    updated = (await tenant.call("PATCH", path, {"iban": "GB82WEST12345698765432"})).json()
    assert updated["stateId"] == "ENABLED"
    assert "sortCode" not in updated


async def test_the_destination_of_a_verified_account_stays_as_it_is(tenant: "Tenant") -> None:
    made = (await create(tenant, **UK)).json()
    path = f"/v1/bank-accounts/{made['id']}"
    answer = await tenant.call("PATCH", path, {**UK, "accountNumber": "00000001"})
    assert (answer.status_code, answer.json()["code"]) == (409, "destination_fixed")
    assert (await tenant.call("GET", path)).json() == made


async def test_a_destination_must_be_of_the_accounts_country(tenant: "Tenant") -> None:
    made = (await create(tenant)).json()
    answer = await tenant.call("PATCH", f"/v1/bank-accounts/{made['id']}", GERMAN)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/iban")


async def test_set_as_preferred_is_shown_by_the_customer(tenant: "Tenant") -> None:
    owner = await tenant.new_customer()
    one = (await create(tenant, owner, **UK, setAsPreferred=True)).json()["id"]
    assert await preferred(tenant, owner) == one
    two = (await create(tenant, owner, **UK)).json()["id"]
    assert await preferred(tenant, owner) == one
    await tenant.call("PATCH", f"/v1/bank-accounts/{two}", {"setAsPreferred": True})
    assert await preferred(tenant, owner) == two
    await tenant.call("PATCH", f"/v1/bank-accounts/{one}", {"setAsPreferred": False})
    assert await preferred(tenant, owner) == two
    await tenant.call("PATCH", f"/v1/bank-accounts/{two}", {"setAsPreferred": False})
    assert await preferred(tenant, owner) is None


async def test_a_closed_account_is_preferred_no_longer_and_cannot_become_so(
    tenant: "Tenant",
) -> None:
    owner = await tenant.new_customer()
    made = (await create(tenant, owner, **UK, setAsPreferred=True)).json()["id"]
    await tenant.call("PATCH", f"/v1/bank-accounts/{made}/state", {"toStateId": "CLOSED"})
    assert await preferred(tenant, owner) is None
    answer = await tenant.call("PATCH", f"/v1/bank-accounts/{made}", {"setAsPreferred": True})
    assert answer.status_code == 422


async def test_of_many_who_want_to_be_preferred_at_once_one_is(
    tenant: "Tenant", database: "Database"
) -> None:
    owner = await tenant.new_customer()
    made = await asyncio.gather(
        *(create(tenant, owner, **UK, setAsPreferred=True) for _ in range(20))
    )
    assert await preferred(tenant, owner) in {answer.json()["id"] for answer in made}
    rows = await database.fetch(
        "SELECT count(*) FROM standings WHERE id = $1::text::uuid", owner.partition("/")[2]
    )
    assert rows[0][0] == 1


async def test_the_event_of_the_customer_tells_of_its_preferred_account(
    tenant: "Tenant", database: "Database"
) -> None:
    owner = await tenant.new_customer()
    made = (await create(tenant, owner, **UK, setAsPreferred=True)).json()["id"]
    events = await database.fetch(
        "SELECT type, data -> 'preferredInstruments' ->> 'bankAccountId' AS preferred FROM events "
        "WHERE object_id = $1::text::uuid ORDER BY object_version",
        owner.partition("/")[2],
    )
    assert [tuple(event) for event in events] == [
        ("customer.created", None),
        ("customer.updated", made),
    ]


async def test_closed_is_final(tenant: "Tenant") -> None:
    made = (await create(tenant, **UK)).json()["id"]
    path = f"/v1/bank-accounts/{made}/state"
    await tenant.call("PATCH", path, {"toStateId": "CLOSED"})
    for token in (tenant.token, tenant.operator):
        for state in MACHINE.states:
            answer = await tenant.call("PATCH", path, {"toStateId": state}, token=token)
            assert (answer.status_code, answer.json()["code"]) == (409, "transition_not_allowed")


async def test_an_unverified_account_cannot_be_enabled_by_a_detour(tenant: "Tenant") -> None:
    made = (await create(tenant, **{**UK, "sortCode": "108801"})).json()["id"]
    path = f"/v1/bank-accounts/{made}/state"
    assert (await tenant.call("PATCH", path, {"toStateId": "DISABLED"})).status_code == 200
    refused = await tenant.call("PATCH", path, {"toStateId": "ENABLED"})
    assert (refused.status_code, refused.json()["code"]) == (409, "transition_not_allowed")


async def test_the_operator_can_vouch_for_an_account_but_not_for_none(tenant: "Tenant") -> None:
    pending = (await create(tenant, **{**UK, "sortCode": "108801"})).json()["id"]
    empty = (await create(tenant)).json()["id"]
    move = {"toStateId": "ENABLED"}
    vouched = await tenant.call(
        "PATCH", f"/v1/bank-accounts/{pending}/state", move, token=tenant.operator
    )
    assert vouched.json()["stateId"] == "ENABLED"
    refused = await tenant.call(
        "PATCH", f"/v1/bank-accounts/{empty}/state", move, token=tenant.operator
    )
    assert refused.json()["code"] == "transition_not_allowed"
    client = await tenant.call("PATCH", f"/v1/bank-accounts/{empty}/state", move)
    assert client.json()["code"] == "transition_not_allowed"
