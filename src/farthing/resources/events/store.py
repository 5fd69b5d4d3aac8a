"""How events are read: by their position in the log of their tenant."""

from typing import Final
from uuid import UUID

from farthing.db.pool import Connection, Pool
from farthing.resources.events.model import Event

_COLUMNS: Final = ", ".join(Event.__struct_fields__)
_SELECT: Final = f"SELECT {_COLUMNS} FROM events WHERE tenant_id = $1"  # noqa: S608 - our own names


async def fetch_after(
    pool: Pool | Connection, tenant_id: UUID, position: int, most: int
) -> list[Event]:
    """Return the events after a position, at most so many, in their order."""
    sql = f"{_SELECT} AND position > $2 ORDER BY position LIMIT $3"
    return [Event(*record) for record in await pool.fetch(sql, tenant_id, position, most)]


async def find_head(pool: Pool | Connection, tenant_id: UUID) -> int:
    """Return the position of the last event; 0 if there is none."""
    sql = "SELECT position FROM event_heads WHERE tenant_id = $1"
    return int(await pool.fetchval(sql, tenant_id) or 0)
