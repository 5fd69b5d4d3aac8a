"""Idempotency: a repeat gets the first answer, byte for byte, whatever happened in between."""

import asyncio
from typing import TYPE_CHECKING

import asyncpg
import httpx2

from farthing.http.app import build
from farthing.http.service import Service

if TYPE_CHECKING:
    from tests.conftest import Database, Tenant

BODY = {"type": "INDIVIDUAL", "name": "Ada"}


async def test_a_repeat_gets_the_first_answer_byte_for_byte(tenant: "Tenant") -> None:
    first = await tenant.call("POST", "/v1/customers", BODY, Idempotency_Key="one")
    again = await tenant.call("POST", "/v1/customers", BODY, Idempotency_Key="one")
    assert (again.status_code, again.content) == (201, first.content)
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    listed = await tenant.call("GET", "/v1/customers?limit=100")
    assert len(listed.json()["results"]) == 2  # the tenant itself, and one Ada


async def test_a_repeat_may_write_the_same_json_in_another_order(tenant: "Tenant") -> None:
    first = await tenant.call("POST", "/v1/customers", BODY, Idempotency_Key="one")
    turned = dict(reversed(BODY.items()))
    again = await tenant.call("POST", "/v1/customers", turned, Idempotency_Key="one")
    assert again.content == first.content


async def test_a_repeat_gets_the_first_answer_also_after_a_restart(
    tenant: "Tenant", database: "Database"
) -> None:
    first = await tenant.call("POST", "/v1/customers", BODY, Idempotency_Key="one")
    restarted = await Service.start(database.settings())
    transport = httpx2.ASGITransport(app=build(restarted))
    async with httpx2.AsyncClient(transport=transport, base_url="http://again.test") as client:
        headers = {"X-Token": tenant.token, "Idempotency-Key": "one"}
        again = await client.post("/v1/customers", json=BODY, headers=headers)
    await restarted.stop()
    assert again.content == first.content
    assert again.headers["idempotency-replayed"] == "true"


async def test_a_refusal_is_repeated_too(tenant: "Tenant") -> None:
    customer = await tenant.new_customer()
    path, body = f"/v1/customers/{customer}/state", {"toStateId": "TERMINATED"}
    first = await tenant.call("PATCH", path, body, Idempotency_Key="one")
    assert first.status_code == 409
    await tenant.call("PATCH", path, {"toStateId": "CLOSING"})
    again = await tenant.call("PATCH", path, body, Idempotency_Key="one")
    assert (again.status_code, again.content) == (409, first.content)
    assert again.headers["content-type"] == "application/problem+json"


async def test_the_same_key_with_another_request_is_refused(tenant: "Tenant") -> None:
    await tenant.call("POST", "/v1/customers", BODY, Idempotency_Key="one")
    other_body = await tenant.call(
        "POST", "/v1/customers", {"type": "INDIVIDUAL"}, Idempotency_Key="one"
    )
    account = {"ownerId": tenant.customer, "currencyISO": "GBP"}
    other_path = await tenant.call("POST", "/v1/accounts", account, Idempotency_Key="one")
    for answer in (other_body, other_path):
        assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")


async def test_a_body_that_was_refused_can_be_mended_under_the_same_key(tenant: "Tenant") -> None:
    wrong = await tenant.call("POST", "/v1/customers", {"type": "X"}, Idempotency_Key="one")
    assert wrong.status_code == 422
    mended = await tenant.call("POST", "/v1/customers", BODY, Idempotency_Key="one")
    assert mended.status_code == 201


async def test_keys_of_one_principal_mean_nothing_to_another(
    tenant: "Tenant", other_tenant: "Tenant"
) -> None:
    one = await tenant.call("POST", "/v1/customers", BODY, Idempotency_Key="same")
    two = await other_tenant.call("POST", "/v1/customers", BODY, Idempotency_Key="same")
    three = await tenant.call(
        "POST", "/v1/customers", BODY, token=tenant.key, Idempotency_Key="same"
    )
    assert len({answer.json()["id"] for answer in (one, two, three)}) == 3


