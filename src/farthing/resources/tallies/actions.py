"""What is done with tallies: something is counted, and windows are measured."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from farthing.core.rows import Sum
from farthing.db.draft import Draft
from farthing.db.pool import Connection
from farthing.resources.tallies import store
from farthing.resources.tallies.model import Before, Edge, Mark, Memory, Span, Subject
from farthing.resources.tallies.store import MARKS


class Counters:
    """The tallies of one batch, and where its windows begin."""

    def __init__(self, tenant_id: UUID, now: datetime, memory: Memory) -> None:
        self._tenant_id = tenant_id
        self._now = now
        self._memory = memory
        # Each tally as its last mark says it, and what was added to it.
        self._last: dict[UUID, Mark] = {}
        self._made: defaultdict[UUID, list[Mark]] = defaultdict(list)
        self._before: dict[Span, Before] = {}
        # Where the log must have ended for this to be so; None if everything is locked.
        self.relies_on: int | None = None

    async def look(
        self, connection: Connection, subjects: Mapping[UUID, Subject], spans: Collection[Span]
    ) -> None:
        """Find out how tallies stand, and lock those that are not remembered.

        What the batch adds lies inside of its windows.
        """
        memory, now = self._memory, self._now
        self._last = memory.last_marks(subjects)
        if self._last:
            self.relies_on = memory.position
        unknown = [key for key in subjects if key not in self._last]
        moments = {seconds: now - timedelta(seconds=seconds) for _, seconds in spans}
        asked = [(*span, moments[span[1]]) for span in spans if not self._begin(span, moments)]
        if unknown or asked:
            memory.edges |= await self._fetch(connection, unknown, asked)
        begun = []
        for key, mark in self._last.items():
            if mark.count or key in memory.empty:
                continue
            if await store.open_tally(connection, self._tenant_id, subjects[key], now):
                begun.append(key)
            else:
                memory.empty.add(key)
        if begun:
            asked = [(*span, moments[span[1]]) for span in spans if span[0] in begun]
            # What is only there if this is committed is not remembered.
            await self._fetch(connection, begun, asked)

    def _begin(self, span: Span, moments: Mapping[int, datetime]) -> bool:
        """Tell whether it is known where a window begins."""
        edge = self._memory.edges.get(span)
        before = edge and edge.begin(moments[span[1]], self._last.get(span[0]))
        if before:
            self._before[span] = before
        return bool(before)

    async def _fetch(
        self, connection: Connection, keys: list[UUID], asked: Sequence[tuple[UUID, int, datetime]]
    ) -> dict[Span, Edge]:
        """Look at tallies and windows, and return where these begin."""
        windows = [(key, moment) for key, _, moment in asked]
        marks, inside = await store.fetch_locked(connection, self._tenant_id, keys, windows)
        self._last.update(zip(keys, marks, strict=True))
        edges = {}
        for (key, seconds, moment), first in zip(asked, inside, strict=True):
            edge, span = Edge(moment, first), (key, seconds)
            before = edge.begin(moment, self._last[key])
            if before is None:
                raise LookupError("a tally ends before a window of it begins")
            self._before[span], edges[span] = before, edge
        return edges

    def keep(self, before: int, position: int) -> None:
        """Remember what was found out, once it is durable."""
        memory = self._memory
        for span in self._before:
            edge = memory.edges.get(span)
            if edge is not None:
                for mark in self._made[span[0]]:
                    edge.follow(mark)
        memory.keep(before, position, self._last)

    def measure(self, draft: Draft, span: Span) -> tuple[int, int]:
        """Return how many are inside of a window now, and how much they are together."""
        mark, (count, total) = self._mark(draft, span[0]), self._before[span]
        return mark.count - count, mark.total - total

    def count(self, draft: Draft, tally_id: UUID, amount: int) -> None:
        """Count one more."""
        last = self._mark(draft, tally_id)
        # Whoever has an earlier time but comes later is counted later.
        moment = max(draft.now, last.created_at)
        count, total = last.count + 1, Sum(last.total + amount)
        draft.append(MARKS, Mark(self._tenant_id, tally_id, moment, count, total, amount))

    def settle(self, draft: Draft) -> None:
        """Take over what a command has counted."""
        for mark in draft.added_to(MARKS):
            self._last[mark.tally_id] = mark
            self._made[mark.tally_id].append(mark)

    def _mark(self, draft: Draft, tally_id: UUID) -> Mark:
        """Return the last mark of a tally, this command's own included."""
        if own := draft.added_to(MARKS):
            for mark in reversed(own):
                if mark.tally_id == tally_id:
                    return mark
        return self._last[tally_id]
