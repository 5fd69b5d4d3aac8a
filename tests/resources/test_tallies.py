"""Tallies: whoever counts is alone, and nobody waits for ever."""

import asyncio
import random
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import asyncpg
import httpx2
import pytest
from tests.resources.houses import Clock
from tests.resources.test_backtests import DUTY, begin, seen
from tests.resources.test_rules import rule
from tests.resources.test_tenants import Operator

from farthing.core.ids import new_id
from farthing.http.app import build
from farthing.http.service import Service
from farthing.resources.tallies import model, store
from farthing.resources.tallies.store import fetch_locked

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from tests.resources.money import World

WAITS = "SELECT 1 FROM pg_locks WHERE $1 = ANY (pg_blocking_pids(pid)) AND NOT granted"


@asynccontextmanager
async def somebody_who_looked(world: "World") -> "AsyncIterator[asyncpg.Connection[Any]]":
    """Let somebody else have looked at the tenant's tallies, who has not committed yet."""
    database, tenant_id = world.house.database, world.tenant.id
    sql = "SELECT DISTINCT tally_id FROM tally_marks WHERE tenant_id = $1"
    tallies = [one["tally_id"] for one in await database.fetch(sql, tenant_id)]
    path = {"search_path": "farthing"}
    other = await asyncpg.connect(database.admin_url, server_settings=path)
    try:
        async with other.transaction():
            await fetch_locked(other, tenant_id, tallies, [])
            yield other
    finally:
        await other.close()


async def until_it_waits(
    sending: "asyncio.Task[httpx2.Response]", world: "World", other: "asyncpg.Connection[Any]"
) -> None:
    while not await world.house.database.fetch(WAITS, other.get_server_pid()):
        assert not sending.done(), "it waited for nobody"
        await asyncio.sleep(0)


