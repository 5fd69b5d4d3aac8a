"""Tallies: whoever counts is alone, and nobody waits for ever."""

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import asyncpg
import httpx2
import pytest
from tests.resources.houses import Clock
from tests.resources.test_backtests import DUTY, begin, seen
from tests.resources.test_rules import rule

from farthing.http.app import build
from farthing.http.service import Service
from farthing.resources.tallies.store import fetch_locked

if TYPE_CHECKING:
    from tests.resources.money import World

WAITS = "SELECT 1 FROM pg_locks WHERE $1 = ANY (pg_blocking_pids(pid)) AND NOT granted"


async def test_whoever_waits_for_a_tally_holds_no_row(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    await rule(world, 'history.count("internal", duration("1h")) >= 9')
    await world.sent(payer, payee, 1)
    database, tenant_id = world.house.database, world.tenant.id
    sql = "SELECT DISTINCT tally_id FROM tally_marks WHERE tenant_id = $1"
    tallies = [one["tally_id"] for one in await database.fetch(sql, tenant_id)]
    path = {"search_path": "farthing"}
    other = await asyncpg.connect(database.admin_url, server_settings=path)
    pid = other.get_server_pid()
    try:
        async with other.transaction():
            await fetch_locked(other, tenant_id, tallies, [])
            sending = asyncio.create_task(world.internal(payer, payee, 1))
            while not await database.fetch(WAITS, pid):  # noqa: ASYNC110 - nobody tells of it
                await asyncio.sleep(0)
            # Whoever has the tally and needs a row would wait for the sender, which waits for it.
            for table in ("accounts", "balances"):
                rows = f"SELECT 1 FROM {table} WHERE tenant_id = $1 FOR NO KEY UPDATE NOWAIT"  # noqa: S608 - our own names
                assert await other.fetch(rows, tenant_id)
    finally:
        await other.close()
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


async def test_two_processes_do_not_let_more_pass_together_than_one_would(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    await rule(world, 'history.sum("internal", duration("24h")) + object.amount > 70')
    ahead = Clock(world.house.clock.now + timedelta(milliseconds=1))
    other = await Service.start(world.house.database.settings(), ahead)
    body = {
        "fromAccountId": payer,
        "toAccountId": payee,
        "amount": "10",
        "purpose": "TRANSFER",
    }
    transport = httpx2.ASGITransport(app=build(other))
    headers = {"X-Token": world.tenant.token}
    async with httpx2.AsyncClient(transport=transport, base_url="http://other.test") as client:
        answers = await asyncio.gather(
            *(world.internal(payer, payee, 10) for _ in range(20)),
            *(client.post("/v1/tx/internal", json=body, headers=headers) for _ in range(20)),
        )
    await other.stop()
    assert sorted(one.status_code for one in answers) == [201] * 7 + [409] * 33
