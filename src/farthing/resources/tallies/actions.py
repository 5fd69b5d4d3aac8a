"""What is done with tallies: something is counted, and windows are measured."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

from farthing.core.expressions import Window
from farthing.db.draft import Draft
from farthing.db.pool import Connection
from farthing.resources.tallies import store
from farthing.resources.tallies.model import Mark, Subject, Tally
from farthing.resources.tallies.store import MARKS, TALLIES

# What was counted, and how much that was in all.
Before = tuple[int, Decimal]
# A tally, and how long a window over it is in seconds.
Span = tuple[UUID, int]


class Counters:
    """The tallies of one batch, and what was there before its windows began."""

    def __init__(self, tenant_id: UUID, now: datetime) -> None:
        self._tenant_id = tenant_id
        self._now = now
        self._before: dict[Span, Before] = {}

    async def look(
        self,
        connection: Connection,
        subjects: Mapping[UUID, Subject],
        spans: Collection[Span],
        empty: set[UUID],
    ) -> dict[Any, Any]:
        """Lock tallies, and return them as rows; what the batch adds lies inside of its windows.

        A tally without a mark is begun, unless it is known that nothing was made before.
        """
        tallies = await self._fetch(connection, subjects, spans)
        begun = [
            key
            for key, tally in tallies.items()
            if tally.moved_at is None
            and key not in empty
            and await store.open_tally(connection, self._tenant_id, subjects[key], self._now)
        ]
        # Whoever makes something from now on leaves a mark, so that this stays true.
        empty.update(key for key, tally in tallies.items() if tally.moved_at is None)
        empty.difference_update(begun)
        if begun:
            tallies = await self._fetch(connection, subjects, spans)
        return {(TALLIES, key): tally for key, tally in tallies.items()}

    async def _fetch(
        self, connection: Connection, keys: Iterable[UUID], spans: Collection[Span]
    ) -> dict[UUID, Tally]:
        cutoffs = [(key, self._now - timedelta(seconds=seconds)) for key, seconds in spans]
        found, before = await store.fetch_locked(connection, self._tenant_id, list(keys), cutoffs)
        tallies = {tally.id: tally for tally in found}
        for span, one in zip(spans, before, strict=True):
            tally = tallies[span[0]]
            # A window without a mark begins where the tally stands.
            self._before[span] = one or (tally.count, tally.total)
        return tallies

    def measure(self, draft: Draft, tally_id: UUID, window: Window) -> int:
        """Return what is inside of a window now."""
        tally = _tally(draft, tally_id)
        count, total = self._before[tally_id, window.seconds]
        return tally.count - count if window.kind == "count" else int(tally.total - total)


def count(draft: Draft, tally_id: UUID, amount: int) -> None:
    """Count one more."""
    old = _tally(draft, tally_id)
    # Whoever has an earlier time but comes later is counted later.
    moment = draft.now if old.moved_at is None else max(draft.now, old.moved_at)
    new = msgspec.structs.replace(
        old, count=old.count + 1, total=old.total + amount, moved_at=moment
    )
    draft.update(TALLIES, new)
    draft.append(MARKS, Mark(draft.tenant_id, tally_id, moment, new.count, new.total, amount))


def _tally(draft: Draft, tally_id: UUID) -> Tally:
    tally = draft.find(TALLIES, tally_id)
    if tally is None:
        raise LookupError("a tally that was not looked up")
    return tally
