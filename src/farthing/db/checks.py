"""Checks: questions to the database whose every answer is a discrepancy."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

import asyncpg
from msgspec import Struct

from farthing.db.tables import SCHEMA, ObjectTable


class Check(Struct, frozen=True):
    """A sentence that must be true, and the SQL that returns whatever contradicts it."""

    sentence: str
    sql: str


class Finding(Struct, frozen=True):
    """What one check found; nothing is good."""

    check: Check
    discrepancies: list[dict[str, Any]]


LOG_CHECKS: Final = (
    Check(
        "Every log is numbered without a gap, up to its head.",
        """
        SELECT coalesce(h.tenant_id, e.tenant_id) AS tenant_id, h.position AS head, h.floor,
               e.first, e.last, e.events
        FROM event_heads AS h FULL JOIN (
            SELECT e.tenant_id, min(e.position) AS first, max(e.position) AS last,
                   count(*) AS events
            FROM events AS e LEFT JOIN event_heads AS f ON f.tenant_id = e.tenant_id
            WHERE f.floor IS NULL OR e.position > f.floor
            GROUP BY e.tenant_id
        ) AS e ON e.tenant_id = h.tenant_id
        WHERE coalesce(e.events, 0) IS DISTINCT FROM h.position - h.floor
           OR e.events > 0 AND (e.first, e.last) IS DISTINCT FROM (h.floor + 1, h.position)
        """,
    ),
    Check(
        "No event is dated before the one that it follows, nor its log before it.",
        """
        SELECT * FROM (
            SELECT e.tenant_id, e.position, e.created_at, coalesce(
                       lead(e.created_at) OVER (PARTITION BY e.tenant_id ORDER BY e.position),
                       h.moved_at
                   ) AS later
            FROM events AS e LEFT JOIN event_heads AS h ON h.tenant_id = e.tenant_id
        ) AS times WHERE created_at > later
        """,
    ),
)


def object_checks(table: ObjectTable[Any]) -> tuple[Check, ...]:
    """Return what must hold between objects, their history and their events."""
    name, noun = table.name, table.noun
    return (
        Check(
            f"Every {noun} is in the state to which its history leads.",
            f"""
            SELECT o.tenant_id, o.id, o.state_id, h.target AS history_says
            FROM {name} AS o LEFT JOIN LATERAL (
                SELECT target FROM history AS h
                WHERE h.tenant_id = o.tenant_id AND h.object_id = o.id
                ORDER BY version DESC LIMIT 1
            ) AS h ON true
            WHERE h.target IS DISTINCT FROM o.state_id
            """,
        ),
        Check(
            f"Every step of a {noun} begins where the one before it ended.",
            f"""
            SELECT * FROM (
                SELECT tenant_id, object_id, version, source,
                       lag(target) OVER (PARTITION BY tenant_id, object_id ORDER BY version)
                           AS ended_in
                FROM history WHERE machine = '{noun}'
            ) AS steps WHERE source IS DISTINCT FROM ended_in
            """,
        ),
        Check(
            f"Every version of every {noun} has its event.",
            f"""
            SELECT o.tenant_id, o.id, o.version, count(e.position) AS events
            FROM {name} AS o
            LEFT JOIN events AS e ON e.tenant_id = o.tenant_id AND e.object_id = o.id
            GROUP BY o.tenant_id, o.id, o.version
            HAVING count(e.position) <> o.version OR max(e.object_version) <> o.version
            """,
        ),
    )


async def run_checks(url: str, checks: Sequence[Check], most: int) -> AsyncIterator[Finding]:
    """Ask every question in one snapshot, while the service goes on; stop at `most` each."""
    connection = await asyncpg.connect(url, timeout=10)
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            await connection.execute(
                f"SET LOCAL search_path = {SCHEMA}; SET LOCAL statement_timeout = 0"
            )
            for check in checks:
                records = await connection.fetch(f"{check.sql} LIMIT {most}")
                yield Finding(check, [dict(record) for record in records])
    finally:
        await connection.close()
