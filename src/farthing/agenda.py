"""The agenda: everything that falls due by the clock, said once.

The worker follows it for all tenants; whoever moves the clock of one tenant of a sandbox, for that
one. Whatever else comes to fall due is one more source in the list.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from typing import Any, Final, TypeVar
from uuid import UUID

from farthing.catalog import CHALLENGED
from farthing.config import Settings
from farthing.core.actors import Grant, Principal
from farthing.core.ids import new_id
from farthing.core.rows import VersionedRow
from farthing.db.commands import Command, Context
from farthing.db.committer import Committer
from farthing.db.due import Due, Source
from farthing.db.pool import Pool
from farthing.dispatch import Dispatcher
from farthing.resources.approvals import store as approvals
from farthing.resources.approvals.actions import expire as expire_approval
from farthing.resources.cards import store as cards
from farthing.resources.cards.actions import expire as expire_card
from farthing.resources.challenges import store as challenges
from farthing.resources.challenges.actions import end_challenge
from farthing.resources.challenges.model import ChallengeRow
from farthing.resources.clocks.actions import Timekeeper
from farthing.resources.deliveries.store import find_next as find_next_delivery
from farthing.resources.deliveries.store import is_under_way
from farthing.resources.orders import store as orders
from farthing.resources.references import store as references
from farthing.resources.references.actions import expire as expire_reference
from farthing.resources.settlements.actions import expire as expire_transaction
from farthing.resources.settlements.api import Teller
from farthing.resources.tallies import store as tallies
from farthing.resources.tallies.model import LONGEST
from farthing.resources.transactions import store as transactions
from farthing.resources.trials import store as trials
from farthing.resources.trials.actions import run as run_backtest
from farthing.resources.trials.model import Backtest

V = TypeVar("V", bound=VersionedRow)

_MOST_AT_ONCE: Final = 500
_MINUTE: Final = timedelta(minutes=1)
# How many seconds an advance spends in all on what endpoints did not take.
_PATIENCE: Final = 2.0
_LOOK_AGAIN: Final = 0.02

# An hour after their end, so that nobody reads a token that is being deleted.
_TOKENS_KEPT: Final = timedelta(hours=1)
_FORGET_TOKENS: Final = "DELETE FROM credentials AS t {} WHERE {} t.expires_at < {}"
# What the platform wrote down under a key is news of a rail, which may be told again at any time.
_FORGET_ANSWERS: Final = (
    "DELETE FROM idempotency AS t {} WHERE {} t.created_at < {} AND t.scope <> 'platform'"
)
# Long enough to look into what went wrong, whatever became of it.
_DELIVERIES_KEPT: Final = timedelta(days=30)
# No window reaches back so far.
_MARKS_KEPT: Final = LONGEST + timedelta(days=1)
_FORGET_DELIVERIES: Final = "DELETE FROM deliveries AS t {} WHERE {} t.ended_at < {}"
_OF_ALL: Final = ("", "", "$1")
_OF_THOSE_AHEAD: Final = (
    "USING event_heads AS h",
    "h.ahead > 0 AND t.tenant_id = h.tenant_id AND",
    "$1::timestamptz + h.ahead * interval '1 millisecond'",
)
_OF_ONE: Final = ("", "t.tenant_id = $2 AND", "$1")


def platform(tenant_id: UUID) -> Context:
    """Return the context of what the platform does by itself."""
    return Context(Principal(tenant_id, Grant.PLATFORM), request_id=f"worker-{new_id()}")


def keep_time(
    settings: Settings, pool: Pool, committer: Committer, teller: Teller, dispatcher: Dispatcher
) -> Timekeeper:
    """Return what moves the clocks of a sandbox's tenants."""
    todo = sources(settings, pool, committer, teller)

    def agenda() -> tuple[Source, ...]:
        return (*todo, _retries(pool, committer, dispatcher))

    return Timekeeper(settings, pool, committer.clocks, agenda, teller.idle_for)


