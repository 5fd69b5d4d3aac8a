"""How advances of one clock are kept apart: one at a time, in all processes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from uuid import UUID

import asyncpg

from farthing.core.errors import Unavailable
from farthing.db.pool import Pool

# The end of the transaction gives it back, whatever happens to this process.
_ALONE: Final = "SELECT pg_advisory_xact_lock(hashtextextended('clock ' || $1, 0))"
_MAY_REST: Final = "SET LOCAL idle_in_transaction_session_timeout = 0"


@asynccontextmanager
async def alone(pool: Pool, tenant_id: UUID) -> AsyncIterator[None]:
    """Be the only one who advances a tenant's clock."""
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute(_MAY_REST)
        try:
            await connection.execute(_ALONE, str(tenant_id))
        except asyncpg.LockNotAvailableError:
            raise Unavailable("This clock is being moved already. Repeat in a moment.") from None
        yield
