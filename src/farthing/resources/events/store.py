"""How events are read: by their position in the log of their tenant."""

from datetime import datetime
from typing import Final
from uuid import UUID

from msgspec import Struct

from farthing.db.pool import Connection, Pool
from farthing.resources.events.model import Event

# How much of a log one request looks through at the most.
MOST_LOOKED_THROUGH: Final = 5_000

_COLUMNS: Final = ", ".join(Event.__struct_fields__)
_SELECT: Final = f"SELECT {_COLUMNS} FROM events WHERE tenant_id = $1"  # noqa: S608 - our own names
_OF_TYPES: Final = "($2::text[] IS NULL OR type = ANY($2))"
_WITHIN: Final = (
    f"{_SELECT} AND {_OF_TYPES} AND position > $3 AND position <= $4 ORDER BY position LIMIT $5"
)
# In the order of the index; an object's versions and their positions grow together.
_OF_OBJECT: Final = (
    f"{_SELECT} AND {_OF_TYPES} AND position > $3 AND position <= $4 "
    "AND object_id = $6 AND noun = $7 ORDER BY object_version LIMIT $5"
)
_ONE: Final = f"{_SELECT} AND position = $2"
# The log never goes back in time, so that halving it finds the last position before a time. Where a
# tenant was reset there may be a gap, and then the next event after the middle tells.
_LAST_BEFORE: Final = """
WITH RECURSIVE halves (low, high) AS (
    SELECT 0::bigint, position + 1 FROM event_heads WHERE tenant_id = $1
    UNION ALL
    SELECT CASE WHEN e.created_at < $2 THEN e.position ELSE low END,
           CASE WHEN e.created_at < $2 THEN high ELSE (low + high) / 2 END
    FROM halves LEFT JOIN LATERAL (
        SELECT position, created_at FROM events
        WHERE tenant_id = $1 AND position >= (low + high) / 2 AND position < high
        ORDER BY position LIMIT 1
    ) AS e ON true
    WHERE high - low > 1
)
SELECT max(low) FROM halves
"""


class Wanted(Struct, frozen=True, kw_only=True):
    """Which events somebody wants to read: of which types, and of which object."""

    types: list[str] | None = None
    noun: str | None = None
    object_id: UUID | None = None


async def fetch_after(
    pool: Pool | Connection, tenant_id: UUID, position: int, most: int
) -> list[Event]:
    """Return the events after a position, at most so many, in their order."""
    sql = f"{_SELECT} AND position > $2 ORDER BY position LIMIT $3"
    return [Event(*record) for record in await pool.fetch(sql, tenant_id, position, most)]


async def fetch_within(
    pool: Pool, tenant_id: UUID, wanted: Wanted, after: int, last: int, most: int
) -> tuple[list[Event], int]:
    """Return wanted events after one position up to another, and up to where was looked."""
    if wanted.object_id is not None:
        of_object = (wanted.object_id, wanted.noun)
        records = await pool.fetch(
            _OF_OBJECT, tenant_id, wanted.types, after, last, most, *of_object
        )
    else:
        last = min(last, after + MOST_LOOKED_THROUGH)
        records = await pool.fetch(_WITHIN, tenant_id, wanted.types, after, last, most)
    events = [Event(*record) for record in records]
    return events, events[-1].position if len(events) == most else last


async def find(pool: Pool, tenant_id: UUID, position: int) -> Event | None:
    """Return the event at a position."""
    record = await pool.fetchrow(_ONE, tenant_id, position)
    return None if record is None else Event(*record)


async def find_head(pool: Pool | Connection, tenant_id: UUID) -> int:
    """Return the position of the last event; 0 if there is none."""
    sql = "SELECT position FROM event_heads WHERE tenant_id = $1"
    return int(await pool.fetchval(sql, tenant_id) or 0)


async def find_last_before(pool: Pool, tenant_id: UUID, moment: datetime) -> int:
    """Return the position of the last event before a time; 0 if there is none."""
    return int(await pool.fetchval(_LAST_BEFORE, tenant_id, moment) or 0)