async def test_whoever_waits_for_a_tally_holds_no_row(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    await rule(world, 'history.count("internal", duration("1h")) >= 9')
    await world.sent(payer, payee, 1)
    async with somebody_who_looked(world) as other:
        sending = asyncio.create_task(world.internal(payer, payee, 1))
        await until_it_waits(sending, world, other)
        # Whoever has the tally and needs a row would wait for the sender, which waits for it.
        for table in ("accounts", "balances"):
            rows = f"SELECT 1 FROM {table} WHERE tenant_id = $1 FOR NO KEY UPDATE NOWAIT"  # noqa: S608 - our own names
            assert await other.fetch(rows, world.tenant.id)
    assert (await sending).status_code == 201


async def test_a_card_that_was_declined_at_once_never_counts(
    world: "World", monkeypatch: pytest.MonkeyPatch
) -> None:
    payer, payee = await world.fund(), await world.account()
    owner = await world.owner(payer)
    when = 'history.count("cards", duration("1h")) == 1'
    monkeypatch.setattr(world.rail, "card", "declined")
    await world.card(owner)
    tag = {"action": "tag", "tag": "one-card"}
    made = await rule(world, when, tag)
    assert (await world.sent(payer, payee, 1))["tags"] == ["one-card"], "before the rule"
    await world.card(owner)
    assert (await world.sent(payer, payee, 1))["tags"] == ["one-card"], "since the rule"
    asked = await begin(world, made)
    await world.run(DUTY)
    assert (await seen(world, asked))["matched"] == 3, "and in a backtest"


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let a process rely on what it remembers at once; list how many tallies it looks at."""
    seen: list[int] = []

    async def fetch(connection: Any, tenant_id: UUID, keys: Any, windows: Any) -> Any:
        seen.append(len(keys))
        return await fetch_locked(connection, tenant_id, keys, windows)

    monkeypatch.setattr(model, "STREAK", 1)
    monkeypatch.setattr(store, "fetch_locked", fetch)
    return seen


@asynccontextmanager
async def another_process(
    world: "World", payer: str, payee: str, clock: Clock | None = None
) -> "AsyncIterator[Callable[[int], Awaitable[httpx2.Response]]]":
    """Start a service beside the world's, with a clock that is ahead, and send by it."""
    ahead = clock or Clock(world.house.clock.now + timedelta(milliseconds=1))
    other = await Service.start(world.house.database.settings(), ahead)
    transport = httpx2.ASGITransport(app=build(other))
    headers = {"X-Token": world.tenant.token}
    base_url = "http://other.test"
    async with httpx2.AsyncClient(
        transport=transport, base_url=base_url, headers=headers
    ) as client:

        async def send(amount: int) -> httpx2.Response:
            body = {"fromAccountId": payer, "toAccountId": payee, "purpose": "TRANSFER"}
            return await client.post("/v1/tx/internal", json={**body, "amount": str(amount)})

        yield send
    await other.stop()


@pytest.mark.parametrize("streak", [1, 3, model.STREAK])
async def test_two_processes_do_not_let_more_pass_together_than_one_would(
    world: "World", monkeypatch: pytest.MonkeyPatch, streak: int
) -> None:
    monkeypatch.setattr(model, "STREAK", streak)
    payer, payee = await world.fund(), await world.account()
    await rule(world, 'history.sum("internal", duration("24h")) + object.amount > 70')
    async with another_process(world, payer, payee) as send:
        answers = await asyncio.gather(
            *(world.internal(payer, payee, 10) for _ in range(20)),
            *(send(10) for _ in range(20)),
        )
    assert sorted(one.status_code for one in answers) == [201] * 7 + [409] * 33
    assert not await world.house.discrepancies()


async def test_whoever_writes_alone_need_not_look_at_tallies(
    world: "World", looks: list[int]
) -> None:
    payer, payee = await world.fund(), await world.account()
    await rule(world, 'history.count("internal", duration("1h")) >= 9')
    # The first batch begins the tally, the second follows it, the third finds where the hour began.
    for _ in range(3):
        await world.sent(payer, payee, 1)
    looks.clear()
    answers = [await world.internal(payer, payee, 1) for _ in range(7)]
    assert [one.status_code for one in answers] == [201] * 6 + [409]
    assert not looks


async def test_whoever_remembers_finds_out_that_somebody_else_counts(
    world: "World", looks: list[int]
) -> None:
    payer, payee = await world.fund(), await world.account()
    await rule(world, 'history.count("internal", duration("1h")) >= 9')
    async with another_process(world, payer, payee) as send:
        answers = [await world.internal(payer, payee, 1) for _ in range(5)]
        answers += [await send(1) for _ in range(3)]
        looks.clear()
        answers += [await world.internal(payer, payee, 1), await send(1)]
        assert looks, "what was remembered was wrong"
        answers += [await world.internal(payer, payee, 1)]
    assert [one.status_code for one in answers] == [201] * 9 + [409] * 2


async def test_what_was_remembered_before_somebody_else_wrote_is_forgotten(
    world: "World", looks: list[int]
) -> None:
    payer, payee = await world.fund(), await world.account()
    await rule(world, 'history.count("internal", duration("1h")) >= 6')
    another = await world.fund()
    async with another_process(world, payer, payee) as send:
        answers = [await world.internal(payer, payee, 1) for _ in range(3)]
        answers += [await send(1) for _ in range(2)]
        for _ in range(3):
            await world.sent(another, payee, 1)
        looks.clear()
        await world.sent(another, payee, 1)
        assert not looks, "it relies on what it remembers again"
        answers += [await world.internal(payer, payee, 1) for _ in range(2)]
    assert [one.status_code for one in answers] == [201] * 6 + [409]


@pytest.mark.parametrize("key", [{}, {"Idempotency_Key": "once"}])
async def test_nobody_is_refused_by_what_was_remembered(
    world: "World", looks: list[int], key: dict[str, str]
) -> None:
    payer, payee = await world.fund(), await world.account()
    await rule(world, 'history.count("internal", duration("1h")) < 5 && object.amount > 10')
    async with another_process(world, payer, payee) as send:
        for _ in range(4):
            await world.sent(payer, payee, 1)
        looks.clear()
        assert (await world.internal(payer, payee, 11)).status_code == 409
        assert not looks, "it relies on what it remembers"
        assert (await send(1)).status_code == 201
        assert (await world.internal(payer, payee, 11, **key)).status_code == 201


def test_a_process_relies_on_its_memory_while_its_batches_follow_each_other() -> None:
    memory, key = model.Memory(), new_id()
    mark = model.before_all(new_id(), key)
    streak = range(7, 7 + model.STREAK + 1)
    for position in streak:
        assert not memory.last_marks([key])
        memory.keep(position, position + 1, {key: mark})
    assert memory.last_marks([key, new_id()]) == {key: mark}
    assert memory.position == streak.stop
    memory.doubt()
    assert not memory.last_marks([key])


def test_a_process_forgets_what_it_knew_before_somebody_else_wrote() -> None:
    memory, key, other = model.Memory(), new_id(), new_id()
    memory.keep(7, 8, {key: model.before_all(new_id(), key)})
    mark = model.before_all(new_id(), other)
    for position in range(20, 20 + model.STREAK + 1):
        memory.keep(position, position + 1, {other: mark})
    assert memory.last_marks([key, other]) == {other: mark}


async def test_whoever_remembers_waits_for_whoever_has_looked(
    world: "World", looks: list[int]
) -> None:
    payer, payee = await world.fund(), await world.account()
    await rule(world, 'history.count("internal", duration("1h")) >= 9')
    for _ in range(4):
        await world.sent(payer, payee, 1)
    looks.clear()
    await world.sent(payer, payee, 1)
    assert not looks, "it relies on what it remembers"
    async with somebody_who_looked(world) as other:
        sending = asyncio.create_task(world.internal(payer, payee, 1))
        await until_it_waits(sending, world, other)
        assert looks, "it has to look too"
    assert (await sending).status_code == 201


async def test_what_was_remembered_is_forgotten_with_what_is_restored(
    world: "World", looks: list[int]
) -> None:
    payer, payee = await world.fund(), await world.account()
    await rule(world, 'history.count("internal", duration("1h")) >= 6')
    async with another_process(world, payer, payee) as send:
        for _ in range(2):
            await world.sent(payer, payee, 1)
        operator, tenant_id = Operator(world.tenant), f"tenant/{world.tenant.id}"
        snapshot = await operator.do(tenant_id, "snapshots")
        answers = [await send(1) for _ in range(4)]
        looks.clear()
        await operator.do(tenant_id, "restore", {"snapshotId": snapshot["id"]})
        # Two were there then, so that four are left, of which the other has seen four already.
        answers += [await send(1) for _ in range(5)]
    assert [one.status_code for one in answers] == [201] * 8 + [409]
    assert not await world.house.discrepancies()


async def test_a_window_whose_marks_are_gone_is_looked_at_again(
    world: "World", looks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "MOST_AHEAD", 1)
    monkeypatch.setattr(store, "MOST_AHEAD", 1)
    payer, payee = await world.fund(), await world.account()
    await rule(world, 'history.count("internal", duration("10s")) >= 5')
    operator, tenant_id = Operator(world.tenant), f"tenant/{world.tenant.id}"
    snapshot = await operator.do(tenant_id, "snapshots")
    async with another_process(world, payer, payee, world.house.clock) as send:
        for _ in range(4):
            assert (await send(1)).status_code == 201
            world.house.clock.now += timedelta(seconds=2)
        await operator.do(tenant_id, "restore", {"snapshotId": snapshot["id"]})
        looks.clear()
        # The first has left the window, and of the others only the last is remembered.
        world.house.clock.now += timedelta(seconds=3)
        answers = [await send(1) for _ in range(6)]
        assert looks[0] == 0
    assert [one.status_code for one in answers] == [201] * 5 + [409]


@pytest.mark.parametrize("key", [{}, {"Idempotency_Key": "once"}])
async def test_what_is_not_in_the_log_begins_no_tally(world: "World", key: dict[str, str]) -> None:
    payer, payee = await world.fund(), await world.account()
    await world.sent(payer, payee, 1)
    await rule(world, 'history.count("internal", duration("1h")) >= 1 && object.amount > 10')
    marks = "SELECT 1 FROM tally_marks WHERE tenant_id = $1"
    assert (await world.internal(payer, payee, 11, **key)).status_code == 409
    assert not await world.house.fetch(marks, world.tenant.id)
    await world.sent(payer, payee, 1)
    assert len(await world.house.fetch(marks, world.tenant.id)) == 2


def test_a_process_forgets_what_it_has_no_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "_MOST_EDGES", 1)
    monkeypatch.setattr(model, "_MOST_REMEMBERED", 1)
    memory, now = model.Memory(), datetime.now(UTC)
    for _ in range(2):
        memory.trim()
        memory.edges[new_id(), 1] = model.Edge(now, [])
        memory.empty.add(new_id())
    assert (len(memory.edges), len(memory.empty)) == (2, 2)
    memory.trim()
    assert (len(memory.edges), len(memory.empty)) == (0, 0)


