"""What falls due: rows that wait for a time, which each tenant's own clock says."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar
from uuid import UUID

from farthing.core.rows import VersionedRow
from farthing.db.pool import Pool
from farthing.db.tables import Table

V = TypeVar("V", bound=VersionedRow)


# The time of a tenant, where $1 is that of this machine.
_AHEAD: Final = "$1::timestamptz + h.ahead * interval '1 millisecond'"
_OWN_TIME: Final = f"""
(SELECT {_AHEAD} FROM event_heads AS h WHERE h.tenant_id = t.tenant_id)
"""


class Due(Generic[V]):
    """The rows of a table that wait for the time in one of their columns.

    The condition says which rows wait at all; in it `t` is the row, and `{now}` the tenant's time.
    Two indexes serve it: by the time for all tenants, and by tenant and time for those whose clock
    is ahead.
    """

    def __init__(self, table: Table[V], column: str, waiting: str) -> None:
        self._table = table
        columns = ", ".join(table.columns)

        def rows(now: str) -> str:
            return f"SELECT {columns} FROM {table.name} AS t WHERE {waiting.format(now=now)}"

        order = f"ORDER BY {column}, id LIMIT"
        # What is due by the machine's clock is due by every tenant's.
        self._find_sql = f"""
        ({rows(_OWN_TIME)} AND {column} <= $1 {order} $2)
        UNION ALL
        (SELECT late.* FROM event_heads AS h CROSS JOIN LATERAL (
             {rows(_AHEAD)} AND t.tenant_id = h.tenant_id AND {column} > $1
             AND {column} <= {_AHEAD} {order} $2
         ) AS late WHERE h.ahead > 0 LIMIT $2)
        """
        self._find_of_sql = f"{rows('$2')} AND tenant_id = $1 AND {column} <= $2 {order} $3"
        self._next_sql = (
            f"SELECT {column} FROM {table.name} AS t "
            f"WHERE {waiting.format(now=column)} AND tenant_id = $1 "
            f"AND {column} > $2 {order} 1"
        )

    async def find(self, pool: Pool, now: datetime, most: int) -> list[V]:
        """Return what is due when this machine has this time, each tenant by its own clock."""
        return [self._table.read(one) for one in await pool.fetch(self._find_sql, now, most)]

    async def find_of(self, pool: Pool, tenant_id: UUID, until: datetime, most: int) -> list[V]:
        """Return what of one tenant is due at a moment of its own time, the earliest first."""
        records = await pool.fetch(self._find_of_sql, tenant_id, until, most)
        return [self._table.read(one) for one in records]

    async def next_of(self, pool: Pool, tenant_id: UUID, after: datetime) -> datetime | None:
        """Return when something of one tenant falls due next."""
        found: datetime | None = await pool.fetchval(self._next_sql, tenant_id, after)
        return found


# Does what is due now, for all tenants.
Run = Callable[[], Awaitable[None]]
# Says when something of one tenant falls due after a moment, if anything does.
NextOf = Callable[[UUID, datetime], Awaitable[datetime | None]]
# Does what of one tenant is due at a moment of its own time, and tells whether there may be more.
RunOf = Callable[[UUID, datetime], Awaitable[bool]]


@dataclass(frozen=True)
class Source:
    """Something that falls due again and again, for all tenants and for each of them."""

    name: str
    # How often the worker looks.
    every: timedelta
    run: Run
    next_of: NextOf
    run_of: RunOf