def sources(
    settings: Settings, pool: Pool, committer: Committer, teller: Teller
) -> tuple[Source, ...]:
    """List everything that falls due."""

    def expiring(
        name: str, due: Due[V], command: Callable[[V], Command], every: timedelta = _MINUTE
    ) -> Source:
        async def see_to(rows: Sequence[V]) -> None:
            for row in rows:
                await committer.submit(platform(row.tenant_id), command(row))

        return _of_rows(name, every, pool, committer, due, see_to)

    async def try_out(rows: Sequence[Backtest]) -> None:
        for row in rows:
            await run_backtest(pool, partial(committer.submit, platform(row.tenant_id)), row)

    return (
        expiring("expire cards", cards.EXPIRING, lambda row: expire_card(row.id)),
        expiring("expire references", references.EXPIRING, lambda row: expire_reference(row.id)),
        expiring(
            "expire challenges", challenges.EXPIRING, _expire_challenge, timedelta(seconds=15)
        ),
        _of_rows(
            "see to orders", timedelta(seconds=2), pool, committer, orders.DUE, teller.see_to_all
        ),
        _news(teller),
        expiring(
            "expire transactions", transactions.EXPIRING, lambda row: expire_transaction(row.id)
        ),
        expiring("expire approvals", approvals.EXPIRING, lambda row: expire_approval(row.id)),
        _of_rows("run backtests", timedelta(seconds=2), pool, committer, trials.DUE, try_out),
        _janitor(settings, committer),
    )


def _of_rows(
    name: str,
    every: timedelta,
    pool: Pool,
    committer: Committer,
    due: Due[V],
    see_to: Callable[[Sequence[V]], Awaitable[None]],
) -> Source:
    async def run() -> None:
        await see_to(await due.find(pool, committer.clocks.machine(), _MOST_AT_ONCE))

    async def next_of(tenant_id: UUID, after: datetime) -> datetime | None:
        return await due.next_of(pool, tenant_id, after)

    async def run_of(tenant_id: UUID, until: datetime) -> bool:
        rows = await due.find_of(pool, tenant_id, until, _MOST_AT_ONCE)
        await see_to(rows)
        return len(rows) == _MOST_AT_ONCE

    return Source(name, every, run, next_of, run_of)


def _expire_challenge(challenge: ChallengeRow) -> Command:
    resolve = CHALLENGED[challenge.noun].resolve
    consequence = resolve(challenge.object_id, approved=False, reason="Nobody answered in time.")
    return end_challenge(challenge.id, "expired", consequence)


def _news(teller: Teller) -> Source:
    async def run_of(tenant_id: UUID, until: datetime) -> bool:
        await teller.hear_news_of(tenant_id, until)
        return False

    every = timedelta(seconds=2)
    return Source("hear the news of rails", every, teller.hear_news, teller.next_news, run_of)


def _retries(pool: Pool, committer: Committer, dispatcher: Dispatcher) -> Source:
    """Send again what its endpoint did not take, as the worker does all the time.

    Endpoints are given a moment in all to answer. Whatever takes longer goes on beside it, and
    nobody else sends it meanwhile.
    """
    left = _PATIENCE

    async def next_of(tenant_id: UUID, after: datetime) -> datetime | None:
        nonlocal left
        began = monotonic()
        while left > 0 and await is_under_way(pool, tenant_id, committer.clocks.machine()):
            await asyncio.sleep(_LOOK_AGAIN)
            began, left = monotonic(), left - (monotonic() - began)
        return await find_next_delivery(pool, tenant_id, after) if left > 0 else None

    async def run_of(tenant_id: UUID, _: datetime) -> bool:
        nonlocal left
        began = monotonic()
        await dispatcher.send_again(tenant_id)
        left -= monotonic() - began
        return False

    return Source("send again", timedelta(seconds=1), dispatcher.run, next_of, run_of)


def _janitor(settings: Settings, committer: Committer) -> Source:
    """Forget what has expired; nobody can tell when, so that it never falls due."""
    answers_kept = timedelta(hours=settings.idempotency_hours)

    async def forget(whose: tuple[str, str, str], now: datetime, *values: Any) -> None:
        await committer.sweep(_FORGET_TOKENS.format(*whose), now - _TOKENS_KEPT, *values)
        await committer.sweep(_FORGET_ANSWERS.format(*whose), now - answers_kept, *values)
        await committer.sweep(_FORGET_DELIVERIES.format(*whose), now - _DELIVERIES_KEPT, *values)
        await committer.sweep(tallies.FORGET.format(*whose), now - _MARKS_KEPT, *values)

    async def run() -> None:
        now = committer.clocks.machine()
        await forget(_OF_ALL, now)
        await forget(_OF_THOSE_AHEAD, now)

    async def next_of(_: UUID, __: datetime) -> datetime | None:
        return None

    async def run_of(tenant_id: UUID, until: datetime) -> bool:
        await forget(_OF_ONE, until, tenant_id)
        return False

    return Source("forget what has expired", _MINUTE, run, next_of, run_of)
