"""The time of each tenant: that of this machine, and how far the tenant's own clock is ahead of it.

Only a sandbox moves its tenants' clocks. A process knows for a moment how far each is ahead, and
the statement that writes a batch finds out whether it still is, so that the knowledge is free.
"""

import asyncio
import time
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from farthing.core.clock import Clock, system_clock
from farthing.core.errors import Unauthenticated
from farthing.core.ids import HOUSE
from farthing.db.pool import Pool

# Every process knows of a move after this at the latest.
FRESH_SECONDS: Final = 0.5
_ASKED_AFTER: Final = 0.2
_MOST_KNOWN: Final = 10_000
# How far the clock of a tenant is ahead that was thrown away.
_GONE: Final = -1

_AHEAD: Final = "SELECT ahead FROM event_heads WHERE tenant_id = $1"
_MOVE: Final = """
UPDATE event_heads SET ahead = greatest(ahead, $2)
WHERE tenant_id = $1 AND ahead >= 0 RETURNING ahead
"""


class ClockMoved(Exception):
    """The tenant's clock was moved while a batch was decided, which would be dated before it."""


class Clocks:
    """What time it is for each tenant."""

    def __init__(self, pool: Pool, clock: Clock = system_clock, *, may_move: bool = True) -> None:
        self._pool, self._clock, self.may_move = pool, clock, may_move
        # How many milliseconds each tenant is ahead, and when that was asked.
        self._known: dict[UUID, tuple[int, float]] = {}
        self._asking: dict[UUID, asyncio.Task[int]] = {}

    def machine(self) -> datetime:
        """Return the time of this machine."""
        return self._clock()

    async def now(self, tenant_id: UUID) -> datetime:
        """Return the time of a tenant."""
        return self.at(await self.ahead(tenant_id))

    def at(self, ahead: int) -> datetime:
        """Return the time of whoever is so many milliseconds ahead."""
        return self._clock() + timedelta(milliseconds=ahead) if ahead else self._clock()

    def last_known(self, tenant_id: UUID) -> datetime:
        """Return the time of a tenant as this process last knew it."""
        return self.at(self._known.get(tenant_id, (0, 0.0))[0])

    async def ahead(self, tenant_id: UUID) -> int:
        """Return how many milliseconds a tenant is ahead of this machine."""
        if not self.may_move or tenant_id == HOUSE:
            return 0
        known = self._known.get(tenant_id)
        age = time.monotonic() - known[1] if known else FRESH_SECONDS
        if known and age < _ASKED_AFTER:
            return known[0]
        asking = self._asking.get(tenant_id) or self._ask(tenant_id)
        # Whoever asks often never waits, because it is asked again in good time.
        return known[0] if known and age < FRESH_SECONDS else await asyncio.shield(asking)

    def forget(self, tenant_id: UUID) -> None:
        """Ask anew when somebody wants to know the time of a tenant."""
        self._known.pop(tenant_id, None)

    async def reload(self, tenant_id: UUID) -> int:
        """Ask the database how far a tenant is ahead; who was thrown away has no time any more."""
        asked_at = time.monotonic()
        found = int(await self._pool.fetchval(_AHEAD, tenant_id) or 0)
        if found == _GONE:
            self.forget(tenant_id)
            raise Unauthenticated
        return self._keep(tenant_id, found, asked_at)

    async def move(self, tenant_id: UUID, moment: datetime) -> datetime:
        """Move a tenant's clock forward to a moment, or leave it where it is if that is later."""
        if not self.may_move:
            raise TypeError("only the clocks of a sandbox can be moved")
        asked_at = time.monotonic()
        ahead = -((self._clock() - moment) // timedelta(milliseconds=1))
        found = await self._pool.fetchval(_MOVE, tenant_id, max(0, ahead))
        return self.at(self._keep(tenant_id, int(found or 0), asked_at))

    def _ask(self, tenant_id: UUID) -> asyncio.Task[int]:
        def forget(done: asyncio.Task[int]) -> None:
            del self._asking[tenant_id]
            if not done.cancelled():
                # Whoever waits for it hears of it; if nobody does, it is asked again soon.
                done.exception()

        self._asking[tenant_id] = asking = asyncio.create_task(self.reload(tenant_id))
        asking.add_done_callback(forget)
        return asking

    def _keep(self, tenant_id: UUID, ahead: int, asked_at: float) -> int:
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        known = self._known.get(tenant_id)
        if known is None or known[1] <= asked_at:
            self._known[tenant_id] = known = (ahead, asked_at)
        return known[0]
