"""How the sandbox's rail behaves towards one tenant for a while, kept so that all processes see it.

A mood is about orders: sending, recalling and asking. It ends at a time, after so many requests, or
when another takes its place. Beside it, the next so many orders can be refused.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

import msgspec
from msgspec import Struct

from farthing.core.rows import VersionedRow
from farthing.db.commands import Command, Need
from farthing.db.draft import Draft
from farthing.db.pool import Pool
from farthing.db.tables import Table

Mood = Literal["normal", "slow", "down", "forgetful"]

MOODS_IN_WORDS: Final[dict[Mood, str]] = {
    "normal": "The rail is as always.",
    "slow": "It does what it is told, and answers some seconds later.",
    "down": "It answers nothing and tells nothing: a payment is ERRORED until somebody knows more.",
    "forgetful": "It takes an order and then never heard of it, so that the order is sent again.",
}


class MoodRow(VersionedRow, frozen=True):
    """The mood of a tenant's rail as it is kept."""

    mood: str
    seconds: int
    until: datetime | None
    requests: int | None
    # How many orders are still refused.
    refusals: int | None

    def is_over(self, now: datetime) -> bool:
        """Tell whether the rail is as always again."""
        is_late = self.until is not None and self.until <= now
        return self.mood == "normal" or is_late or self.requests == 0


class Feeling(Struct, frozen=True):
    """The mood of one moment."""

    mood: str = "normal"
    seconds: int = 0
    until: datetime | None = None
    requests: int | None = None
    refusals: int | None = None


NORMAL: Final = Feeling()
# In these moods an order is not even heard, so that it cannot be refused.
_DEAF: Final = ("down", "forgetful")
MOODS: Final = Table("sandbox_moods", MoodRow, rank=98)

_FIND: Final = f"{MOODS.select_sql} WHERE tenant_id = $1 AND id = $1"
# Nobody hears from a rail that is down.
NOT_DOWN: Final = """
NOT EXISTS (
    SELECT 1 FROM sandbox_moods AS m
    WHERE m.tenant_id = t.tenant_id AND m.mood = 'down'
      AND (m.until IS NULL OR m.until > {now}) AND (m.requests IS NULL OR m.requests > 0)
)
"""

_calm: ContextVar[bool] = ContextVar("calm", default=False)


@contextmanager
def calm() -> Iterator[None]:
    """Let the rail be as always to whoever asks within: what a control says happens."""
    token = _calm.set(True)
    try:
        yield
    finally:
        _calm.reset(token)


async def find(pool: Pool, tenant_id: UUID, now: datetime) -> Feeling:
    """Return the mood that a tenant's rail is in."""
    record = None if _calm.get() else await pool.fetchrow(_FIND, tenant_id)
    return _felt(None if record is None else MOODS.read(record), now)


def change(
    tenant_id: UUID,
    mood: Mood,
    seconds: int,
    lasting: timedelta | None,
    requests: int | None,
    refusals: int | None,
) -> Command:
    """Put the rail of a tenant into a mood."""

    def decide(draft: Draft) -> Feeling:
        until = None if lasting is None else draft.now + lasting
        old = draft.find(MOODS, tenant_id)
        row = MoodRow(tenant_id, tenant_id, 1, mood, seconds, until, requests, refusals)
        if old is None:
            draft.insert(MOODS, row)
        else:
            draft.update(MOODS, msgspec.structs.replace(row, version=old.version))
        return _felt(row, draft.now)

    return Command(decide, needs=[Need(MOODS, tenant_id)])


def spend(tenant_id: UUID, *, is_order: bool) -> Command:
    """Count a request, and return the mood in which it is answered."""

    def decide(draft: Draft) -> Feeling:
        row = draft.find(MOODS, tenant_id)
        felt = _felt(row, draft.now)
        requests, refusals = felt.requests, felt.refusals
        if requests is not None:
            requests -= 1
        if refusals is not None and is_order and felt.mood not in _DEAF:
            refusals = refusals - 1 or None
        if row is not None and (requests, refusals) != (felt.requests, felt.refusals):
            changes = {} if requests is None else {"requests": requests}
            draft.update(MOODS, msgspec.structs.replace(row, refusals=refusals, **changes))
        return felt

    return Command(decide, needs=[Need(MOODS, tenant_id)])


def _felt(row: MoodRow | None, now: datetime) -> Feeling:
    if row is None:
        return NORMAL
    if row.is_over(now):
        return Feeling(refusals=row.refusals)
    return Feeling(row.mood, row.seconds, row.until, row.requests, row.refusals)
