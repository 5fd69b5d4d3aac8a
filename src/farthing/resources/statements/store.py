"""How a statement is found in the ledger: by time, without an index on time."""

from datetime import datetime
from typing import Final
from uuid import UUID

from farthing.db.pool import Pool
from farthing.resources.statements.model import MOST_ENTRIES, Booked, Period

# The entries of one account never go back in time, so the last one before a moment is found by
# halving the range of numbers: all up to `low` are before it, none above `high` is. Lateral, so
# that every plan looks each number up.
_ENDS_SQL: Final = """
WITH RECURSIVE search (moment, low, high) AS (
    SELECT moment, 0::bigint, b.version
    FROM unnest($3::timestamptz[]) AS moment
    JOIN balances AS b ON b.tenant_id = $1 AND b.id = $2
    UNION ALL
    SELECT s.moment,
           CASE WHEN e.is_before THEN s.middle ELSE s.low END,
           CASE WHEN e.is_before THEN s.high ELSE s.middle - 1 END
    FROM (SELECT *, (low + high + 1) / 2 AS middle FROM search WHERE low < high) AS s
    CROSS JOIN LATERAL (
        SELECT created_at < s.moment AS is_before FROM entries
        WHERE tenant_id = $1 AND account_id = $2 AND number = s.middle LIMIT 1
    ) AS e
)
SELECT s.low AS number, coalesce(e.complete_after, 0) AS balance
FROM search AS s
LEFT JOIN LATERAL (
    SELECT complete_after FROM entries
    WHERE tenant_id = $1 AND account_id = $2 AND number = s.low LIMIT 1
) AS e ON true
WHERE s.low = s.high ORDER BY s.moment
"""

# What is only announced, withheld or disputed changes no booked balance.
_ENTRIES_SQL: Final = """
SELECT number, created_at, subject_id, effect, complete, complete_after FROM entries
WHERE tenant_id = $1 AND account_id = $2 AND number > $3 AND number <= $4 AND complete <> 0
ORDER BY number LIMIT $5
"""


async def fetch_period(
    pool: Pool, tenant_id: UUID, account_id: UUID, begin: datetime, end: datetime
) -> Period:
    """Read, in one snapshot, what was booked from one moment until before another.

    One entry more than a statement may have is enough to see that there are too many.
    """
    key = (tenant_id, account_id)
    async with (
        pool.acquire() as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        first, last = await connection.fetch(_ENDS_SQL, *key, [begin, end])
        numbers = (first["number"], last["number"])
        records = await connection.fetch(_ENTRIES_SQL, *key, *numbers, MOST_ENTRIES + 1)
    return Period(first["balance"], last["balance"], [Booked(*record) for record in records])
