"""What the service says of itself, also when its database is away."""

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import httpx2
from tests.duties import duty

from farthing.catalog import MACHINES
from farthing.core.ids import new_id
from farthing.http.app import build
from farthing.http.service import Service
from farthing.resources.access.model import mint
from farthing.worker.duties import Duty
from farthing.worker.loop import run_duties

if TYPE_CHECKING:
    from tests.conftest import Database, Tenant


def health(answer: httpx2.Response) -> dict[str, str]:
    """Return the status of each component."""
    return {name: part["status"] for name, part in answer.json()["components"].items()}


async def test_status_is_open_and_goes_component_by_component(
    client: httpx2.AsyncClient, service: Service
) -> None:
    await duty(service, "heartbeat").run()
    answer = await client.get("/v1/status")
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["environment"]) == ("ok", "sandbox")
    assert health(answer) == {"api": "ok", "database": "ok", "worker": "ok", "commitPath": "ok"}


async def test_status_tells_when_no_worker_runs(
    client: httpx2.AsyncClient, database: "Database"
) -> None:
    await database.execute("DELETE FROM heartbeats")
    answer = await client.get("/v1/status")
    assert (answer.json()["status"], health(answer)["worker"]) == ("degraded", "degraded")


async def test_without_its_database_the_service_says_so(
    database: "Database",
) -> None:
    lost = await Service.start(database.settings(pool_size=2))
    transport = httpx2.ASGITransport(app=build(lost))
    async with httpx2.AsyncClient(transport=transport, base_url="http://lost.test") as client:
        assert (await client.get("/readyz")).status_code == 200
        await lost.pool.close()
        assert (await client.get("/healthz")).status_code == 200
        assert (await client.get("/readyz")).status_code == 503
        assert health(await client.get("/v1/status"))["database"] == "down"
        refused = await client.get(
            "/v1/customers", headers={"X-Token": mint("apiKey", "sandbox", new_id()).text}
        )
        assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
        assert refused.headers["retry-after"] == "1"


async def test_machines_are_published_as_data(client: httpx2.AsyncClient) -> None:
    published = {one["noun"]: one for one in (await client.get("/v1/machines")).json()["results"]}
    assert set(published) == {machine.noun for machine in MACHINES}
    for machine in MACHINES:
        shown = published[machine.noun]
        assert shown["states"] == list(machine.states)
        rows = [(one["fromStateId"], one["toStateId"], one["who"]) for one in shown["transitions"]]
        assert rows == [(row.source, row.target, sorted(row.who)) for row in machine.table]


async def test_metrics_count_by_operation_and_name_no_tenant(
    client: httpx2.AsyncClient, tenant: "Tenant"
) -> None:
    await tenant.new_customer()
    text = (await client.get("/metrics")).text
    assert 'farthing_requests_total{operation="customers.create",status="201"}' in text
    assert str(tenant.id) not in text


async def test_the_worker_forgets_what_has_expired_and_nothing_else(
    service: Service, database: "Database", tenant: "Tenant"
) -> None:
    body = {"type": "INDIVIDUAL"}
    await tenant.call("POST", "/v1/customers", body, Idempotency_Key="old")
    fresh = await tenant.call("POST", "/v1/customers", body, Idempotency_Key="fresh")
    await database.execute(
        "UPDATE idempotency SET created_at = now() - interval '49 hours' "
        "WHERE tenant_id = $1 AND key = (SELECT key FROM idempotency WHERE tenant_id = $1 "
        "ORDER BY created_at LIMIT 1)",
        tenant.id,
    )
    await database.execute(
        "INSERT INTO credentials SELECT tenant_id, kind, sha256(digest), customer_id, generation, "
        "created_at, now() - interval '2 hours' FROM credentials "
        "WHERE tenant_id = $1 AND kind = 'accessToken'",
        tenant.id,
    )
    await duty(service, "forget what has expired").run()
    kept = await database.fetch("SELECT body FROM idempotency WHERE tenant_id = $1", tenant.id)
    assert [row["body"] for row in kept] == [fresh.content]
    kinds = await database.fetch(
        "SELECT kind FROM credentials WHERE tenant_id = $1 ORDER BY kind", tenant.id
    )
    assert [row["kind"] for row in kinds] == ["accessToken", "apiKey"]


async def test_a_duty_that_fails_is_tried_again_and_stops_no_other() -> None:
    stop, calls = asyncio.Event(), {"bad": 0, "good": 0}

    async def bad() -> None:
        calls["bad"] += 1
        raise ZeroDivisionError

    async def good() -> None:
        calls["good"] += 1
        if calls["good"] > 3 and calls["bad"] > 3:
            stop.set()

    pace = timedelta(milliseconds=1)
    await run_duties((Duty("bad", pace, bad), Duty("good", pace, good)), stop)
    assert min(calls.values()) > 3
