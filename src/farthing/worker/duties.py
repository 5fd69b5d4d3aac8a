"""The duties of the worker: what it does again and again, and how often."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from farthing.agenda import sources
from farthing.config import Settings
from farthing.db.committer import Committer
from farthing.db.pool import Pool
from farthing.dispatch import Dispatcher
from farthing.resources.settlements.api import Teller

_BEAT: Final = """
INSERT INTO heartbeats (process_id, seen_at) VALUES ($1, now())
ON CONFLICT (process_id) DO UPDATE SET seen_at = now()
"""
_FORGET_BEATS: Final = "DELETE FROM heartbeats WHERE seen_at < now() - interval '1 hour'"


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
    settings: Settings, pool: Pool, committer: Committer, process_id: UUID, teller: Teller
) -> tuple[Duty, ...]:
    """List everything that the worker does: it shows that it is there, and sees to what is due."""

    async def beat() -> None:
        await committer.sweep(_BEAT, process_id)

    async def forget_beats() -> None:
        await committer.sweep(_FORGET_BEATS)

    todo = sources(settings, pool, committer, teller)
    return (
        Duty("heartbeat", timedelta(seconds=5), beat),
        Duty("forget heartbeats", timedelta(minutes=1), forget_beats),
        *(Duty(one.name, one.every, one.run) for one in todo),
    )
