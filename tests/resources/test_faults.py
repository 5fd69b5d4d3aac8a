"""Faults at the client's wish: exactly as many as were armed, and never to anybody else."""

import asyncio
import dataclasses
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import msgspec
import pytest
import pytest_asyncio
import uvicorn
from tests.conftest import Tenant, make_tenant

from farthing.core.ids import new_id
from farthing.http.app import build
from farthing.http.faults import CuttableProtocol
from farthing.http.service import Service
from farthing.resources.access import actions

if TYPE_CHECKING:
    from tests.conftest import Database

FAULTS = "/v1/sandbox/faults"
PERSON = {"type": "INDIVIDUAL"}


async def arm(tenant: Tenant, kind: str, count: int = 1, **more: int) -> dict[str, Any]:
    answer = await tenant.call("POST", FAULTS, {"kind": kind, "count": count, **more})
    assert answer.status_code == 201, answer.text
    armed: dict[str, Any] = answer.json()
    return armed


async def armed(tenant: Tenant) -> dict[str, int]:
    listed = (await tenant.call("GET", FAULTS)).json()["results"]
    return {one["kind"]: one["remaining"] for one in listed}


async def statuses(tenant: Tenant, many: int) -> list[int]:
    return [(await tenant.call("GET", "/v1/customers")).status_code for _ in range(many)]


