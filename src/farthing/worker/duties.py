"""The duties of the worker: what falls due by the clock, and how often to look."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from farthing.config import Settings
from farthing.core.clock import Clock
from farthing.db.committer import Committer

_BEAT: Final = """
INSERT INTO heartbeats (process_id, seen_at) VALUES ($1, now())
ON CONFLICT (process_id) DO UPDATE SET seen_at = now()
"""
_FORGET_BEATS: Final = "DELETE FROM heartbeats WHERE seen_at < now() - interval '1 hour'"
_FORGET_TOKENS: Final = "DELETE FROM credentials WHERE expires_at < $1"
_FORGET_ANSWERS: Final = "DELETE FROM idempotency WHERE created_at < $1"


@dataclass(frozen=True)
class Duty:
    """Something that the worker does again and again."""

    name: str
    every: timedelta
    run: Callable[[], Awaitable[None]]


def duties(
    settings: Settings, committer: Committer, clock: Clock, process_id: UUID
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

    return (
        Duty("heartbeat", timedelta(seconds=5), beat),
        Duty("forget what has expired", timedelta(minutes=1), forget),
    )
