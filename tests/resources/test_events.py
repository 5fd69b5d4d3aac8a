"""Events: one log for each tenant, of which a reader sees everything exactly once."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID

import msgspec
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.db.test_committer import adding, appending, context
from tests.events import faults_of, follow_to_the_end

from farthing.catalog import OBJECTS
from farthing.core import ids
from farthing.core.errors import InternalError
from farthing.core.ids import new_id
from farthing.db.commands import Command, Need
from farthing.db.committer import Committer
from farthing.db.draft import Draft
from farthing.db.pool import open_pool
from farthing.http.service import Service
from farthing.resources.customers.store import CUSTOMERS, STANDINGS
from farthing.resources.events import model, store

if TYPE_CHECKING:
    from tests.conftest import Database, Tenant

LONG = 60


@pytest_asyncio.fixture
async def processes(database: "Database") -> AsyncIterator[list[Committer]]:
    """Give two commit paths that know nothing of each other, as two processes have them."""
    pools = [await open_pool(database.url, 5) for _ in range(2)]
    yield [Committer(pool, lanes=4, batch_size=3) for pool in pools]
    for pool in pools:
        pool.terminate()


async def test_a_reader_sees_every_event_once_while_hundreds_of_commits_race(
    tenant: "Tenant", processes: list[Committer]
) -> None:
    shared = [new_id() for _ in range(5)]
    for customer_id in shared:
        await processes[0].submit(context(tenant.id), adding(customer_id, name=""))
    done = asyncio.Event()

    async def write(number: int) -> None:
        committer = processes[number % 2]
        await asyncio.sleep(random.uniform(0, 1.5))  # noqa: S311 - only to be untidy
        command = adding(new_id()) if number % 3 else appending(shared[number % 5], "x")
        await committer.submit(context(tenant.id), command)

    async def read() -> list[Any]:
        """Follow the cursor until nothing is written any more and nothing is left to be read."""
        seen: list[Any] = []
        cursor = ""
        while True:
            was_done = done.is_set()
            page = (await tenant.call("GET", f"/v1/events?limit=3{cursor}")).json()
            seen += page["results"]
            cursor = f"&cursor={page['nextCursor']}"
            if was_done and not page["hasMore"]:
                return seen

    async with asyncio.timeout(LONG):
        readers = [asyncio.create_task(read()) for _ in range(2)]
        await asyncio.gather(*(write(number) for number in range(400)))
        done.set()
        logs = await asyncio.gather(*readers)
    for seen in logs:
        positions = [model.position_of(tenant.id, ids.take(one["id"])) for one in seen]
        # The first event is the tenant's own making.
        assert positions == list(range(1, 1 + 1 + 5 + 400))
        versions: dict[str, list[int]] = {}
        for one in seen:
            versions.setdefault(one["objectId"], []).append(one["objectVersion"])
        assert all(found == list(range(1, len(found) + 1)) for found in versions.values())
        assert sum(len(found) > 1 for found in versions.values()) == 5


async def test_what_commits_late_is_neither_skipped_nor_overtaken(
    tenant: "Tenant", database: "Database", processes: list[Committer]
) -> None:
    begin = (await tenant.call("GET", "/v1/events")).json()["nextCursor"]
    late = await open_pool(database.url, 2)
    try:
        async with late.acquire() as connection:
            slow = connection.transaction()
            await slow.start()
            # A batch that has taken its number and whose commit takes its time.
            await connection.execute(
                "UPDATE event_heads SET position = position + 1 WHERE tenant_id = $1", tenant.id
            )
            command = adding(new_id())
            quick = asyncio.create_task(processes[0].submit(context(tenant.id), command))
            await asyncio.sleep(0.3)
            assert not quick.done()
            page = (await tenant.call("GET", f"/v1/events?cursor={begin}")).json()
            assert (page["results"], page["hasMore"]) == ([], False)
            assert page["nextCursor"] == begin
            await slow.rollback()
        await quick
    finally:
        late.terminate()
    page = (await tenant.call("GET", f"/v1/events?cursor={begin}")).json()
    assert [one["type"] for one in page["results"]] == ["customer.created"]


async def test_at_the_end_of_the_log_the_cursor_waits_for_what_comes(tenant: "Tenant") -> None:
    first = (await tenant.call("GET", "/v1/events")).json()
    assert first["hasMore"] is False
    path = f"/v1/events?cursor={first['nextCursor']}"
    for _ in range(2):
        assert (await tenant.call("GET", path)).json() == {**first, "results": []}
    customer = await tenant.new_customer()
    page = (await tenant.call("GET", path)).json()
    assert [one["objectId"] for one in page["results"]] == [customer]
    assert page["nextCursor"] != first["nextCursor"]


async def test_an_event_has_the_object_as_it_then_was(tenant: "Tenant") -> None:
    customer = await tenant.new_customer(name="Ada")
    path = f"/v1/customers/{customer}"
    shown = [(await tenant.call("GET", path)).json()]
    shown.append((await tenant.call("PATCH", path, {"name": "Grace"})).json())
    moved = await tenant.call("PATCH", f"{path}/state", {"toStateId": "DISABLED"})
    shown.append(moved.json())
    events = await follow_to_the_end(tenant, objectId=customer)
    assert [one["data"] for one in events] == shown
    assert [one["objectVersion"] for one in events] == [1, 2, 3]
    types = ["customer.created", "customer.updated", "customer.disabled"]
    assert [one["type"] for one in events] == types
    for one in events:
        assert (await tenant.call("GET", f"/v1/events/{one['id']}")).json() == one


async def test_the_log_is_open_to_the_tenant_and_to_nobody_else(
    tenant: "Tenant", other_tenant: "Tenant"
) -> None:
    token = await tenant.token_for(await tenant.new_customer())
    mine = (await tenant.call("GET", "/v1/events", token=tenant.key)).json()["results"]
    for address in ("", "/stream", "/schemas", f"/{mine[0]['id']}"):
        refused = await tenant.call("GET", f"/v1/events{address}", token=token)
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    theirs = await other_tenant.call("GET", f"/v1/events/{mine[0]['id']}")
    assert theirs.status_code == 404
    nameless = await tenant.call("GET", f"/v1/events/{mine[0]['id']}", token=tenant.operator)
    assert nameless.json()["errors"][0]["pointer"] == "X-Tenant"
    by_operator = await tenant.call(
        "GET", f"/v1/events/{mine[0]['id']}", token=tenant.operator, X_Tenant=tenant.customer
    )
    assert by_operator.json() == mine[0]


async def test_a_cursor_of_another_log_is_refused(tenant: "Tenant", other_tenant: "Tenant") -> None:
    theirs = (await other_tenant.call("GET", "/v1/events")).json()["nextCursor"]
    beyond = model.say_cursor(tenant.id, 1_000_000)
    for cursor in (theirs, "A" * 22, "_" * 22, beyond):
        answer = await tenant.call("GET", f"/v1/events?cursor={cursor}")
        (fault,) = answer.json()["errors"]
        assert (answer.status_code, fault["pointer"]) == (422, "?cursor")
        assert fault["code"] == "unknown_cursor"


@pytest.mark.parametrize(
    ("query", "pointer", "code"),
    [
        ("type=transacton.*", "?type", "unknown_type"),
        ("type=transaction.*,card.vanished", "?type", "unknown_type"),
        ("type=*", "?type", "invalid_format"),
        ("type=card.created,", "?type", "invalid_format"),
        (f"objectId=tx/{UUID(int=7)}", "?objectId", "unknown_noun"),
        ("objectId=customer", "?objectId", "invalid_format"),
        ("from=2026-01-02T00:00:00Z&to=2026-01-02T00:00:00Z", "?to", "wrong_order"),
        ("limit=101", "?limit", "invalid_value"),
    ],
)
async def test_a_filter_that_can_match_nothing_is_refused(
    tenant: "Tenant", query: str, pointer: str, code: str
) -> None:
    answer = await tenant.call("GET", f"/v1/events?{query}")
    (fault,) = answer.json()["errors"]
    assert (answer.status_code, fault["pointer"], fault["code"]) == (422, pointer, code)


NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
TYPES = ("customer.created", "customer.updated", "card.created", "transaction.refund_refused")
PATTERNS = ("*.*", "customer.*", "*.created", "c*.*ed", "card.created", "transaction.refund_*")
# Between events, at events, and before and after all of them.
MOMENTS = tuple(NOON + timedelta(milliseconds=half * 500) for half in range(-2, 44))


@dataclass(frozen=True)
class Log:
    """A log of which everything is known."""

    tenant: "Tenant"
    events: list[Any]

    def plainly(self, query: dict[str, str]) -> list[str]:
        """Filter as one would by hand."""
        patterns = query.get("type", "*.*").split(",")
        return [
            one["id"]
            for one in self.events
            if any(model.matches(pattern, one["type"]) for pattern in patterns)
            and query.get("objectId", one["objectId"]) == one["objectId"]
            and datetime.fromisoformat(query.get("from", "0002-01-01T00:00:00Z"))
            <= datetime.fromisoformat(one["createdAt"])
            < datetime.fromisoformat(query.get("to", "9000-01-01T00:00:00Z"))
        ]


@pytest_asyncio.fixture
async def log(tenant: "Tenant", database: "Database") -> Log:
    chance = random.Random(7)  # noqa: S311 - the same log each time
    objects = [(noun, new_id()) for noun in ("customer", "card", "transaction") for _ in range(3)]
    versions = dict.fromkeys(objects, 0)
    moment, rows = NOON, []
    for position in range(1, 61):
        moment += timedelta(seconds=chance.choice((0, 0, 0, 1)))
        type_ = chance.choice(TYPES)
        noun, object_id = chance.choice([one for one in objects if type_.startswith(one[0])])
        versions[noun, object_id] += 1
        version = versions[noun, object_id]
        rows.append((tenant.id, position, type_, noun, object_id, version, moment, b"{}"))
    # Instead of what the tenant's making wrote.
    await database.execute("DELETE FROM events WHERE tenant_id = $1", tenant.id)
    for row in rows:
        await database.execute(
            "INSERT INTO events (tenant_id, position, type, noun, object_id, object_version, "
            "created_at, data) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            *row[:-1],
            "{}",
        )
    await database.execute(
        "UPDATE event_heads SET position = 60, moved_at = $2 WHERE tenant_id = $1",
        tenant.id,
        moment,
    )
    views = [model.view(model.Event(*(row[0], row[1], *row[2:]))) for row in rows]
    return Log(tenant, [json.loads(msgspec.json.encode(view)) for view in views])


QUERIES = st.fixed_dictionaries(
    {},
    optional={
        "type": st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=3).map(",".join),
        "objectId": st.integers(0, 8).map(str),
        "from": st.sampled_from(MOMENTS).map(datetime.isoformat),
        "to": st.sampled_from(MOMENTS).map(datetime.isoformat),
        "limit": st.integers(1, 30).map(str),
    },
)


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(query=QUERIES, window=st.sampled_from((1, 7, 5000)))
async def test_filters_return_what_one_would_pick_by_hand(
    log: Log, monkeypatch: pytest.MonkeyPatch, query: dict[str, str], window: int
) -> None:
    monkeypatch.setattr(store, "MOST_LOOKED_THROUGH", window)
    known = sorted({one["objectId"] for one in log.events})
    if "objectId" in query:
        query["objectId"] = known[int(query["objectId"]) % len(known)]
    if query.get("from", "") >= query.get("to", "~"):
        del query["to"]
    found = await follow_to_the_end(log.tenant, **query)
    limit = query.pop("limit", None)
    assert [one["id"] for one in found] == log.plainly(query), (query, limit, window)


async def test_one_request_looks_through_a_part_of_the_log_only(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MOST_LOOKED_THROUGH", 10)
    rare = f"/v1/events?{urlencode({'type': 'transaction.refund_refused'})}"
    page = (await log.tenant.call("GET", rare)).json()
    assert page["hasMore"] is True
    place = model.read_cursor(log.tenant.id, page["nextCursor"])
    assert place == 10
    assert [one["id"] for one in page["results"]] == [
        one["id"] for one in log.events[:10] if one["type"] == "transaction.refund_refused"
    ]


async def test_a_clock_that_is_set_back_does_not_disorder_the_log(
    tenant: "Tenant", service: Service, database: "Database"
) -> None:
    now = datetime(2031, 5, 1, tzinfo=UTC)
    clock = iter([now, now - timedelta(hours=1), now + timedelta(seconds=1)])
    committer = Committer(service.pool, clock=lambda: next(clock))
    for _ in range(3):
        await committer.submit(context(tenant.id), adding(new_id()))
    events = (await follow_to_the_end(tenant))[1:]
    assert [one["createdAt"][:19] for one in events] == [
        "2031-05-01T00:00:00",
        "2031-05-01T00:00:00",
        "2031-05-01T00:00:01",
    ]
    found = await follow_to_the_end(tenant, **{"from": "2031-05-01T00:00:00Z"})
    assert found == events
    # Other tests share this database, and time has passed there only for this tenant.
    rows = await database.fetch("SELECT moved_at FROM event_heads WHERE tenant_id = $1", tenant.id)
    assert rows[0]["moved_at"] == now + timedelta(seconds=1)


async def test_an_event_that_the_catalogue_does_not_know_is_never_written(
    tenant: "Tenant", service: Service
) -> None:
    def decide(draft: Draft) -> Any:
        old = draft.require(CUSTOMERS, tenant.id)
        return draft.change(CUSTOMERS, old, old, "vanished")

    needs = [Need(CUSTOMERS, tenant.id), Need(STANDINGS, tenant.id)]
    with pytest.raises(InternalError):
        await service.committer.submit(context(tenant.id), Command(decide, needs=needs))
    assert [one["type"] for one in await follow_to_the_end(tenant)] == ["customer.created"]


async def test_the_catalogue_has_every_word_of_every_noun(tenant: "Tenant") -> None:
    listed = (await tenant.call("GET", "/v1/events/schemas", token=tenant.key)).json()["results"]
    types = [one["type"] for one in listed]
    assert len(types) == len(set(types))
    for noun, table in OBJECTS.items():
        moves = {row.target.lower() for row in table.machine.table}
        words = {"created", "updated", *moves, *table.happenings}
        assert {one for one in types if one.startswith(f"{noun}.")} == {
            f"{noun}.{word}" for word in words
        }


async def test_a_schema_refuses_an_event_of_another_type_and_one_without_its_object(
    tenant: "Tenant",
) -> None:
    (event,) = await follow_to_the_end(tenant)
    assert faults_of(event) == []
    for wrong in (
        {**event, "data": {}},
        {**event, "objectId": f"account/{UUID(int=1)}"},
        {**event, "data": {**event["data"], "stateId": "ELSEWHERE"}},
        {name: value for name, value in event.items() if name != "objectVersion"},
    ):
        assert faults_of(wrong), wrong
