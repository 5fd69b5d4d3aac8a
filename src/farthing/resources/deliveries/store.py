"""How deliveries are kept, and which of them are to be sent."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from farthing.db.checks import Check
from farthing.db.pool import Pool
from farthing.db.tables import Table
from farthing.resources.deliveries.model import Delivery
from farthing.resources.events import store as events
from farthing.resources.events.model import Event
from farthing.resources.webhooks.model import Cursor, Webhook
from farthing.resources.webhooks.store import CURSORS, WEBHOOKS

DELIVERIES: Final = Table("deliveries", Delivery, rank=1)

CHECKS: Final = (
    Check(
        "Every delivery is of an event, and was numbered by its webhook.",
        """
        SELECT d.tenant_id, d.id, d.webhook_id, d.number, d.position
        FROM deliveries AS d
        JOIN webhook_cursors AS c ON c.tenant_id = d.tenant_id AND c.id = d.webhook_id
        LEFT JOIN events AS e ON e.tenant_id = d.tenant_id AND e.position = d.position
        WHERE e.position IS NULL OR d.number > c.deliveries
        """,
    ),
)


def _columns(table: Table[Webhook] | Table[Cursor] | Table[Delivery], short: str) -> str:
    return ", ".join(f"{short}.{name}" for name in table.columns)


_ACTIVE: Final = "w.state_id IN ('ENABLED', 'FAILING')"
_BEHIND: Final = f"""
SELECT {_columns(WEBHOOKS, "w")}, {_columns(CURSORS, "c")}
FROM webhooks AS w
JOIN webhook_cursors AS c ON c.tenant_id = w.tenant_id AND c.id = w.id
JOIN event_heads AS h ON h.tenant_id = w.tenant_id
WHERE {_ACTIVE} AND c.position < h.position AND w.id <> ALL($1::uuid[])
"""  # noqa: S608 - our own names
# The earlier ones of the same object come first, in whatever state of waiting they are.
_FIRST: Final = """
one.tenant_id = w.tenant_id AND one.webhook_id = w.id AND one.status = 'waiting' AND NOT EXISTS (
    SELECT 1 FROM deliveries AS earlier
    WHERE earlier.tenant_id = one.tenant_id AND earlier.webhook_id = one.webhook_id
      AND earlier.object_id = one.object_id AND earlier.status = 'waiting'
      AND earlier.number < one.number
)
"""
# What is due by the tenant's clock, and what was claimed by somebody who has not come back.
_DUE: Final = f"""
SELECT {_columns(WEBHOOKS, "w")}, {_columns(DELIVERIES, "d")}
FROM webhooks AS w JOIN event_heads AS h ON h.tenant_id = w.tenant_id CROSS JOIN LATERAL (
    (SELECT * FROM deliveries AS one
     WHERE {_FIRST} AND one.due_at <= $1::timestamptz + h.ahead * interval '1 millisecond'
     ORDER BY one.due_at LIMIT $2)
    UNION ALL
    (SELECT * FROM deliveries AS one WHERE {_FIRST} AND one.claimed_until <= $1 LIMIT $2)
) AS d
WHERE {_ACTIVE} AND w.id <> ALL($3::uuid[])
"""  # noqa: S608 - our own names
_DUE_OF: Final = f"{_DUE} AND w.tenant_id = $4"
_NEXT: Final = f"""
SELECT min(one.due_at) FROM webhooks AS w JOIN deliveries AS one ON {_FIRST}
WHERE {_ACTIVE} AND w.tenant_id = $1 AND one.due_at > $2
"""  # noqa: S608 - our own names
# Somebody has claimed it, or the one before it has just ended and it is woken at this moment.
_UNDER_WAY: Final = f"""
SELECT EXISTS (
    SELECT 1 FROM webhooks AS w JOIN deliveries AS one ON {_FIRST}
    WHERE {_ACTIVE} AND w.tenant_id = $1 AND one.due_at IS NULL
      AND coalesce(one.claimed_until > $2, TRUE)
)
"""  # noqa: S608 - our own names
_IN_LINE: Final = """
SELECT DISTINCT object_id FROM deliveries
WHERE tenant_id = $1 AND webhook_id = $2 AND object_id = ANY($3::uuid[]) AND status = 'waiting'
"""
# The first of each of these lines becomes due, unless it has its time or is claimed already.
WAKE: Final = """
UPDATE deliveries AS d SET due_at = $4, version = d.version + 1
FROM (
    SELECT first.id FROM unnest($2::uuid[], $3::uuid[]) AS line (webhook_id, object_id)
    CROSS JOIN LATERAL (
        SELECT id FROM deliveries AS one
        WHERE one.tenant_id = $1 AND one.webhook_id = line.webhook_id
          AND one.object_id = line.object_id AND one.status = 'waiting'
        ORDER BY one.number LIMIT 1
    ) AS first
) AS found
WHERE d.tenant_id = $1 AND d.id = found.id AND d.status = 'waiting' AND d.due_at IS NULL
  AND d.claimed_until IS NULL
