"""Customers: what they are, how they change, and how they go."""

import asyncio
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Database, Tenant

EVERYTHING = {
    "type": "INCORPORATED_BUSINESS",
    "name": "Analytical Engines Ltd",
    "email": "ada@example.com",
    "phone": "+442071838750",
    "address": {
        "flatNumber": "2",
        "houseNameNumber": "12, The Mews",
        "street": "St James's Square",
        "townCity": "London",
        "region": "Greater London",
        "postalCode": "SW1Y 4JH",
        "countryISO": "GB",
    },
    "tags": ["seller", "vip"],
    "annotations": {"shop": "engines", "leer": ""},
}


async def test_a_customer_needs_only_its_type(tenant: "Tenant") -> None:
    answer = await tenant.call("POST", "/v1/customers", {"type": "INDIVIDUAL"}, token=tenant.key)
    assert answer.status_code == 201
    customer = answer.json()
    known = {"id", "createdAt", "updatedAt", "stateId", "tags", "annotations", "type"}
    assert set(customer) == known
    assert (customer["stateId"], customer["tags"], customer["annotations"]) == ("ENABLED", [], {})


async def test_a_customer_shows_what_was_said(tenant: "Tenant") -> None:
    made = (await tenant.call("POST", "/v1/customers", EVERYTHING)).json()
    assert EVERYTHING.items() <= made.items()
    assert (await tenant.call("GET", f"/v1/customers/{made['id']}")).json() == made


async def test_an_update_replaces_the_fields_that_it_names_and_no_others(tenant: "Tenant") -> None:
    made = (await tenant.call("POST", "/v1/customers", EVERYTHING)).json()
    changes = {"name": "Looms Ltd", "tags": [], "annotations": {"new": "1"}}
    path = f"/v1/customers/{made['id']}"
    updated = (await tenant.call("PATCH", path, changes)).json()
    assert updated == {**made, **changes, "updatedAt": updated["updatedAt"]}
    assert updated["updatedAt"] >= made["updatedAt"]
    assert (await tenant.call("GET", path)).json() == updated


async def test_a_move_unites_tags_and_merges_annotations(tenant: "Tenant") -> None:
    made = (await tenant.call("POST", "/v1/customers", EVERYTHING)).json()
    body = {
        "fromStateId": "ENABLED",
        "toStateId": "DISABLED",
        "tags": ["vip", "paused"],
        "annotations": {"shop": "none", "why": "holiday"},
        "reason": "On holiday",
    }
    moved = (await tenant.call("PATCH", f"/v1/customers/{made['id']}/state", body)).json()
    assert moved["stateId"] == "DISABLED"
    assert moved["tags"] == ["seller", "vip", "paused"]
    assert moved["annotations"] == {"shop": "none", "leer": "", "why": "holiday"}


async def test_a_move_cannot_add_more_labels_than_an_object_may_carry(tenant: "Tenant") -> None:
    customer = await tenant.new_customer(tags=[f"tag {number}" for number in range(40)])
    body = {"toStateId": "DISABLED", "tags": [f"more {number}" for number in range(20)]}
    answer = await tenant.call("PATCH", f"/v1/customers/{customer}/state", body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/tags")


async def test_from_state_is_compared_with_the_current_one(tenant: "Tenant") -> None:
    customer = await tenant.new_customer()
    body = {"fromStateId": "PENDING", "toStateId": "DISABLED"}
    answer = await tenant.call("PATCH", f"/v1/customers/{customer}/state", body)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (409, "state_mismatch")
    assert problem["currentStateId"] == "ENABLED"
    assert problem["allowedStateIds"] == ["DISABLED", "CLOSING"]


async def test_history_tells_every_step_and_what_is_possible_now(tenant: "Tenant") -> None:
    customer = await tenant.new_customer()
    path = f"/v1/customers/{customer}"
    body = {"toStateId": "DISABLED", "reason": "Late papers"}
    moved = await tenant.call("PATCH", f"{path}/state", body)
    seen = (await tenant.call("GET", f"{path}/transitions")).json()
    steps = [(step.get("fromStateId"), step["toStateId"]) for step in seen["history"]]
    assert steps == [(None, "ENABLED"), ("ENABLED", "DISABLED")]
    last = seen["history"][-1]
    assert last["reason"] == "Late papers"
    assert (last["actor"], last["by"]) == ("CLIENT", tenant.customer)
    assert last["requestId"] == moved.headers["x-request-id"]
    assert [one["toStateId"] for one in seen["possible"]] == ["ENABLED", "CLOSING"]


async def test_a_tenant_cannot_lock_itself_out(tenant: "Tenant") -> None:
    path, body = f"/v1/customers/{tenant.customer}/state", {"toStateId": "DISABLED"}
    refused = await tenant.call("PATCH", path, body)
    assert (refused.status_code, refused.json()["code"]) == (409, "transition_not_allowed")
    allowed = await tenant.call("PATCH", path, body, token=tenant.operator)
    assert allowed.status_code == 200


async def test_a_customer_with_an_open_account_cannot_go(tenant: "Tenant") -> None:
    customer = await tenant.new_customer()
    account = await tenant.new_account(customer)
    path = f"/v1/customers/{customer}/state"
    await tenant.call("PATCH", path, {"toStateId": "CLOSING"})
    refused = await tenant.call("PATCH", path, {"toStateId": "TERMINATED"})
    assert (refused.status_code, refused.json()["code"]) == (409, "balance_not_zero")
    await tenant.call("PATCH", f"/v1/accounts/{account}/state", {"toStateId": "CLOSED"})
    gone = await tenant.call("PATCH", path, {"toStateId": "TERMINATED"})
    assert gone.json()["stateId"] == "TERMINATED"


async def test_of_an_opening_and_a_leaving_at_once_only_one_succeeds(tenant: "Tenant") -> None:
    for _ in range(10):
        customer = await tenant.new_customer()
        path = f"/v1/customers/{customer}/state"

        async def leave(path: str = path) -> int:
            await tenant.call("PATCH", path, {"toStateId": "CLOSING"})
            return (await tenant.call("PATCH", path, {"toStateId": "TERMINATED"})).status_code

        body = {"ownerId": customer, "currencyISO": "GBP"}
        left, opened = await asyncio.gather(leave(), tenant.call("POST", "/v1/accounts", body))
        assert {left, opened.status_code} in ({200, 409}, {409, 201})


async def test_every_change_writes_one_event_with_the_object_as_it_then_is(
    tenant: "Tenant", database: "Database"
) -> None:
    customer = await tenant.new_customer(name="Ada")
    path = f"/v1/customers/{customer}"
    answers = [
        await tenant.call("GET", path),
        await tenant.call("PATCH", path, {"name": "Ada King"}),
        await tenant.call("PATCH", f"{path}/state", {"toStateId": "DISABLED"}),
    ]
    events = await database.fetch(
        "SELECT type, object_version, data::text FROM events "
        "WHERE tenant_id = $1 AND object_id = $2::text::uuid ORDER BY position",
        tenant.id,
        customer.partition("/")[2],
    )
    assert [(event["type"], event["object_version"]) for event in events] == [
        ("customer.created", 1),
        ("customer.updated", 2),
        ("customer.disabled", 3),
    ]
    assert [json.loads(event["data"]) for event in events] == [one.json() for one in answers]
