"""How arrivals are kept, and how what waits for one is found."""

from typing import Final
from uuid import UUID

from farthing.db.checks import Check
from farthing.db.pool import Pool
from farthing.db.tables import Table
from farthing.resources.arrivals.model import ArrivalRow

ARRIVALS: Final = Table("arrivals", ArrivalRow, rank=9)

CHECKS: Final = (
    Check(
        "Every arrival is in the books: its transaction has its amount and currency.",
        """
        SELECT a.tenant_id, a.id AS arrival_id, a.amount FROM arrivals AS a
        LEFT JOIN transactions AS t ON t.tenant_id = a.tenant_id AND t.id = a.transaction_id
        WHERE t.id IS NULL OR t.amount <> a.amount OR t.currency <> a.currency OR NOT t.settled
        """,
    ),
)

_WAITING: Final = """
SELECT id FROM transactions
WHERE tenant_id = $1 AND reference = $2 AND flow = 'INBOUND' AND NOT settled
  AND state_id IN ('PENDING', 'ACCEPTED', 'PROCESSING', 'HELD')
ORDER BY amount <> $3, id LIMIT 20
"""


async def find_waiting(pool: Pool, tenant_id: UUID, reference: str, amount: int) -> list[UUID]:
    """Return transactions that wait for this reference: first those of this amount, oldest first.

    Not all of them, because they are locked: enough that some still wait when they are.
    """
    records = await pool.fetch(_WAITING, tenant_id, reference, amount)
    return [record["id"] for record in records]
