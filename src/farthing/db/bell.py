"""A bell: tells whoever follows a tenant's log that there may be more of it.

This process rings by itself after each commit; what other processes commit is found by looking at
the heads of all followed logs together, twice a second. It is only a hint: the log has the truth.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final
from uuid import UUID

import structlog

from farthing.db.commands import EVENTS, EventRow
from farthing.db.committer import Committer
from farthing.db.pool import Pool

LOOK_SECONDS: Final = 0.5

_HEADS: Final = "SELECT tenant_id, position FROM event_heads WHERE tenant_id = ANY($1::uuid[])"

log = structlog.get_logger()


class Bell:
    """Rings for those who watch, tenant by tenant."""

    def __init__(self, pool: Pool, committer: Committer) -> None:
        self._pool = pool
        self._watching: defaultdict[UUID, list[Callable[[], None]]] = defaultdict(list)
        self._heads: dict[UUID, int] = {}
        self._looking: asyncio.Task[None] | None = None
        committer.listen(EVENTS, self._hear)

    @contextmanager
    def watch(self, tenant_id: UUID, ring: Callable[[], None]) -> Iterator[None]:
        """Call `ring` whenever the log of a tenant may have grown."""
        self._watching[tenant_id].append(ring)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_again_and_again())
        try:
            yield
        finally:
            self._watching[tenant_id].remove(ring)
            if not self._watching[tenant_id]:
                del self._watching[tenant_id]
                self._heads.pop(tenant_id, None)

    async def close(self) -> None:
        """Look no more."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait({self._looking})

    def _hear(self, rows: Sequence[EventRow]) -> None:
        # A batch has one tenant.
        self._ring(rows[0].tenant_id)

    def _ring(self, tenant_id: UUID) -> None:
        for ring in self._watching.get(tenant_id, ()):
            ring()

    async def _look_again_and_again(self) -> None:
        while self._watching:
            try:
                await self._look()
            except Exception as error:  # noqa: BLE001 - whatever it is, the next look may succeed
                log.warning("bell_deaf", error=repr(error))
            await asyncio.sleep(LOOK_SECONDS)
        self._looking = None

    async def _look(self) -> None:
        for tenant_id, position in await self._pool.fetch(_HEADS, list(self._watching)):
            if self._heads.get(tenant_id) != position:
                self._heads[tenant_id] = position
                self._ring(tenant_id)
