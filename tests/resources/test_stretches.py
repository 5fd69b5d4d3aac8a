"""Backtests go through the log stretch by stretch, so that none is too long for them."""

from typing import TYPE_CHECKING, Any

import asyncpg
import pytest
from tests.resources.test_backtests import DUTY, begin, seen
from tests.resources.test_rules import rule

from farthing.resources.trials import store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.resources.money import World


async def test_progress_is_told_after_each_stretch(
    world: "World", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "STRETCH", 1)
    payer, payee = await world.fund(), await world.account()
    for _ in range(4):
        await world.sent(payer, payee, 1)
    asked = await begin(world, await rule(world, 'history.count("internal", duration("1h")) > 1'))
    await world.run(DUTY)
    sql = (
        "SELECT data FROM events WHERE type LIKE 'backtest.%' AND tenant_id = $1 ORDER BY position"
    )
    found = [str(one["data"]) for one in await world.house.database.fetch(sql, world.tenant.id)]
    assert ['"processed":2,"total":5' in one for one in found].count(True) == 1
    assert ['"processed":4,"total":5' in one for one in found].count(True) == 1
    assert (await seen(world, asked))["matched"] == 2


@pytest.mark.parametrize("stretch", [1, 2, 7])
async def test_no_statement_looks_through_more_than_a_stretch_of_the_log(
    world: "World", monkeypatch: pytest.MonkeyPatch, stretch: int
) -> None:
    payer, payee = await world.fund(), await world.account()
    *_, third = [await world.sent(payer, payee, 1) for _ in range(3)]
    counted = [f'history.count("{what}", duration("1h"))' for what in ("internal", "cards")]
    asked = await begin(world, await rule(world, f"{counted[0]} == 2 && {counted[1]} == 1"))
    monkeypatch.setattr(store, "STRETCH", stretch)
    monkeypatch.setattr(store, "_COUNTED_AT_ONCE", stretch)
    looked: list[int] = []

    def spied(ask: "Callable[..., Awaitable[Any]]") -> "Callable[..., Awaitable[Any]]":
        async def spy(pool: Any, sql: str, *values: Any) -> Any:
            if "position <= $3" in sql:
                looked.append(values[2] - values[1])
            return await ask(pool, sql, *values)

        return spy

    for name in ("fetch", "fetchval"):
        monkeypatch.setattr(asyncpg.Pool, name, spied(getattr(asyncpg.Pool, name)))
    await world.run(DUTY)
    assert len(looked) > 2
    assert max(looked) == stretch
    told = await seen(world, asked)
    assert (told["stateId"], told["matched"], told["samples"]) == ("DONE", 1, [third["id"]])
    assert told["progress"] == {"processed": 4, "total": 4}
