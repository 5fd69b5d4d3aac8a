"""How a payment finds what it must know before it can name what it needs."""

from typing import Final
from uuid import UUID

from msgspec import Struct

from farthing.db.pool import Pool

_SIDE: Final = """
SELECT a.currency, a.owner_id, s.preferred_card_id, s.preferred_bank_account_id
FROM accounts AS a
JOIN standings AS s ON s.tenant_id = a.tenant_id AND s.id = a.owner_id
WHERE a.tenant_id = $1 AND a.id = $2
"""


class Side(Struct, frozen=True):
    """The account of the platform that takes part in a payment with the outside."""

    currency: str
    owner_id: UUID
    preferred_card_id: UUID | None
    preferred_bank_account_id: UUID | None


async def find_side(pool: Pool, tenant_id: UUID, account_id: UUID) -> Side | None:
    """Return what is known of an account; the commit looks again."""
    record = await pool.fetchrow(_SIDE, tenant_id, account_id)
    return None if record is None else Side(*record)
