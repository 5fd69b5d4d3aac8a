"""How challenges are kept."""

from typing import Final
from uuid import UUID

from farthing.db.due import Due
from farthing.db.pool import Pool
from farthing.db.tables import Table
from farthing.resources.challenges.model import ChallengeRow

CHALLENGES: Final = Table("challenges", ChallengeRow, rank=5)
EXPIRING: Final = Due(CHALLENGES, "expires_at", "outcome IS NULL")

_FIND: Final = f"{CHALLENGES.select_sql} WHERE tenant_id = $1 AND id = $2"
_MERCHANT: Final = "SELECT name FROM tenants WHERE id = $1"


async def find(pool: Pool, tenant_id: UUID, challenge_id: UUID) -> ChallengeRow | None:
    """Return a challenge, if there is one."""
    record = await pool.fetchrow(_FIND, tenant_id, challenge_id)
    return None if record is None else CHALLENGES.read(record)


async def find_merchant(pool: Pool, tenant_id: UUID) -> str:
    """Return the name that the cardholder knows."""
    return str(await pool.fetchval(_MERCHANT, tenant_id))