"""
# The same for every line: a process may have died between a commit and the waking.
WAKE_ALL: Final = """
UPDATE deliveries AS d SET due_at = $1, version = d.version + 1
WHERE d.status = 'waiting' AND d.due_at IS NULL AND d.claimed_until IS NULL AND NOT EXISTS (
    SELECT 1 FROM deliveries AS earlier
    WHERE earlier.tenant_id = d.tenant_id AND earlier.webhook_id = d.webhook_id
      AND earlier.object_id = d.object_id AND earlier.status = 'waiting'
      AND earlier.number < d.number
)
"""
_EVENTS: Final = f"""
SELECT {", ".join(Event.__struct_fields__)} FROM events
WHERE tenant_id = $1 AND position = ANY($2::bigint[])
"""  # noqa: S608 - our own names
_FIND: Final = f"{DELIVERIES.select_sql} WHERE tenant_id = $1 AND webhook_id = $2 AND id = $3"
_PAGE: Final = f"""
{DELIVERIES.select_sql} WHERE tenant_id = $1 AND webhook_id = $2
AND ($3::uuid IS NULL OR id < $3) AND ($4::text IS NULL OR status = $4)
ORDER BY id DESC LIMIT $5
"""


async def find_behind(pool: Pool, full: Iterable[UUID]) -> list[tuple[Webhook, Cursor]]:
    """Return the active webhooks for which there are new events, but not those that are full."""
    records = await pool.fetch(_BEHIND, list(full))
    width = len(WEBHOOKS.columns)
    return [(WEBHOOKS.read(one[:width]), CURSORS.read(one[width:])) for one in records]


async def find_due(
    pool: Pool, now: datetime, most: int, full: Iterable[UUID]
) -> list[tuple[Webhook, Delivery]]:
    """Return what is to be sent when this machine has this time, each tenant by its own clock."""
    records = await pool.fetch(_DUE, now, most, list(full))
    width = len(WEBHOOKS.columns)
    return [(WEBHOOKS.read(one[:width]), DELIVERIES.read(one[width:])) for one in records]


async def find_due_of(
    pool: Pool, tenant_id: UUID, now: datetime, most: int
) -> list[tuple[Webhook, Delivery]]:
    """Return what is to be sent of one tenant when this machine has this time."""
    records = await pool.fetch(_DUE_OF, now, most, [], tenant_id)
    width = len(WEBHOOKS.columns)
    return [(WEBHOOKS.read(one[:width]), DELIVERIES.read(one[width:])) for one in records]


async def find_next(pool: Pool, tenant_id: UUID, after: datetime) -> datetime | None:
    """Return when a delivery of a tenant falls due next."""
    found: datetime | None = await pool.fetchval(_NEXT, tenant_id, after)
    return found


async def is_under_way(pool: Pool, tenant_id: UUID, now: datetime) -> bool:
    """Tell whether anybody sends something of a tenant when this machine has this time."""
    return bool(await pool.fetchval(_UNDER_WAY, tenant_id, now))


async def find_in_line(pool: Pool, webhook: Webhook, objects: Iterable[UUID]) -> set[UUID]:
    """Return those of these objects of which something waits to be delivered."""
    records = await pool.fetch(_IN_LINE, webhook.tenant_id, webhook.id, list(objects))
    return {record[0] for record in records}


async def fetch_events(pool: Pool, tenant_id: UUID, positions: Sequence[int]) -> dict[int, Event]:
    """Return events by their positions."""
    records = await pool.fetch(_EVENTS, tenant_id, positions)
    found = [Event(*record) for record in records]
    return {event.position: event for event in found}


async def find_delivery(
    pool: Pool, tenant_id: UUID, webhook_id: UUID, delivery_id: UUID
) -> Delivery | None:
    """Return a delivery of a webhook, if there is one."""
    record = await pool.fetchrow(_FIND, tenant_id, webhook_id, delivery_id)
    return None if record is None else DELIVERIES.read(record)


async def fetch_deliveries(
    pool: Pool, webhook: Webhook, before: UUID | None, status: str | None, most: int
) -> list[Delivery]:
    """Return deliveries of a webhook, the newest first."""
    records = await pool.fetch(_PAGE, webhook.tenant_id, webhook.id, before, status, most)
    return [DELIVERIES.read(record) for record in records]


async def find_first_since(pool: Pool, tenant_id: UUID, since: datetime) -> int | None:
    """Return the position of the first event at a time or later."""
    before = await events.find_last_before(pool, tenant_id, since)
    found = await events.fetch_after(pool, tenant_id, before, 1)
    return found[0].position if found else None