@asynccontextmanager
async def listening(service: Service) -> AsyncIterator[str]:
    """Serve on a real port, as `farthing serve` does; the application is new, and knows nothing."""
    config = uvicorn.Config(
        build(service), port=0, http=CuttableProtocol, log_config=None, lifespan="off", ws="none"
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    async with asyncio.timeout(20):
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await running


@pytest_asyncio.fixture
async def caller(service: Service, tenant: Tenant) -> AsyncIterator[Tenant]:
    """Give a tenant that speaks to the service over a real connection."""
    async with listening(service) as url, httpx2.AsyncClient(base_url=url) as client:
        yield dataclasses.replace(tenant, _client=client)


@pytest.mark.parametrize(
    ("kind", "status", "code"),
    [("rateLimited", 429, "rate_limited"), ("unavailable", 503, "unavailable")],
)
async def test_the_next_requests_are_refused_and_not_one_more(
    tenant: Tenant, kind: str, status: int, code: str
) -> None:
    told = await arm(tenant, kind, 2)
    assert (told["kind"], told["remaining"]) == (kind, 2)
    refused = await tenant.call("POST", "/v1/customers", PERSON)
    assert (refused.status_code, refused.json()["code"]) == (status, code)
    assert refused.headers["retry-after"] == "1"
    assert await armed(tenant) == {kind: 1}
    assert await statuses(tenant, 3) == [status, 200, 200]
    assert await armed(tenant) == {}


async def test_a_refused_write_does_nothing_and_its_repeat_succeeds(tenant: Tenant) -> None:
    await arm(tenant, "unavailable")
    key = {"Idempotency_Key": str(new_id())}
    assert (await tenant.call("POST", "/v1/customers", PERSON, **key)).status_code == 503
    again = await tenant.call("POST", "/v1/customers", PERSON, **key)
    assert again.status_code == 201
    assert "idempotency-replayed" not in again.headers


async def test_another_tenant_notices_nothing(tenant: Tenant, other_tenant: Tenant) -> None:
    await arm(tenant, "unavailable", 3)
    assert await statuses(other_tenant, 2) == [200, 200]
    assert await armed(other_tenant) == {}
    assert await armed(tenant) == {"unavailable": 3}


async def test_the_operator_meets_the_faults_of_the_tenant_it_acts_for(tenant: Tenant) -> None:
    await arm(tenant, "unavailable")
    headers = {"X_Tenant": tenant.customer}
    answer = await tenant.call("GET", "/v1/customers", token=tenant.operator, **headers)
    assert answer.status_code == 503


async def test_a_delay_keeps_a_request_waiting_and_goes_with_a_refusal(tenant: Tenant) -> None:
    await arm(tenant, "delay", 2, milliseconds=150)
    await arm(tenant, "rateLimited")
    for status, least in ((429, 0.15), (200, 0.15), (200, 0.0)):
        began = time.perf_counter()
        assert await statuses(tenant, 1) == [status]
        assert time.perf_counter() - began >= least
    assert await armed(tenant) == {}


async def test_a_delay_of_which_nobody_says_how_long_takes_a_second(tenant: Tenant) -> None:
    assert (await arm(tenant, "delay"))["milliseconds"] == 1000
    assert "milliseconds" not in await arm(tenant, "cut")


async def test_of_two_refusals_each_has_its_own_requests(tenant: Tenant) -> None:
    await arm(tenant, "unavailable")
    await arm(tenant, "rateLimited")
    assert await statuses(tenant, 3) == [429, 503, 200]


async def test_to_arm_a_kind_again_begins_anew(tenant: Tenant) -> None:
    await arm(tenant, "unavailable", 5)
    await arm(tenant, "unavailable", 1)
    assert await statuses(tenant, 2) == [503, 200]


async def test_everything_can_be_disarmed(tenant: Tenant) -> None:
    await arm(tenant, "unavailable", 5)
    await arm(tenant, "dropDelivery", 5)
    assert await armed(tenant) == {"unavailable": 5, "dropDelivery": 5}
    cleared = await tenant.call("DELETE", FAULTS)
    assert (cleared.status_code, cleared.json()) == (200, {"results": []})
    assert await statuses(tenant, 2) == [200, 200]
    assert await armed(tenant) == {}


async def test_the_controls_are_never_faulted(tenant: Tenant) -> None:
    for kind in ("rateLimited", "unavailable", "cut"):
        await arm(tenant, kind, 3)
    assert await armed(tenant) == {"rateLimited": 3, "unavailable": 3, "cut": 3}
    assert (await tenant.call("DELETE", FAULTS)).status_code == 200


async def test_requests_do_not_use_up_what_is_for_deliveries(tenant: Tenant) -> None:
    for kind in ("duplicateDelivery", "reorderDelivery", "dropDelivery"):
        await arm(tenant, kind, 2)
    await arm(tenant, "delayDelivery", 2, milliseconds=5)
    assert await statuses(tenant, 3) == [200, 200, 200]
    assert set((await armed(tenant)).values()) == {2}


async def test_what_was_cut_off_is_done_and_its_repeat_tells_so(caller: Tenant) -> None:
    await arm(caller, "cut")
    key = {"Idempotency_Key": str(new_id())}
    body = {**PERSON, "name": "Cut off"}
    with pytest.raises(httpx2.RemoteProtocolError, match="without sending a response"):
        await caller.call("POST", "/v1/customers", body, **key)
    again = await caller.call("POST", "/v1/customers", body, **key)
    assert (again.status_code, again.headers["idempotency-replayed"]) == (201, "true")
    listed = (await caller.call("GET", "/v1/customers")).json()["results"]
    assert [one["id"] for one in listed if one.get("name") == "Cut off"] == [again.json()["id"]]


async def test_only_a_write_that_is_done_is_cut_off(caller: Tenant) -> None:
    await arm(caller, "cut")
    assert await statuses(caller, 2) == [200, 200]
    assert (await caller.call("POST", "/v1/customers", {"type": "NOBODY"})).status_code == 422
    assert await armed(caller) == {"cut": 1}
    with pytest.raises(httpx2.RemoteProtocolError):
        await caller.call("POST", "/v1/customers", PERSON)
    assert (await caller.call("POST", "/v1/customers", PERSON)).status_code == 201


async def test_the_count_is_exact_over_processes_and_from_the_answer_on(
    service: Service, database: "Database", client: httpx2.AsyncClient
) -> None:
    tenant = await make_tenant(service, client)
    beside = await Service.start(database.settings())
    transport = httpx2.ASGITransport(app=build(beside))
    async with httpx2.AsyncClient(transport=transport, base_url="http://beside.test") as other:
        both = [tenant, dataclasses.replace(tenant, _client=other)]
        for _ in range(3):
            # Each process has just seen that nothing is armed.
            assert [await statuses(one, 1) for one in both] == [[200], [200]]
            await arm(tenant, "unavailable", 25)
            async with asyncio.timeout(30):
                found = await asyncio.gather(*(statuses(both[n % 2], 1) for n in range(40)))
            assert Counter(status for (status,) in found) == {503: 25, 200: 15}
    await beside.stop()


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ({"kind": "cut", "milliseconds": 5}, ("/milliseconds", "not_applicable")),
        ({"kind": "delay", "milliseconds": 60_001}, ("/milliseconds", "invalid_value")),
        ({"kind": "cut", "count": 0}, ("/count", "invalid_value")),
        ({"kind": "earthquake"}, ("/kind", "invalid_value")),
    ],
)
async def test_what_makes_no_sense_is_refused(
    tenant: Tenant, body: dict[str, Any], fault: tuple[str, str]
) -> None:
    answer = await tenant.call("POST", FAULTS, body)
    assert answer.status_code == 422
    assert [(one["pointer"], one["code"]) for one in answer.json()["errors"]] == [fault]
    assert await armed(tenant) == {}


async def test_there_are_no_faults_in_live(service: Service) -> None:
    settings = msgspec.structs.replace(service.settings, environment="live")
    transport = httpx2.ASGITransport(app=build(dataclasses.replace(service, settings=settings)))
    tenant_id = await actions.found_tenant(service.committer, "Real shop")
    key = await actions.issue_api_key(service.committer, "live", tenant_id)
    async with httpx2.AsyncClient(transport=transport, base_url="https://live.test") as live:
        for method in ("GET", "POST", "DELETE"):
            answer = await live.request(method, FAULTS, headers={"X-Token": key})
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
        assert (await live.get("/v1/customers", headers={"X-Token": key})).status_code == 200
