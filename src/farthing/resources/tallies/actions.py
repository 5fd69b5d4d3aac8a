"""What is done with tallies: something is counted, and windows are measured."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

import msgspec

from farthing.core.expressions import Window
from farthing.db.draft import Draft
from farthing.db.pool import Connection
from farthing.resources.tallies import store
from farthing.resources.tallies.model import Mark
from farthing.resources.tallies.store import MARKS, TALLIES

# What was counted, and how much that was in all.
Before = tuple[int, Decimal]
# A tally, and how long a window over it is in seconds.
Span = tuple[UUID, int]


class Baselines:
    """What was there before the windows of one batch began; what the batch adds lies inside."""

    def __init__(self, tenant_id: UUID, now: datetime) -> None:
        self._tenant_id = tenant_id
        self._now = now
        self._before: dict[Span, Before] = {}

    async def look(self, connection: Connection, spans: Iterable[Span]) -> None:
        """Look these up, which needs no lock: what others add comes after the first mark."""
        wanted = list(dict.fromkeys(spans))
        if not wanted:
            return
        cutoffs = [(key, self._now - timedelta(seconds=seconds)) for key, seconds in wanted]
        found = await store.fetch_before(connection, self._tenant_id, cutoffs)
        self._before = dict(zip(wanted, found, strict=True))

    def measure(self, draft: Draft, tally_id: UUID, window: Window) -> int:
        """Return what is inside of a window now."""
        tally = draft.find(TALLIES, tally_id)
        if tally is None:
            raise LookupError("a window over a tally that was not opened")
        count, total = self._before[tally_id, window.seconds]
        return tally.count - count if window.kind == "count" else int(tally.total - total)


def count(draft: Draft, tally_id: UUID, amount: int) -> None:
    """Count one more."""
    tally = draft.find(TALLIES, tally_id)
    if tally is None:
        raise LookupError("a tally that was not opened")
    # Whoever has an earlier time but comes later is counted later.
    moment = max(draft.now, tally.moved_at)
    draft.append(MARKS, Mark(draft.tenant_id, tally_id, moment, tally.count, tally.total))
    newer = msgspec.structs.replace(
        tally, count=tally.count + 1, total=tally.total + amount, moved_at=moment
    )
    draft.update(TALLIES, newer)
