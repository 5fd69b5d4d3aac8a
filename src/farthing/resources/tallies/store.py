"""How tallies are kept, and how they begin with what was there before anybody counted."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

from farthing.db.checks import Check
from farthing.db.pool import Connection
from farthing.db.tables import AppendTable, Table
from farthing.resources.tallies.model import LONGEST, Mark, Subject, Tally

_NOTHING: Final = Decimal(0)
TALLIES: Final = Table("tallies", Tally, derived=True)
MARKS: Final = AppendTable("tally_marks", Mark)

CHECKS: Final = (
    Check(
        "Every tally counts one more with each mark, and adds its amount.",
        """
        SELECT * FROM (
            SELECT tenant_id, tally_id, created_at, count, total, amount,
                   lag(count) OVER marks AS count_before, lag(total) OVER marks AS total_before
            FROM tally_marks WINDOW marks AS (PARTITION BY tenant_id, tally_id
                                              ORDER BY created_at, count)
        ) AS marks WHERE count <> count_before + 1 OR total <> total_before + amount
        """,
    ),
)

FORGET: Final = "DELETE FROM tally_marks AS t {} WHERE {} t.created_at < {}"

# One after the other in their order, so that no two wait for each other.
_LOCK: Final = "SELECT pg_advisory_xact_lock(key) FROM unnest($1::bigint[]) AS key"
_KNOWN: Final = """
SELECT k.id FROM unnest($2::uuid[]) AS k (id)
WHERE EXISTS (SELECT FROM tally_marks WHERE tenant_id = $1 AND tally_id = k.id)
"""
_LAST: Final = """
SELECT m.count, m.total, m.created_at FROM unnest($2::uuid[]) WITH ORDINALITY AS k (id, place)
LEFT JOIN LATERAL (
    SELECT count, total, created_at FROM tally_marks WHERE tenant_id = $1 AND tally_id = k.id
    ORDER BY created_at DESC, count DESC LIMIT 1
) AS m ON true ORDER BY k.place
"""
# What was there before the first mark inside of a window, if there is such a mark.
_BEFORE: Final = """
SELECT m.count - 1, m.total - m.amount
FROM unnest($2::uuid[], $3::timestamptz[]) WITH ORDINALITY AS w (tally_id, cutoff, place)
LEFT JOIN LATERAL (
    SELECT count, total, amount FROM tally_marks
    WHERE tenant_id = $1 AND tally_id = w.tally_id AND created_at > w.cutoff
    ORDER BY created_at, count LIMIT 1
) AS m ON true ORDER BY w.place
"""
_OPEN: Final = """
INSERT INTO tally_marks (tenant_id, tally_id, created_at, count, total, amount)
SELECT $1, $2, created_at, row_number() OVER earlier, sum(amount) OVER earlier, amount
FROM (SELECT created_at, id, {amount} AS amount FROM {source}
      WHERE tenant_id = $1 AND created_at > $3 AND {condition}) AS counted
WINDOW earlier AS (ORDER BY created_at, id ROWS UNBOUNDED PRECEDING)
ON CONFLICT DO NOTHING
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


async def lock(connection: Connection, keys: Iterable[UUID]) -> None:
    """Let nobody else count in these tallies until the commit."""
    numbers = sorted({int.from_bytes(key.bytes[:8], signed=True) for key in keys})
    await connection.execute(_LOCK, numbers)


async def fetch_last(
    connection: Connection, tenant_id: UUID, keys: Sequence[UUID]
) -> dict[UUID, Tally]:
    """Return tallies as their last marks say them."""
    records = await connection.fetch(_LAST, tenant_id, keys)
    return {
        key: Tally(tenant_id, key, 1, one[0] or 0, one[1] or _NOTHING, one[2])
        for key, one in zip(keys, records, strict=True)
    }


async def fetch_before(
    connection: Connection, tenant_id: UUID, windows: Sequence[tuple[UUID, datetime]]
) -> list[tuple[int, Decimal] | None]:
    """Return, for tallies each with a moment, what was there before the first mark after it."""
    tallies, cutoffs = zip(*windows, strict=True)
    records = await connection.fetch(_BEFORE, tenant_id, tallies, cutoffs)
    return [None if one[0] is None else (one[0], one[1]) for one in records]
