"""How tenants and credentials are kept."""

import hmac
from datetime import datetime
from typing import Final
from uuid import UUID

from farthing.core.actors import Grant, Principal
from farthing.db.pool import Pool
from farthing.db.tables import AppendTable
from farthing.resources.access.model import Credential, Presented, Tenant
from farthing.resources.customers.model import MAY_SIGN_IN

TENANTS: Final = AppendTable("tenants", Tenant, rank=100)
CREDENTIALS: Final = AppendTable("credentials", Credential)

# A token counts only while its customer may sign in and its generation is the current one.
_FIND: Final = """
SELECT c.kind, c.digest, c.customer_id
FROM credentials AS c
LEFT JOIN customers AS p ON p.tenant_id = c.tenant_id AND p.id = c.customer_id
LEFT JOIN standings AS s ON s.tenant_id = c.tenant_id AND s.id = c.customer_id
WHERE c.tenant_id = $1 AND c.digest = $2
  AND (c.expires_at IS NULL OR c.expires_at > $3)
  AND (c.customer_id IS NULL
       OR (p.state_id = ANY($4::text[]) AND s.token_generation = c.generation))
"""
_TENANT_EXISTS: Final = "SELECT 1 FROM tenants WHERE id = $1 AND deleted_at IS NULL"
_TENANT_OF: Final = """
SELECT t.id FROM tenants AS t
WHERE t.deleted_at IS NULL
  AND EXISTS (SELECT 1 FROM {table} AS o WHERE o.tenant_id = t.id AND o.id = $1)
"""


async def find_principal(pool: Pool, shown: Presented, now: datetime) -> Principal | None:
    """Return whose credential this is, if it is valid now."""
    record = await pool.fetchrow(_FIND, shown.tenant_id, shown.digest, now, list(MAY_SIGN_IN))
    if record is None or not hmac.compare_digest(record["digest"], shown.digest):
        return None
    if record["kind"] != shown.kind:
        return None
    customer_id: UUID | None = record["customer_id"]
    return Principal(shown.tenant_id, _grant(shown, customer_id), customer_id)


async def tenant_exists(pool: Pool, tenant_id: UUID) -> bool:
    """Tell whether there is such a tenant."""
    return await pool.fetchval(_TENANT_EXISTS, tenant_id) is not None


async def find_tenant_of(pool: Pool, table: str, object_id: UUID) -> UUID | None:
    """Return the tenant to whom an object belongs: one look into each tenant's own index."""
    found: UUID | None = await pool.fetchval(_TENANT_OF.format(table=table), object_id)
    return found


def _grant(shown: Presented, customer_id: UUID | None) -> Grant:
    if shown.kind == "apiKey":
        return Grant.API_KEY
    if shown.kind == "operatorKey":
        return Grant.OPERATOR_KEY
    return Grant.CLIENT_TOKEN if customer_id == shown.tenant_id else Grant.CUSTOMER_TOKEN