async def test_a_repeat_while_the_first_still_runs_is_told_so(
    tenant: "Tenant", database: "Database", service: Service
) -> None:
    blocker = await asyncpg.connect(database.admin_url)
    await blocker.execute("BEGIN; LOCK TABLE farthing.events IN ACCESS EXCLUSIVE MODE")

    async def create() -> httpx2.Response:
        return await tenant.call("POST", "/v1/customers", BODY, Idempotency_Key="one")

    first = asyncio.create_task(create())
    while not service.committer.waiting:  # noqa: ASYNC110 - nothing announces it
        await asyncio.sleep(0)
    second = await create()
    await blocker.close()
    assert (second.status_code, second.json()["code"]) == (409, "idempotency_in_progress")
    assert second.headers["retry-after"] == "1"
    assert (await first).status_code == 201
    assert (await create()).content == (await first).content


async def test_a_hundred_repeats_at_once_take_effect_once(tenant: "Tenant") -> None:
    answers = await asyncio.gather(
        *(tenant.call("POST", "/v1/customers", BODY, Idempotency_Key="one") for _ in range(100))
    )
    made = {answer.json()["id"] for answer in answers if answer.status_code == 201}
    assert len(made) == 1
    assert {answer.status_code for answer in answers} <= {201, 409}


async def test_two_processes_with_the_same_key_take_effect_once(
    tenant: "Tenant", database: "Database"
) -> None:
    other = await Service.start(database.settings())
    transport = httpx2.ASGITransport(app=build(other))
    async with httpx2.AsyncClient(transport=transport, base_url="http://other.test") as client:
        for attempt in range(10):
            key = f"race-{attempt}"
            headers = {"X-Token": tenant.token, "Idempotency-Key": key}
            one, two = await asyncio.gather(
                tenant.call("POST", "/v1/customers", BODY, Idempotency_Key=key),
                client.post("/v1/customers", json=BODY, headers=headers),
            )
            assert (one.status_code, one.content) == (two.status_code, two.content)
    await other.stop()


async def test_the_answer_to_a_repeat_that_holds_a_credential_is_sealed_at_rest(
    tenant: "Tenant", database: "Database"
) -> None:
    path = f"/v1/customers/{tenant.customer}/tokens"
    first = await tenant.call("POST", path, token=tenant.key, Idempotency_Key="one")
    again = await tenant.call("POST", path, token=tenant.key, Idempotency_Key="one")
    assert again.content == first.content
    secret = first.json()["accessToken"].encode()
    rows = await database.fetch("SELECT body FROM idempotency WHERE tenant_id = $1", tenant.id)
    assert rows
    assert all(secret not in row["body"] and b"accessToken" not in row["body"] for row in rows)


async def test_of_a_request_only_a_keyed_fingerprint_is_kept(
    tenant: "Tenant", database: "Database"
) -> None:
    await tenant.call("PATCH", f"/v1/customers/{tenant.customer}/state", {
        "toStateId": "TERMINATED", "reason": "a very secret reason",
    }, Idempotency_Key="one")  # fmt: skip
    (row,) = await database.fetch(
        "SELECT idempotency::text AS everything, length(fingerprint) AS size "
        "FROM idempotency WHERE tenant_id = $1",
        tenant.id,
    )
    assert row["size"] == 32
    assert "secret" not in row["everything"]


async def test_a_key_of_another_form_is_refused(tenant: "Tenant") -> None:
    for key in ("", "x" * 256, "tab\tinside"):
        answer = await tenant.call("POST", "/v1/customers", BODY, Idempotency_Key=key)
        assert answer.status_code == 422, key
        assert answer.json()["errors"][0]["pointer"] == "Idempotency-Key"
