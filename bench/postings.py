"""Ledger postings through the commit path, driven and measured inside one process.

The bench runs it as `python -m bench.postings`; it prints one measurement as JSON.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final
from uuid import UUID

import msgspec
import typer
import uvloop
from bench import ledger
from bench.load import Load
from bench.measurement import Measurement, percentile

from farthing.config import Settings
from farthing.core.logs import configure_logs


class Between(StrEnum):
    """Between which accounts the money moves."""

    MANY = "many"
    HOT = "hot"


def _any_two(accounts: Sequence[UUID]) -> tuple[UUID, UUID]:
    payer, payee = random.sample(accounts, 2)
    return payer, payee


def _to_the_first(accounts: Sequence[UUID]) -> tuple[UUID, UUID]:
    return random.choice(accounts[1:]), accounts[0]  # noqa: S311 - load, no secret.


_PICKS: Final[dict[Between, Callable[[Sequence[UUID]], tuple[UUID, UUID]]]] = {
    Between.MANY: _any_two,
    Between.HOT: _to_the_first,
}


async def _drive(move: Callable[[], Awaitable[bool]], load: Load) -> Measurement:
    """Keep the load's number of moves under way until its time is over."""
    times: list[float] = []
    failures = 0
    began = time.perf_counter()

    async def call_again_and_again() -> None:
        nonlocal failures
        while (started := time.perf_counter()) < began + load.seconds:
            failures += not await move()
            times.append((time.perf_counter() - started) * 1000)

    await asyncio.gather(*(call_again_and_again() for _ in range(load.connections)))
    return Measurement(
        rate=len(times) / (time.perf_counter() - began),
        p50=percentile(times, 0.50),
        p99=percentile(times, 0.99),
        operations=len(times),
        errors=failures,
    )


async def _measure(accounts: Sequence[UUID], tenant_id: UUID, load: Load, way: Between) -> None:
    settings = Settings.load()
    configure_logs(settings)
    pick = _PICKS[way]
    async with ledger.opened(settings.require_database_url(), tenant_id, settings) as books:
        # To warm the connections up.
        await asyncio.gather(*(books.move(*pair) for pair in ledger.ring(accounts)))
        measurement = await _drive(lambda: books.move(*pick(accounts)), load)
        await books.undo_moves()
    print(msgspec.json.encode(measurement).decode())


def main(way: Between, accounts: Path, tenant: str, seconds: int, connections: int) -> None:
    """Measure on the database at FARTHING_DATABASE_URL, with the accounts that a file lists."""
    load = Load(seconds, connections)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_measure(ledger.listed(accounts), UUID(tenant), load, way))


if __name__ == "__main__":
    typer.run(main)
