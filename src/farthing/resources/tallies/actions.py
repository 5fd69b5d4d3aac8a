"""What is done with tallies: something is counted, and windows are measured."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from farthing.core.expressions.sieve import Measure
from farthing.core.expressions.windows import Series
from farthing.core.rows import Sum
from farthing.db.draft import Draft
from farthing.db.hearings import LogMoved
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
        self._edges: list[tuple[UUID, Edge]] = []
        self._begun: list[UUID] = []
        # Where the log must have ended for this to be so; None if everything is locked.
        self.relies_on: int | None = None

    async def look(
        self, connection: Connection, subjects: Mapping[UUID, Subject], spans: Collection[Span]
    ) -> None:
        """Find out how tallies stand, and lock those that are not remembered.

        What the batch adds lies inside of its windows.
        """
        memory, now = self._memory, self._now
        memory.trim()
        self._last = memory.last_marks(subjects)
        if self._last:
            self.relies_on = memory.position
        unknown = [key for key in subjects if key not in self._last]
        lengths = {seconds for _, seconds in spans}
        moments = {seconds: now - timedelta(seconds=seconds) for seconds in lengths}
        asked, edges = [], memory.edges
        for span in spans:
            (key, seconds), edge = span, edges.get(span)
            moment = moments[seconds]
            if edge is not None and (
                edge.since <= moment < edge.until or edge.move(moment, self._last.get(key))
            ):
                self._before[span] = edge.before
                self._edges.append((key, edge))
            else:
                asked.append((key, seconds, moment))
        if unknown or asked:
            memory.edges |= await self._fetch(connection, unknown, asked)
        for key in unknown:
            if self._last[key].count or key in memory.empty:
                continue
            if await store.open_tally(connection, self._tenant_id, subjects[key], now):
                self._begun.append(key)
            else:
                memory.empty.add(key)
        if self._begun:
            asked = [(*span, moments[span[1]]) for span in spans if span[0] in self._begun]
            # What is only there if this is committed is not remembered.
            await self._fetch(connection, self._begun, asked)

    async def withdraw(self, connection: Connection) -> None:
        """Leave tallies as they were, because nothing of this will be in the log.

        Whoever remembers them would not find out that they have begun.
        """
        if self._begun:
            await store.close_tallies(connection, self._tenant_id, self._begun)

    async def _fetch(
        self, connection: Connection, keys: list[UUID], asked: Sequence[tuple[UUID, int, datetime]]
    ) -> dict[Span, Edge]:
        """Look at tallies and windows, and return where these begin."""
        windows = [(key, moment) for key, _, moment in asked]
        marks, inside = await store.fetch_locked(connection, self._tenant_id, keys, windows)
        self._last.update(zip(keys, marks, strict=True))
        edges = {}
        for (key, seconds, moment), first in zip(asked, inside, strict=True):
            edge = edges[key, seconds] = Edge(moment, first)
            if not edge.move(moment, self._last[key]):
                # The last mark that is remembered is not there any more.
                raise LogMoved
            self._before[key, seconds] = edge.before
            self._edges.append((key, edge))
        return edges

    def keep(self, before: int, position: int) -> None:
        """Remember what was found out, once it is durable."""
        for key, edge in self._edges:
            if key in self._made:
                edge.follow(self._made[key])
        self._memory.keep(before, position, self._last)

    def measuring(self, draft: Draft, spans: Mapping[Series, Span]) -> Measure:
        """Return what tells how many are inside of a window now, and how much they are together."""
        befores, marks = self._before, self._last

        def measure(series: Series) -> tuple[int, int]:
            span = spans[series]
            mark = self._mark(draft, span[0]) if MARKS in draft.appended else marks[span[0]]
            count, total = befores[span]
            return mark.count - count, mark.total - total

        return measure

    def count(self, draft: Draft, tally_id: UUID, amount: int) -> None:
        """Count one more."""
        last = self._mark(draft, tally_id) if MARKS in draft.appended else self._last[tally_id]
        # Whoever has an earlier time but comes later is counted later.
        moment = max(last.created_at, self._now)
        count, total = last.count + 1, Sum(last.total + amount)
        draft.append(MARKS, Mark(self._tenant_id, tally_id, moment, count, total, amount))

    def settle(self, draft: Draft) -> None:
        """Take over what a command has counted."""
        for mark in draft.added_to(MARKS):
            self._last[mark.tally_id] = mark
            self._made[mark.tally_id].append(mark)

    def _mark(self, draft: Draft, tally_id: UUID) -> Mark:
        """Return the last mark of a tally, this command's own included."""
        for mark in reversed(draft.added_to(MARKS)):
            if mark.tally_id == tally_id:
                return mark
        return self._last[tally_id]
