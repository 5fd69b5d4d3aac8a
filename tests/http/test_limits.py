"""Rate limits: by credential, told in headers, and no reason to wait for anybody else."""

import dataclasses
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx2
import msgspec
import pytest
import pytest_asyncio
from tests.conftest import Tenant, make_tenant

from farthing.config import Settings
from farthing.core.errors import RateLimited
from farthing.http.app import build
from farthing.http.limits import Counts, Limits
from farthing.http.service import Service
from farthing.resources.access import model

if TYPE_CHECKING:
    from starlette.types import ASGIApp

HEADERS = ("ratelimit-limit", "ratelimit-remaining", "ratelimit-reset")


def limited(service: Service, limit: str) -> "ASGIApp":
    settings = msgspec.structs.replace(service.settings, rate_limit=limit)
    return build(dataclasses.replace(service, settings=settings))


@pytest_asyncio.fixture
async def visitor(service: Service, client: httpx2.AsyncClient) -> AsyncIterator[Tenant]:
    """Give a tenant at a service where each credential may make five requests an hour."""
    founded = await make_tenant(service, client)
    transport = httpx2.ASGITransport(app=limited(service, "5/hour"))
    async with httpx2.AsyncClient(transport=transport, base_url="http://farthing.test") as opened:
        yield dataclasses.replace(founded, _client=opened)


async def test_every_answer_says_how_many_requests_are_left(visitor: Tenant) -> None:
    for left in ("4", "3", "2"):
        answer = await visitor.call("GET", "/v1/customers")
        limit, remaining, reset = (answer.headers[name] for name in HEADERS)
        assert (answer.status_code, limit, remaining) == (200, "5", left)
        assert 1 <= int(reset) <= 3600
    made = await visitor.call("POST", "/v1/customers", {"type": "INDIVIDUAL"})
    assert (made.status_code, made.headers["ratelimit-remaining"]) == (201, "1")
    refused = await visitor.call("POST", "/v1/customers", {"type": "NOBODY"})
    assert (refused.status_code, refused.headers["ratelimit-remaining"]) == (422, "0")


async def test_one_request_too_many_is_told_when_to_go_on(visitor: Tenant) -> None:
    for _ in range(5):
        assert (await visitor.call("GET", "/v1/customers")).status_code == 200
    answer = await visitor.call("POST", "/v1/customers", {"type": "INDIVIDUAL", "name": "Late"})
    assert (answer.status_code, answer.json()["code"]) == (429, "rate_limited")
    assert answer.headers["ratelimit-remaining"] == "0"
    assert answer.headers["retry-after"] == answer.headers["ratelimit-reset"]
    assert "5 requests per hour" in answer.json()["detail"]
    others = await visitor.call("GET", "/v1/customers", token=visitor.key)
    names = [one.get("name") for one in others.json()["results"]]
    assert "Late" not in names, "what is refused does nothing"


async def test_a_credential_does_not_spend_what_is_another_ones(visitor: Tenant) -> None:
    answers = [await visitor.call("GET", "/v1/customers") for _ in range(6)]
    assert answers[-1].status_code == 429
    assert (await visitor.call("GET", "/v1/customers", token=visitor.key)).status_code == 200
    customer = (
        await visitor.call("GET", f"/v1/customers/{visitor.customer}", token=visitor.key)
    ).json()
    token = await visitor.token_for(customer["id"])
    assert (await visitor.call("GET", "/v1/customers", token=token)).status_code == 200


async def test_what_is_forbidden_counts_too(visitor: Tenant) -> None:
    path = f"/v1/customers/{visitor.customer}/tokens"
    answers = [await visitor.call("POST", path) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [403] * 5 + [429]


async def test_a_credential_that_nobody_has_is_not_counted(visitor: Tenant) -> None:
    guess = model.mint("apiKey", "sandbox", visitor.id).text
    for _ in range(8):
        answer = await visitor.call("GET", "/v1/customers", token=guess)
        assert answer.status_code == 401
        assert not set(HEADERS) & set(answer.headers)


async def test_what_is_open_to_all_has_no_limit(visitor: Tenant) -> None:
    for _ in range(8):
        assert (await visitor._client.get("/v1/machines")).status_code == 200  # noqa: SLF001 - no credential at all


async def test_without_a_limit_nothing_is_said_of_it(tenant: Tenant) -> None:
    answer = await tenant.call("GET", "/v1/customers")
    assert not set(HEADERS) & set(answer.headers)


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        ({}, None),
        ({"environment": "live"}, "1000/second"),
        ({"environment": "live", "rate_limit": "off"}, None),
        ({"environment": "live", "rate_limit": "7/minute"}, "7/minute"),
        ({"rate_limit": "7/minute"}, "7/minute"),
    ],
)
def test_limits_are_off_in_the_sandbox_and_on_in_live_unless_told_otherwise(
    given: dict[str, Any], limit: str | None
) -> None:
    assert Settings(**given).effective_rate_limit == limit


class Clock:
    now = 1000.2

    def __call__(self) -> float:
        return self.now


def count(limits: Limits, credential: model.Presented) -> dict[str, str]:
    state: dict[str, Any] = {}
    try:
        limits.count(credential, state)
    except RateLimited:
        state["headers"]["refused"] = "yes"
    headers: dict[str, str] = state["headers"]
    return headers


def test_the_next_window_begins_with_all_of_it() -> None:
    clock = Clock()
    limits, credential = Limits("2/second", clock), model.mint("apiKey", "sandbox", uuid4())
    left = [count(limits, credential)["RateLimit-Remaining"] for _ in range(2)]
    assert left == ["1", "0"]
    clock.now = 1000.9
    late = count(limits, credential)
    assert (late["refused"], late["Retry-After"]) == ("yes", "1")
    clock.now = 1001.0
    fresh = count(limits, credential)
    assert (fresh["RateLimit-Remaining"], fresh.get("refused")) == ("1", None)


def test_a_window_that_has_ended_leaves_nothing_in_memory() -> None:
    clock = Clock()
    counts = Counts(clock)
    for number in range(1000):
        counts.incr(str(number), 60)
    clock.now += 60
    counts.incr("one", 60)
    assert counts.reset() == 1
