"""What can be done with a clock: it is read, and it is moved forward."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID
from weakref import WeakValueDictionary

import structlog

from farthing.config import Settings
from farthing.core.clock import say_time, whole
from farthing.core.durations import read_duration, say_duration
from farthing.core.errors import Fault, ValidationFailed
from farthing.db.calls import Call
from farthing.db.clocks import FRESH_SECONDS, Clocks
from farthing.db.commands import Command
from farthing.db.due import Source
from farthing.db.pool import Pool
from farthing.resources.clocks import store
from farthing.resources.clocks.model import (
    MOST_AHEAD,
    AdvanceView,
    ClockView,
)
from farthing.resources.events.model import view as show_event
from farthing.resources.events.store import fetch_after, find_head

# What one request does on the way; the clock then stands where it came to.
MOST_STEPS: Final = 2000
MOST_EVENTS: Final = 1000
_MOST_SECONDS: Final = 20

_EVER: Final = datetime(1, 1, 1, tzinfo=UTC)

log = structlog.get_logger()


async def read(call: Call[Any]) -> ClockView:
    """Read the clock of the caller's tenant."""
    clocks = call.part(Timekeeper).clocks
    ahead = await clocks.reload(call.principal.tenant_id)
    return ClockView(
        now=say_time(clocks.at(ahead)), ahead=say_duration(timedelta(milliseconds=ahead))
    )


async def advance(call: Call[Any]) -> Command:
    """Move the clock of the caller's tenant, and do everything that falls due on the way."""
    keeper = call.part(Timekeeper)
    moved = await keeper.advance(call.principal.tenant_id, call.body.advance, call.body.to)
    return Command(lambda _: moved)


class Timekeeper:
    """Moves clocks from one due moment to the next, and does what is due there."""

    def __init__(
        self,
        settings: Settings,
        pool: Pool,
        clocks: Clocks,
        agenda: Callable[[], Sequence[Source]],
        settle: Callable[[UUID], Awaitable[None]],
    ) -> None:
        self.clocks = clocks
        self._settings, self._pool = settings, pool
        # Opened for each advance: what waits for others has so much patience and no more.
        self._agenda = agenda
        # Waits for what this process does for a tenant by itself.
        self._settle = settle
        # Each advance holds a connection and needs others.
        self._places = asyncio.Semaphore(settings.pool_size // 2)
        self._locks: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()

    async def advance(self, tenant_id: UUID, by: str | None, to: datetime | None) -> AdvanceView:
        """Move a tenant's clock by a duration or to a moment."""
        # A tenant that asks often takes no place from another.
        lock = self._locks.setdefault(tenant_id, asyncio.Lock())
        async with lock, self._places, store.alone(self._pool, tenant_id):
            await self.clocks.reload(tenant_id)
            target = self._target(await self.clocks.now(tenant_id), by, to)
            before = await find_head(self._pool, tenant_id)
            sources = self._agenda()
            complete = await self._pass_time(tenant_id, target, before, sources)
            if complete:
                await self._arrive(tenant_id, target, sources)
            if self._settings.processes > 1:
                # Until every other process knows it too.
                await asyncio.sleep(FRESH_SECONDS)
            events = await fetch_after(self._pool, tenant_id, before, MOST_EVENTS)
        log.info("clock_moved", tenant=str(tenant_id), to=say_time(target), complete=complete)
        return AdvanceView(
            now=say_time(await self.clocks.now(tenant_id)),
            to=say_time(target),
            complete=complete,
            events=[show_event(event) for event in events],
        )

    def _target(self, now: datetime, by: str | None, to: datetime | None) -> datetime:
        target = whole(to.astimezone(UTC)) if to else now + read_duration(by or "")
        if target > self.clocks.machine() + MOST_AHEAD:
            detail = "Must not take the clock more than ten years ahead of the real time."
            raise ValidationFailed([Fault("/to" if to else "/advance", "invalid_value", detail)])
        return max(now, target)

    async def _pass_time(
        self, tenant_id: UUID, target: datetime, before: int, sources: Sequence[Source]
    ) -> bool:
        """Go from moment to moment until nothing is due before the target; or give up."""
        deadline = time.monotonic() + _MOST_SECONDS
        # By source, up to when nothing more can be done there before something else happens.
        stuck: dict[str, datetime] = {}
        for _ in range(MOST_STEPS):
            await self._settle(tenant_id)
            found = await self._next(tenant_id, sources, stuck)
            if found is None or found[0] > target:
                return True
            head = await find_head(self._pool, tenant_id)
            if time.monotonic() > deadline or head - before >= MOST_EVENTS:
                return False
            moment, source = found
            await self.clocks.move(tenant_id, moment)
            more = await source.run_of(tenant_id, moment)
            left = None if more else await source.next_of(tenant_id, _EVER)
            if left is not None and left <= moment:
                stuck[source.name] = moment
            else:
                stuck.clear()
        return False

    async def _next(
        self, tenant_id: UUID, sources: Sequence[Source], stuck: dict[str, datetime]
    ) -> tuple[datetime, Source] | None:
        """Return what falls due first, and when."""
        found = [
            (moment, source)
            for source in sources
            if (moment := await source.next_of(tenant_id, stuck.get(source.name, _EVER)))
        ]
        return min(found, key=lambda one: one[0], default=None)

    async def _arrive(self, tenant_id: UUID, target: datetime, sources: Sequence[Source]) -> None:
        """Reach the target, where also that is done of which nobody knows when it falls due."""
        await self.clocks.move(tenant_id, target)
        for source in sources:
            await source.run_of(tenant_id, target)
        await self._settle(tenant_id)
