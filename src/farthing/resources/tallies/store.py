"""How tallies are kept, and how they begin with what was there before anybody counted."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

from farthing.db.checks import Check
from farthing.db.pool import Connection
from farthing.db.tables import AppendTable, Table
from farthing.resources.tallies.model import LONGEST, Mark, Subject, Tally

# Locked last, because those of busy customers are wanted by many.
TALLIES: Final = Table("tallies", Tally, rank=95)
MARKS: Final = AppendTable("tally_marks", Mark)

CHECKS: Final = (
    Check(
        "Every tally has a mark for each that it counts and has not forgotten.",
        """
        SELECT t.tenant_id, t.id, t.count, t.total, m.first, m.marks
        FROM tallies AS t JOIN (
            SELECT tenant_id, tally_id, min(count) AS first, max(count) AS last,
                   count(*) AS marks
            FROM tally_marks GROUP BY tenant_id, tally_id
        ) AS m ON m.tenant_id = t.tenant_id AND m.tally_id = t.id
        WHERE m.last <> t.count - 1 OR m.marks <> t.count - m.first
        """,
    ),
)

FORGET: Final = "DELETE FROM tally_marks AS t {} WHERE {} t.created_at < {}"

_KNOWN: Final = "SELECT id FROM tallies WHERE tenant_id = $1 AND id = ANY($2::uuid[])"
# What was there before the first mark inside of a window, which is all if there is no such mark.
_BEFORE: Final = """
SELECT coalesce(m.count, t.count), coalesce(m.total, t.total)
FROM unnest($2::uuid[], $3::timestamptz[]) WITH ORDINALITY AS w (tally_id, cutoff, place)
JOIN tallies AS t ON t.tenant_id = $1 AND t.id = w.tally_id
LEFT JOIN LATERAL (
    SELECT count, total FROM tally_marks
    WHERE tenant_id = $1 AND tally_id = w.tally_id AND created_at > w.cutoff
    ORDER BY created_at, count LIMIT 1
) AS m ON true ORDER BY w.place
"""
_OPEN: Final = """
WITH counted AS (
    SELECT created_at, id, {amount} AS amount FROM {source}
    WHERE tenant_id = $1 AND created_at > $3 AND {condition}
), marks AS (
    INSERT INTO tally_marks (tenant_id, tally_id, created_at, count, total)
    SELECT $1, $2, created_at, row_number() OVER earlier - 1, sum(amount) OVER earlier - amount
    FROM counted WINDOW earlier AS (ORDER BY created_at, id)
)
INSERT INTO tallies (tenant_id, id, version, count, total, moved_at)
SELECT $1, $2, 1, count(*), coalesce(sum(amount), 0), coalesce(max(created_at), $3)
FROM counted ON CONFLICT DO NOTHING
"""
# Where each thing that is counted was written down, with the owner, the least amount and currency.
_FLOW: Final = "{}_owner_id = $4 AND flow = '{}' AND amount >= $5 AND currency = $6::text"
_NOUN: Final = "{} = $4 AND $5 >= 0 AND $6::text IS NULL"
_SOURCES: Final = {
    "inbound": ("transactions", "amount", _FLOW.format("to", "INBOUND")),
    "outbound": ("transactions", "amount", _FLOW.format("from", "OUTBOUND")),
    "internal": ("transactions", "amount", _FLOW.format("from", "INTERNAL")),
    "accounts": ("accounts", "0", _NOUN.format("owner_id")),
    "bankAccounts": ("bank_accounts", "0", _NOUN.format("owner_id")),
    "cards": ("cards", "0", _NOUN.format("owner_id")),
    "customers": ("customers", "0", _NOUN.format("tenant_id")),
}


async def open_missing(
    connection: Connection, tenant_id: UUID, subjects: Sequence[Subject], now: datetime
) -> set[UUID]:
    """Begin the tallies that are not there yet with what was made before; return the others."""
    keys = [subject.id for subject in subjects]
    known = {record[0] for record in await connection.fetch(_KNOWN, tenant_id, keys)}
    for subject in subjects:
        if subject.id in known:
            continue
        source, amount, condition = _SOURCES[subject.what]
        sql = _OPEN.format(source=source, amount=amount, condition=condition)
        facts = (subject.owner_id, subject.at_least, subject.currency)
        await connection.execute(sql, tenant_id, subject.id, now - LONGEST, *facts)
    return known


async def fetch_before(
    connection: Connection, tenant_id: UUID, windows: Sequence[tuple[UUID, datetime]]
) -> list[tuple[int, Decimal]]:
    """Return, for tallies each with a moment, what was there before the first mark after it."""
    tallies, cutoffs = zip(*windows, strict=True)
    records = await connection.fetch(_BEFORE, tenant_id, tallies, cutoffs)
    return [(record[0], record[1]) for record in records]
