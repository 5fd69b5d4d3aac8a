"""How tenants are kept, wiped and put back: all that belongs to one, table by table."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from msgspec import Struct

from farthing.db.pool import Pool

# Each table with rows of a tenant, and which of them are its own to lose. Keys stay with the tenant
# through every reset: those that open the service, and those that open card numbers.
PARTS: Final = {
    "customers": "true",
    "standings": "true",
    "accounts": "true",
    "balances": "true",
    "entries": "true",
    "history": "true",
    "events": "true",
    "idempotency": "true",
    "credentials": "customer_id IS NOT NULL",
    "bank_accounts": "true",
    "cards": "true",
    "challenges": "true",
    "vault.numbers": "true",
    "vault.sightings": "true",
    "transactions": "true",
    "orders": "true",
    "arrivals": "true",
    "payment_references": "true",
    "approvals": "true",
    "webhooks": "true",
    "webhook_cursors": "true",
    "webhook_tallies": "true",
    "deliveries": "true",
    "rules": "true",
    "alerts": "true",
    "backtests": "true",
    "tally_marks": "true",
    "sandbox_orders": "true",
    "sandbox_news": "true",
    "sandbox_moods": "true",
    "sandbox_faults": "true",
}
# What stays, and goes only with the tenant itself.
STAYS: Final = ("credentials", "vault.keys", "snapshots")

# Every batch needs this row to commit, so that nobody writes while it is held.
HOLD: Final = "SELECT 1 FROM event_heads WHERE tenant_id = $1 FOR UPDATE"

_FIND: Final = """
SELECT t.id, t.name, t.created_at FROM tenants AS t WHERE t.id = $1 AND t.deleted_at IS NULL
"""
_BEGIN_ANEW: Final = """
UPDATE event_heads SET floor = position, ahead = 0, rules = rules + 1, moved_at = $2
WHERE tenant_id = $1
"""
_GO_ON: Final = """
UPDATE event_heads AS h SET floor = h.position, ahead = s.ahead, rules = h.rules + 1,
    moved_at = (SELECT max(created_at) FROM events WHERE tenant_id = $1)
FROM snapshots AS s WHERE h.tenant_id = $1 AND s.tenant_id = $1 AND s.id = $2
"""
_LEAVE: Final = """
WITH gone AS (UPDATE tenants SET deleted_at = $2, name = '' WHERE id = $1)
UPDATE event_heads SET floor = position, ahead = -1 WHERE tenant_id = $1
"""


_DELETE: Final = "w{n} AS (DELETE FROM {table} WHERE tenant_id = $1 AND {condition})"
_ROWS: Final = """
'{table}', (
    SELECT coalesce(json_agg(t), '[]') FROM {table} AS t WHERE tenant_id = $1 AND {condition}
)
"""
_INSERT: Final = """
w{n} AS (
    INSERT INTO {table}
    SELECT r.* FROM kept, json_populate_recordset(NULL::{table}, kept.parts -> '{table}') AS r
)
"""


def _each(sentence: str, conditions: dict[str, str]) -> str:
    """Say it of all tables in one statement, whose foreign keys look at its end."""
    tables = enumerate(conditions.items())
    return ", ".join(
        sentence.format(n=n, table=table, condition=condition) for n, (table, condition) in tables
    )


_WIPE: Final = f"WITH {_each(_DELETE, PARTS)} SELECT"
_WIPE_REST: Final = f"WITH {_each(_DELETE, dict.fromkeys(STAYS, 'true'))} SELECT"
_KEEP: Final = f"""
INSERT INTO snapshots (tenant_id, id, created_at, ahead, parts)
SELECT $1, $2, $3, h.ahead, json_build_object({_each(_ROWS, PARTS)})
FROM event_heads AS h WHERE h.tenant_id = $1
"""  # noqa: S608 - our own names
_PUT_BACK: Final = f"""
WITH kept AS (SELECT parts FROM snapshots WHERE tenant_id = $1 AND id = $2),
{_each(_INSERT, PARTS)} SELECT
"""  # noqa: S608 - our own names

Statement = tuple[Any, ...]


class KnownTenant(Struct, frozen=True):
    """A tenant that was not thrown away."""

    id: UUID
    name: str
    created_at: datetime


async def find(pool: Pool, tenant_id: UUID) -> KnownTenant | None:
    """Return a tenant, if it is there."""
    record = await pool.fetchrow(_FIND, tenant_id)
    return None if record is None else KnownTenant(*record)


async def find_snapshots(pool: Pool, tenant_id: UUID) -> list[tuple[UUID, datetime]]:
    """Return what was kept of a tenant, the oldest first."""
    sql = "SELECT id, created_at FROM snapshots WHERE tenant_id = $1 ORDER BY id"
    return [(record[0], record[1]) for record in await pool.fetch(sql, tenant_id)]


async def count_events(pool: Pool, tenant_id: UUID) -> int:
    """Return how many events a tenant has, as a measure of all that it has."""
    return int(await pool.fetchval("SELECT count(*) FROM events WHERE tenant_id = $1", tenant_id))


def reset(tenant_id: UUID, now: datetime) -> Sequence[Statement]:
    """Forget everything but the tenant and its keys; the log goes on where it was."""
    return [(HOLD, tenant_id), (_WIPE, tenant_id), (_BEGIN_ANEW, tenant_id, now)]


def keep(tenant_id: UUID, snapshot_id: UUID, now: datetime) -> Sequence[Statement]:
    """Keep everything as it is."""
    return [(HOLD, tenant_id), (_KEEP, tenant_id, snapshot_id, now)]


def put_back(tenant_id: UUID, snapshot_id: UUID) -> Sequence[Statement]:
    """Forget everything, and put back what was kept; the log goes on where it was."""
    return [
        (HOLD, tenant_id),
        (_WIPE, tenant_id),
        (_PUT_BACK, tenant_id, snapshot_id),
        (_GO_ON, tenant_id, snapshot_id),
    ]


def delete(tenant_id: UUID, now: datetime) -> Sequence[Statement]:
    """Forget everything, keys included; what remains says that somebody was there."""
    return [
        (HOLD, tenant_id),
        (_WIPE, tenant_id),
        (_WIPE_REST, tenant_id),
        (_LEAVE, tenant_id, now),
    ]
