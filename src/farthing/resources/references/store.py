"""How references are kept."""

from typing import Final
from uuid import UUID

from farthing.db.due import Due
from farthing.db.pool import Pool
from farthing.db.tables import ObjectTable
from farthing.resources.references import model
from farthing.resources.references.model import Reference

# The bare noun is a keyword of SQL.
REFERENCES: Final = ObjectTable(
    "payment_references", Reference, rank=30, machine=model.MACHINE, view=model.view
)

EXPIRING: Final = Due(REFERENCES, "expires_at", "state_id = 'ENABLED'")

_BY_TEXT: Final = f"{REFERENCES.select_sql} WHERE tenant_id = $1 AND text = $2"
_CURRENT: Final = (
    f"{REFERENCES.select_sql} WHERE tenant_id = $1 AND to_account_id = $2 AND state_id = 'ENABLED'"
)
# In the order of the index, so that PostgreSQL takes the newest from its end; it does not see by
# itself that a column that is null throughout makes no difference.
_NEWEST: Final = "ORDER BY from_customer_id DESC, id DESC LIMIT 1"
_CURRENT_OF_PAYER: Final = f"{_CURRENT} AND from_customer_id = $3 {_NEWEST}"
_CURRENT_OF_ANYBODY: Final = f"{_CURRENT} AND from_customer_id IS NULL {_NEWEST}"


async def find_current(
    pool: Pool, tenant_id: UUID, account_id: UUID, payer_id: UUID | None
) -> Reference | None:
    """Return the newest enabled reference to an account: the payer's own, or else anybody's."""
    record = None
    if payer_id is not None:
        record = await pool.fetchrow(_CURRENT_OF_PAYER, tenant_id, account_id, payer_id)
    if record is None:
        record = await pool.fetchrow(_CURRENT_OF_ANYBODY, tenant_id, account_id)
    return None if record is None else REFERENCES.read(record)


async def find_by_text(pool: Pool, tenant_id: UUID, text: str) -> Reference | None:
    """Return the reference that somebody wrote, in whatever state it is."""
    # Free text could hold what the database cannot even be asked for.
    if not model.is_reference(text):
        return None
    record = await pool.fetchrow(_BY_TEXT, tenant_id, model.normalise(text))
    return None if record is None else REFERENCES.read(record)