@pytest.mark.parametrize(
    ("streak", "ahead"), [(1, model.MOST_AHEAD), (1, 2), (3, 1), (1000, model.MOST_AHEAD)]
)
@pytest.mark.parametrize("change", [0, 0.05, 0.5])
async def test_windows_are_exact_while_they_move(
    world: "World", monkeypatch: pytest.MonkeyPatch, streak: int, ahead: int, change: float
) -> None:
    monkeypatch.setattr(model, "STREAK", streak)
    monkeypatch.setattr(model, "MOST_AHEAD", ahead)
    monkeypatch.setattr(store, "MOST_AHEAD", ahead)
    payer, payee = await world.fund(), await world.account()
    await rule(world, 'history.sum("internal", duration("10s")) + object.amount > 30')
    await rule(world, 'history.count("internal", duration("3s"), 2) >= 3')
    chance, clock = random.Random(f"{streak} {ahead} {change}"), world.house.clock  # noqa: S311 - no secret
    made, expected, answers = list[tuple[datetime, int]](), [], []
    async with another_process(world, payer, payee, clock) as send:
        here = True
        for _ in range(120):
            # Now and then somebody sets the clock back.
            clock.now += timedelta(seconds=chance.choice((0, 0, 0.5, 1, 3, -2)))
            amount = chance.randint(1, 9)
            within = sum(paid for at, paid in made if at > clock.now - timedelta(seconds=10))
            large = [at for at, paid in made if at > clock.now - timedelta(seconds=3) and paid > 1]
            passes = within + amount <= 30 and len(large) < 3
            expected.append(201 if passes else 409)
            here ^= chance.random() < change
            answer = await (world.internal(payer, payee, amount) if here else send(amount))
            answers.append(answer.status_code)
            if passes:
                made.append((max([clock.now, *(at for at, _ in made)]), amount))
    assert answers == expected
    assert {201, 409} <= set(expected)
    assert not await world.house.discrepancies()


async def test_a_window_that_moves_need_not_be_looked_at_each_time(
    world: "World", looks: list[int]
) -> None:
    payer, payee = await world.fund(), await world.account()
    await rule(world, 'history.count("internal", duration("10s")) >= 3')
    for _ in range(100):
        world.house.clock.now += timedelta(seconds=4)
        await world.sent(payer, payee, 1)
    assert (await world.internal(payer, payee, 1)).status_code == 409
    assert len(looks) < 5
