"""How tallies are kept, and how they begin with what was there before anybody counted."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec
from msgspec import Struct

from farthing.core.rows import Sum
from farthing.db.checks import Check
from farthing.db.pool import Connection
from farthing.db.tables import AppendTable
from farthing.resources.tallies.model import LONGEST, MOST_AHEAD, Mark, Subject, before_all

MARKS: Final = AppendTable("tally_marks", Mark, with_log=True)

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

_AT: Final = "SELECT * FROM tallies_at($1, $2, $3, $4, $5)"
_CLOSE: Final = "DELETE FROM tally_marks WHERE tenant_id = $1 AND tally_id = ANY($2)"
_OPEN: Final = """
INSERT INTO tally_marks (tenant_id, tally_id, created_at, count, total, amount)
SELECT $1, $2, created_at, row_number() OVER earlier, sum(amount) OVER earlier, amount
FROM (SELECT created_at, id, {amount} AS amount FROM {table}
      WHERE tenant_id = $1 AND created_at > $3 AND {owner} = $4 AND {which}
        AND {amount} >= $5::bigint AND {currency} IS NOT DISTINCT FROM $6::text) AS counted
WINDOW earlier AS (ORDER BY created_at, id ROWS UNBOUNDED PRECEDING)
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


# What the network declined at once was brought before no rule, and counted by none.
_NOT_DECLINED: Final = """
NOT EXISTS (SELECT 1 FROM history AS h WHERE h.tenant_id = cards.tenant_id
            AND h.object_id = cards.id AND h.version = 1 AND h.target = 'FAILED')
"""
_SOURCES: Final = {
    "inbound": _flow("INBOUND", "to"),
    "outbound": _flow("OUTBOUND", "from"),
    "internal": _flow("INTERNAL", "from"),
    "accounts": _Source("accounts"),
    "bankAccounts": _Source("bank_accounts"),
    "cards": _Source("cards", which=_NOT_DECLINED),
    "customers": _Source("customers", "tenant_id"),
}


def owners_sql(what: str) -> str:
    """Return what says by their ids whose those are that count."""
    one = _SOURCES[what]
    return (
        f"SELECT id, {one.owner} FROM {one.table} "  # noqa: S608 - our own names
        f"WHERE tenant_id = $1 AND id = ANY($2) AND {one.which}"
    )


async def open_tally(
    connection: Connection, tenant_id: UUID, subject: Subject, now: datetime
) -> bool:
    """Begin a tally that is locked with what was made before; tell whether there was anything."""
    sql = _OPEN.format(**msgspec.structs.asdict(_SOURCES[subject.what]))
    facts = (subject.owner_id, subject.at_least, subject.currency)
    said = await connection.execute(sql, tenant_id, subject.id, now - LONGEST, *facts)
    return not said.endswith(" 0")


async def close_tallies(connection: Connection, tenant_id: UUID, keys: Sequence[UUID]) -> None:
    """Take back that tallies have begun, which nobody else has seen yet."""
    await connection.execute(_CLOSE, tenant_id, keys)


async def fetch_locked(
    connection: Connection,
    tenant_id: UUID,
    keys: Sequence[UUID],
    windows: Sequence[tuple[UUID, datetime]],
) -> tuple[list[Mark], list[list[Mark]]]:
    """Return the last marks of tallies, and let nobody else count in these until the commit.

    And return, for tallies each with a moment, the first marks after that moment. Locks are taken
    in their order, so that no two batches wait for each other.
    """
    windowed, moments = [one[0] for one in windows], [one[1] for one in windows]
    last = [before_all(tenant_id, key) for key in keys]
    inside: list[list[Mark]] = [[] for _ in windows]
    for place, created_at, count, total, amount in await connection.fetch(
        _AT, tenant_id, keys, windowed, moments, MOST_AHEAD
    ):
        facts = (created_at, count, Sum(int(total)), amount)
        if place < len(keys):
            last[place] = Mark(tenant_id, keys[place], *facts)
        else:
            window = place - len(keys)
            inside[window].append(Mark(tenant_id, windowed[window], *facts))
    return last, inside
