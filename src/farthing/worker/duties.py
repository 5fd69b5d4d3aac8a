"""The duties of the worker: what falls due by the clock, and how often to look."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from farthing.catalog import CHALLENGED
from farthing.config import Settings
from farthing.core.actors import Grant, Principal
from farthing.core.clock import Clock
from farthing.core.ids import new_id
from farthing.db.commands import Command, Context
from farthing.db.committer import Committer
from farthing.db.pool import Pool
from farthing.resources.cards import store as cards
from farthing.resources.cards.actions import expire as expire_card
from farthing.resources.challenges import store as challenges
from farthing.resources.challenges.actions import end_challenge
from farthing.resources.references import store as references
from farthing.resources.references.actions import expire as expire_reference
from farthing.resources.settlements.actions import expire as expire_transaction
from farthing.resources.settlements.api import Teller
from farthing.resources.transactions import store as transactions
from farthing.worker.deliveries import Dispatcher

_BEAT: Final = """
INSERT INTO heartbeats (process_id, seen_at) VALUES ($1, now())
ON CONFLICT (process_id) DO UPDATE SET seen_at = now()
"""
_FORGET_BEATS: Final = "DELETE FROM heartbeats WHERE seen_at < now() - interval '1 hour'"
_FORGET_TOKENS: Final = "DELETE FROM credentials WHERE expires_at < $1"
# What the platform wrote down under a key is news of a rail, which may be told again at any time.
_FORGET_ANSWERS: Final = "DELETE FROM idempotency WHERE created_at < $1 AND scope <> 'platform'"


_MOST_AT_ONCE: Final = 500

# Returns the tenants and ids of objects whose time has passed.
Find = Callable[[Pool, datetime, int], Awaitable[list[tuple[UUID, UUID]]]]


def platform(tenant_id: UUID) -> Context:
    """Return the context of what the platform does by itself."""
    return Context(Principal(tenant_id, Grant.PLATFORM), request_id=f"worker-{new_id()}")


@dataclass(frozen=True)
class Duty:
    """Something that the worker does again and again."""

    name: str
    every: timedelta
    run: Callable[[], Awaitable[None]]


def delivering(dispatcher: Dispatcher) -> tuple[Duty, ...]:
    """List what the worker does for webhooks."""
    return (
        Duty("deliver events", timedelta(milliseconds=50), dispatcher.run),
        Duty("wake deliveries", timedelta(seconds=15), dispatcher.wake),
    )


def duties(
    settings: Settings,
    pool: Pool,
    committer: Committer,
    clock: Clock,
    process_id: UUID,
    teller: Teller,
) -> tuple[Duty, ...]:
    """List everything that the worker does."""

    async def beat() -> None:
        await committer.sweep(_BEAT, process_id)

    async def forget() -> None:
        now = clock()
        await committer.sweep(_FORGET_BEATS)
        # An hour after their end, so that nobody reads a token that is being deleted.
        await committer.sweep(_FORGET_TOKENS, now - timedelta(hours=1))
        kept = timedelta(hours=settings.idempotency_hours)
        await committer.sweep(_FORGET_ANSWERS, now - kept)

    def expiring(find: Find, expire: Callable[[UUID], Command]) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            for tenant_id, key in await find(pool, clock(), _MOST_AT_ONCE):
                await committer.submit(platform(tenant_id), expire(key))

        return run

    async def expire_challenges() -> None:
        for one in await challenges.find_expired(pool, clock(), _MOST_AT_ONCE):
            reason = "Nobody answered in time."
            resolve = CHALLENGED[one.noun].resolve(one.object_id, approved=False, reason=reason)
            command = end_challenge(one.id, "expired", resolve)
            await committer.submit(platform(one.tenant_id), command)

    return (
        Duty("heartbeat", timedelta(seconds=5), beat),
        Duty("expire cards", timedelta(minutes=1), expiring(cards.find_expired, expire_card)),
        Duty(
            "expire references",
            timedelta(minutes=1),
            expiring(references.find_expired, expire_reference),
        ),
        Duty("expire challenges", timedelta(seconds=15), expire_challenges),
        Duty("see to orders", timedelta(seconds=2), teller.see_to_due_orders),
        Duty("hear the news of rails", timedelta(seconds=2), teller.hear_news),
        Duty(
            "expire transactions",
            timedelta(minutes=1),
            expiring(transactions.find_expired, expire_transaction),
        ),
        Duty("forget what has expired", timedelta(minutes=1), forget),
    )
