"""What a tally is: how many of something a customer has made, and how much that was in all.

Each one that is made leaves a mark with what was there then. A window holds what the last one says,
less what was there before the first mark inside of it: two rows, however many lie between.
"""

import functools
from collections import deque
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID, uuid5

from msgspec import Struct

from farthing.core.ids import of_bytes
from farthing.core.rows import Sum

# No window is longer, so that older marks can be forgotten.
LONGEST: Final = timedelta(days=31)

# What is counted by the flow of a transaction, in its currency.
FLOWS: Final = {"INBOUND": "inbound", "OUTBOUND": "outbound", "INTERNAL": "internal"}
# What is counted when an object is made.
NOUNS: Final = {
    "account": "accounts",
    "bank_account": "bankAccounts",
    "card": "cards",
    "customer": "customers",
}
COUNTED: Final = (*FLOWS.values(), *NOUNS.values())

_BEFORE_ALL: Final = datetime.min.replace(tzinfo=UTC)
_MOST_REMEMBERED: Final = 50_000
# So many batches in a row must have followed each other before a process relies on that. To be
# wrong costs a whole batch, and to be right saves a twentieth of one.
STREAK: Final = 32

_MOST_EDGES: Final = 20_000
# So many marks of a window are looked at ahead, so that it need not be looked at whenever it moves.
MOST_AHEAD: Final = 16

# A tally, and how long a window over it is in seconds.
Span = tuple[UUID, int]
# How many there were, and how much that was.
Before = tuple[int, int]


class Mark(Struct, frozen=True, gc=False):
    """When something was counted, and what was there then, itself included."""

    tenant_id: UUID
    tally_id: UUID
    created_at: datetime
    count: int
    # All amounts ever, which can be more than any account holds.
    total: Sum
    amount: int


def before_all(tenant_id: UUID, tally_id: UUID) -> Mark:
    """Return what stands before the first mark of a tally."""
    return Mark(tenant_id, tally_id, _BEFORE_ALL, 0, Sum(0), 0)


class Edge:
    """Where a window begins: the first marks inside of it, as far as they are known.

    Marks are never changed, and those of a tally follow each other in their counts and in time. So
    what is known stays true, whoever counts meanwhile.
    """

    def __init__(self, moment: datetime, marks: Iterable[Mark]) -> None:
        self._marks = deque(marks)
        # The count of the mark that follows these.
        self._next = self._marks[-1].count + 1 if self._marks else 0
        # From when until when the window can begin, so that this was there before it.
        self.since = self.until = moment
        self.before: Before = (0, 0)

    def move(self, moment: datetime, last: Mark | None) -> bool:
        """Let the window begin at another moment; tell whether it is known what was there before.

        If the last mark of all is known, so it is whether there is none inside.
        """
        marks = self._marks
        if moment < self.since:
            return False
        self.since = moment
        while marks and marks[0].created_at <= moment:
            marks.popleft()
        if marks:
            first = marks[0]
            self.until, self.before = (
                first.created_at,
                (first.count - 1, first.total - first.amount),
            )
        elif last is None or last.created_at > moment:
            self.until = moment
            return False
        else:
            # Until somebody counts, which changes what is the last.
            self.until, self.before, self._next = moment, (last.count, last.total), last.count + 1
        return True

    def follow(self, marks: Iterable[Mark]) -> None:
        """Learn of marks, which are of use if they follow those that are known."""
        for mark in marks:
            if mark.count == self._next and len(self._marks) < MOST_AHEAD:
                self._marks.append(mark)
                self._next += 1


class Memory:
    """What a process remembers of a tenant's tallies, so that it need not ask for it again.

    What the last mark of a tally is may change with each entry of the tenant's log, so that it is
    remembered together with where the log ended.
    """

    def __init__(self) -> None:
        # Tallies without any mark; whoever makes something from now on leaves one.
        self.empty: set[UUID] = set()
        self.edges: dict[Span, Edge] = {}
        self._last: dict[UUID, Mark] = {}
        self._streak = 0
        # Where the log ended when this was so.
        self.position = 0

    def last_marks(self, tallies: Iterable[UUID]) -> dict[UUID, Mark]:
        """Return the last marks of tallies as far as they are known, if it is likely that they are.

        They are so only if nobody has written to the log since, which the commit must find out.
        """
        if self._streak < STREAK:
            return {}
        last = self._last
        return {key: last[key] for key in tallies if key in last}

    def keep(self, before: int, position: int, marks: Mapping[UUID, Mark]) -> None:
        """Remember what a commit has found out that took the log from one position to another."""
        if before != self.position or len(self._last) > _MOST_REMEMBERED:
            self._last.clear()
        self._streak = self._streak + 1 if before == self.position else 0
        self._last.update(marks)
        self.position = position

    def trim(self) -> None:
        """Forget what is not worth its room."""
        if len(self.empty) > _MOST_REMEMBERED:
            self.empty.clear()
        if len(self.edges) > _MOST_EDGES:
            self.edges.clear()

    def doubt(self) -> None:
        """Rely on nothing that somebody else may have changed."""
        self._streak = 0


class Subject(Struct, frozen=True):
    """Whose tally it is, of what, and since which version of the rules it is kept."""

    owner_id: UUID
    what: str
    # Smaller amounts do not count.
    at_least: int
    # Amounts of different currencies do not add up.
    currency: str | None
    # A tally that was not kept for a while begins anew under another name.
    since: int

    @property
    def id(self) -> UUID:
        """The identifier of its tally."""
        return _identify(self)


@functools.lru_cache(maxsize=50_000)
def _identify(subject: Subject) -> UUID:
    said = f"{subject.what}/{subject.at_least}/{subject.currency}/{subject.since}"
    return of_bytes(uuid5(subject.owner_id, said).bytes)
