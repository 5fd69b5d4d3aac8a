"""How tallies are kept, and how they begin with what was there before anybody counted."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

import msgspec
from msgspec import Struct

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
    SELECT created_at, id, {amount} AS amount FROM {table}
    WHERE tenant_id = $1 AND created_at > $3 AND {owner} = $4 AND {which}
      AND {amount} >= $5::bigint AND {currency} IS NOT DISTINCT FROM $6::text
), marks AS (
    INSERT INTO tally_marks (tenant_id, tally_id, created_at, count, total)
    SELECT $1, $2, created_at, row_number() OVER earlier - 1, sum(amount) OVER earlier - amount
    FROM counted WINDOW earlier AS (ORDER BY created_at, id)
)
INSERT INTO tallies (tenant_id, id, version, count, total)
SELECT $1, $2, 1, count(*), coalesce(sum(amount), 0) FROM counted ON CONFLICT DO NOTHING
"""


class _Source(Struct, frozen=True):
    """Where a thing that is counted was written down, as SQL over one row."""

    table: str
    owner: str = "owner_id"
    which: str = "true"
    amount: str = "0::bigint"
    # Amounts of different currencies do not add up.
    currency: str = "NULL::text"


def _flow(flow: str, side: str) -> _Source:
    which = f"flow = '{flow}'"
    return _Source("transactions", f"{side}_owner_id", which, "amount", "currency")


_SOURCES: Final = {
    "inbound": _flow("INBOUND", "to"),
    "outbound": _flow("OUTBOUND", "from"),
    "internal": _flow("INTERNAL", "from"),
    "accounts": _Source("accounts"),
    "bankAccounts": _Source("bank_accounts"),
    "cards": _Source("cards"),
    "customers": _Source("customers", "tenant_id"),
}


def list_sql(whats: Iterable[str]) -> str:
    """Return what lists all that was counted of a tenant within a period, in its order.

    The tenant, the moment after which and the one before which are $1, $2 and $3.
    """
    parts = [
        f"SELECT created_at, id, '{what}' AS what, {one.owner} AS owner_id, "  # noqa: S608 - our own names
        f"{one.currency} AS currency, {one.amount} AS amount FROM {one.table} "
        f"WHERE tenant_id = $1 AND {one.which} AND created_at > $2 AND created_at < $3"
        for what, one in ((what, _SOURCES[what]) for what in whats)
    ]
    return f"{' UNION ALL '.join(parts)} ORDER BY created_at, id"


async def open_missing(
    connection: Connection, tenant_id: UUID, subjects: Sequence[Subject], now: datetime
) -> set[UUID]:
    """Begin the tallies that are not there yet with what was made before; return the others."""
    keys = [subject.id for subject in subjects]
    known = {record[0] for record in await connection.fetch(_KNOWN, tenant_id, keys)}
    for subject in subjects:
        if subject.id in known:
            continue
        sql = _OPEN.format(**msgspec.structs.asdict(_SOURCES[subject.what]))
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
