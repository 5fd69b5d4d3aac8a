"""How orders are kept."""

from typing import Final
from uuid import UUID

from farthing.db.checks import Check
from farthing.db.due import Due
from farthing.db.pool import Pool
from farthing.db.tables import Table
from farthing.resources.orders.model import OrderRow

ORDERS: Final = Table("orders", OrderRow, rank=12)
DUE: Final = Due(ORDERS, "due_at", "due_at IS NOT NULL")

CHECKS: Final = (
    Check(
        "Every order has its transaction, and none that is in flight is forgotten.",
        """
        SELECT o.tenant_id, o.id AS order_id, o.status, t.state_id
        FROM orders AS o
        LEFT JOIN transactions AS t ON t.tenant_id = o.tenant_id AND t.id = o.transaction_id
        WHERE t.id IS NULL
           OR (o.status IN ('sent', 'pending', 'unknown', 'approved') AND o.due_at IS NULL)
           OR (o.status IN ('done', 'refused', 'recalled') AND o.due_at IS NOT NULL)
        """,
    ),
)

_FIND: Final = f"{ORDERS.select_sql} WHERE tenant_id = $1 AND id = $2"


async def find(pool: Pool, tenant_id: UUID, order_id: UUID) -> OrderRow | None:
    """Return an order, if there is one."""
    record = await pool.fetchrow(_FIND, tenant_id, order_id)
    return None if record is None else ORDERS.read(record)
