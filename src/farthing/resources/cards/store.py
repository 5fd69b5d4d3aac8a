"""How cards are kept."""

from typing import Final
from uuid import UUID

from farthing.db.due import Due
from farthing.db.pool import Pool
from farthing.db.tables import Beside, ObjectTable
from farthing.resources.cards import model
from farthing.resources.cards.model import Card
from farthing.resources.cards.vault import ROLE
from farthing.resources.customers.store import STANDINGS

CARDS: Final = ObjectTable(
    "cards",
    Card,
    rank=20,
    machine=model.MACHINE,
    view=model.view,
    beside=(Beside(STANDINGS, of=lambda card: card.owner_id),),
)

EXPIRING: Final = Due(CARDS, "expires_at", "state_id = 'ENABLED'")

_USES: Final = """
SELECT count(*) FILTER (WHERE owner_id = $3) AS by_owner, count(DISTINCT owner_id) AS owners
FROM vault.sightings WHERE tenant_id = $1 AND fingerprint = $2
"""


async def describe(pool: Pool, tenant_id: UUID, card_id: UUID) -> dict[str, str]:
    """Return what a cardholder is shown of a card."""
    sql = f"{CARDS.select_sql} WHERE tenant_id = $1 AND id = $2"
    record = await pool.fetchrow(sql, tenant_id, card_id)
    card = CARDS.read(record)
    return {"Card": f"{card.scheme} ending in {card.suffix}"}


async def count_uses(
    pool: Pool, tenant_id: UUID, fingerprint: bytes, owner_id: UUID
) -> tuple[int, int]:
    """Tell how often this customer gave this number, and how many customers did."""
    async with pool.acquire() as connection, connection.transaction(readonly=True):
        await connection.execute(f"SET LOCAL ROLE {ROLE}")
        record = await connection.fetchrow(_USES, tenant_id, fingerprint, owner_id)
    return (record["by_owner"], record["owners"]) if record else (0, 0)
