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
from bench.load import Load
from bench.measurement import Measurement, percentile

from farthing.config import Settings
from farthing.core.actors import Grant, Principal
from farthing.core.errors import Problem
from farthing.core.ids import new_id
from farthing.core.logs import configure_logs
from farthing.db.commands import Command, Context, Need
from farthing.db.committer import Committer
from farthing.db.draft import Draft
from farthing.db.pool import open_pool
from farthing.ledger import effects
from farthing.ledger.balances import BALANCES, outside_account
from farthing.ledger.postings import open_outside, post

_RAIL: Final = "bench"
_CURRENCY: Final = "GBP"
_PLENTY: Final = 10**9
_FIRST_FAILURE: Final = 400


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


class Ledger:
    """The ledger of one tenant, driven without HTTP."""

    def __init__(self, committer: Committer, tenant_id: UUID) -> None:
        self._committer = committer
        self._principal = Principal(tenant_id, Grant.PLATFORM)
        self._outside = outside_account(tenant_id, _RAIL, _CURRENCY)

    async def fund(self, account: UUID) -> bool:
        """Let plenty of money in from the outside."""
        return await self._move(self._outside, account, _PLENTY)

    async def move(self, payer: UUID, payee: UUID) -> bool:
        """Move the least amount there is."""
        return await self._move(payer, payee, 1)

    async def _move(self, payer: UUID, payee: UUID, amount: int) -> bool:
        def decide(draft: Draft) -> None:
            if payer == self._outside:
                open_outside(draft, _RAIL, _CURRENCY)
            post(draft, effects.move(payer, payee, amount), new_id())

        command = Command(decide, needs=[Need(BALANCES, payer), Need(BALANCES, payee)])
        try:
            answer = await self._committer.submit(Context(self._principal, "bench"), command)
        except Problem:
            return False
        return answer.status < _FIRST_FAILURE


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
    pool = await open_pool(settings.require_database_url(), settings.pool_size)
    committer = Committer(pool, batch_size=settings.batch_size, lanes=settings.lanes)
    ledger, pick = Ledger(committer, tenant_id), _PICKS[way]
    # The first makes the outside's account, and the others warm the connections up.
    await ledger.fund(accounts[0])
    await asyncio.gather(*(ledger.fund(account) for account in accounts[1:]))
    measurement = await _drive(lambda: ledger.move(*pick(accounts)), load)
    await committer.close()
    await pool.close()
    print(msgspec.json.encode(measurement).decode())


def main(way: Between, accounts: Path, tenant: str, seconds: int, connections: int) -> None:
    """Measure on the database at FARTHING_DATABASE_URL, with the accounts that a file lists."""
    listed = [UUID(line.partition("/")[2]) for line in accounts.read_text("ascii").split()]
    load = Load(seconds, connections)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_measure(listed, UUID(tenant), load, way))


if __name__ == "__main__":
    typer.run(main)
