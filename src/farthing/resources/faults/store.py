"""How faults are kept."""

from typing import Final
from uuid import UUID

from farthing.db.pool import Pool
from farthing.db.tables import Table
from farthing.resources.faults.model import OF_DELIVERIES, Fault

FAULTS: Final = Table("sandbox_faults", Fault, rank=98)

_ARMED: Final = f"{FAULTS.select_sql} WHERE tenant_id = $1 ORDER BY created_at, kind"


async def find_armed(pool: Pool, tenant_id: UUID) -> list[Fault]:
    """Return every fault of a tenant that is armed, the oldest first."""
    return [FAULTS.read(record) for record in await pool.fetch(_ARMED, tenant_id)]


async def find_mischievous(pool: Pool) -> frozenset[UUID]:
    """Return the tenants that have armed something against their deliveries."""
    sql = "SELECT DISTINCT tenant_id FROM sandbox_faults WHERE kind = ANY($1::text[])"
    return frozenset(record[0] for record in await pool.fetch(sql, list(OF_DELIVERIES)))
