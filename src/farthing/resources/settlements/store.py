"""What must hold between orders, transactions and cards, and how an order is found again."""

from typing import Final
from uuid import UUID

from msgspec import Struct

from farthing.core.money import say_major
from farthing.db.checks import Check
from farthing.db.pool import Pool

CHECKS: Final = (
    Check(
        "Every card that may be charged has its number, and one that is used up has none.",
        """
        SELECT coalesce(c.tenant_id, n.tenant_id) AS tenant_id, coalesce(c.id, n.id) AS card_id,
               c.state_id
        FROM cards AS c
        FULL JOIN vault.numbers AS n ON n.tenant_id = c.tenant_id AND n.id = c.id
        WHERE c.id IS NULL
           OR (n.id IS NULL AND NOT (c.used OR c.state_id IN ('FAILED', 'CLOSED')))
           OR (n.id IS NOT NULL AND c.state_id IN ('FAILED', 'CLOSED'))
           OR (n.id IS NOT NULL AND c.used AND NOT EXISTS (
                  SELECT 1 FROM transactions AS t
                  JOIN orders AS o ON o.tenant_id = t.tenant_id AND o.id = t.order_id
                  WHERE t.tenant_id = c.tenant_id AND t.instrument_id = c.id
                    AND o.status NOT IN ('done', 'refused', 'recalled')))
        """,
    ),
)

# The transaction for which an order was placed, or the later one that has its money in suspense.
_OF_ORDER: Final = """
WITH found AS (
    SELECT t.id, t.state_id, t.currency, t.version FROM orders AS o
    JOIN transactions AS t ON t.tenant_id = o.tenant_id AND t.id = o.transaction_id
    WHERE o.tenant_id = $1 AND o.id = $2
    UNION
    SELECT id, state_id, currency, version FROM transactions
    WHERE tenant_id = $1 AND order_id = $2 AND flow = 'INBOUND' AND method = 'bankAccount'
)
SELECT *, EXISTS (
    SELECT 1 FROM orders AS o JOIN found ON found.id = o.transaction_id
    WHERE o.tenant_id = $1 AND o.status NOT IN ('done', 'refused', 'recalled')
) FROM found ORDER BY id DESC LIMIT 1
"""
_SHOWN: Final = """
SELECT t.amount, t.currency, c.scheme, c.suffix FROM transactions AS t
JOIN cards AS c ON c.tenant_id = t.tenant_id AND c.id = t.instrument_id
WHERE t.tenant_id = $1 AND t.id = $2
"""


class Paid(Struct, frozen=True):
    """The transaction that has the money of an order, and whether a rail is busy with it."""

    transaction_id: UUID
    state_id: str
    currency: str
    version: int
    is_under_way: bool


async def find_transaction_of(pool: Pool, tenant_id: UUID, order_id: UUID) -> Paid | None:
    """Return the transaction that has the money of an order."""
    record = await pool.fetchrow(_OF_ORDER, tenant_id, order_id)
    return None if record is None else Paid(*record)


async def describe(pool: Pool, tenant_id: UUID, transaction_id: UUID) -> dict[str, str]:
    """Return what a cardholder is shown of a payment."""
    record = await pool.fetchrow(_SHOWN, tenant_id, transaction_id)
    if record is None:
        raise LookupError("a challenge without a transaction")
    amount = say_major(record["amount"], record["currency"])
    return {"Amount": amount, "Card": f"{record['scheme']} ending in {record['suffix']}"}
