"""The ledger proved by recomputation: what must hold between balances and entries."""

from typing import Final

from farthing.db.checks import Check
from farthing.ledger.balances import COUNTERS

_SUMS: Final = ", ".join(f"coalesce(sum(e.{name}), 0) AS {name}" for name in COUNTERS)
_DIFFERENT: Final = " OR ".join(f"b.{name} <> e.{name}" for name in COUNTERS)

LEDGER_CHECKS: Final = (
    Check(
        "Every counter of every balance is the sum of its entries.",
        f"""
        SELECT b.tenant_id, b.id AS account_id, b.complete, e.complete AS recomputed
        FROM balances AS b JOIN (
            SELECT b.tenant_id, b.id, {_SUMS} FROM balances AS b
            LEFT JOIN entries AS e ON e.tenant_id = b.tenant_id AND e.account_id = b.id
            GROUP BY b.tenant_id, b.id
        ) AS e ON e.tenant_id = b.tenant_id AND e.id = b.id
        WHERE {_DIFFERENT}
        """,  # noqa: S608 - our own names
    ),
    Check(
        "The entries of every account are numbered without a gap, up to its version.",
        """
        SELECT b.tenant_id, b.id AS account_id, b.version, count(e.number) AS entries
        FROM balances AS b
        LEFT JOIN entries AS e ON e.tenant_id = b.tenant_id AND e.account_id = b.id
        GROUP BY b.tenant_id, b.id
        HAVING count(e.number) <> b.version OR coalesce(max(e.number), 0) <> b.version
        """,
    ),
    Check(
        "Every entry carries the balance that all entries up to it come to.",
        """
        SELECT * FROM (
            SELECT tenant_id, account_id, number, complete_after,
                   sum(complete) OVER (PARTITION BY tenant_id, account_id ORDER BY number)
                       AS recomputed
            FROM entries
        ) AS running WHERE complete_after <> recomputed
        """,
    ),
    Check(
        "The entries of one account never go back in time.",
        """
        SELECT * FROM (
            SELECT tenant_id, account_id, number, created_at,
                   lag(created_at) OVER (PARTITION BY tenant_id, account_id ORDER BY number)
                       AS earlier
            FROM entries
        ) AS times WHERE created_at < earlier
        """,
    ),
    Check(
        "Every balance knows the time of its last entry.",
        """
        SELECT b.tenant_id, b.id AS account_id, b.moved_at, e.created_at AS last_entry
        FROM balances AS b
        LEFT JOIN entries AS e
            ON e.tenant_id = b.tenant_id AND e.account_id = b.id AND e.number = b.version
        WHERE b.moved_at IS DISTINCT FROM e.created_at
        """,
    ),
    Check(
        "The legs of every posting balance.",
        """
        SELECT tenant_id, posting_id, sum(complete) AS complete FROM entries
        GROUP BY tenant_id, posting_id
        HAVING sum(complete) <> 0 OR sum(incomplete_debits) <> sum(incomplete_credits)
            OR sum(disputed_debits) <> sum(disputed_credits)
        """,
    ),
    Check(
        "All balances of a tenant and a currency add up to zero.",
        """
        SELECT tenant_id, currency, sum(complete) AS complete FROM balances
        GROUP BY tenant_id, currency
        HAVING sum(complete) <> 0 OR sum(incomplete_debits) <> sum(incomplete_credits)
            OR sum(disputed_debits) <> sum(disputed_credits)
        """,
    ),
    Check(
        "Nothing but what the outside decides takes what is available below zero.",
        """
        SELECT tenant_id, id AS account_id,
               complete - incomplete_debits - disputed_debits - withheld AS available
        FROM balances AS b
        WHERE place <> 'outside'
          AND complete - incomplete_debits - disputed_debits - withheld < 0
          AND NOT EXISTS (
              SELECT 1 FROM entries AS e WHERE e.tenant_id = b.tenant_id
              AND e.account_id = b.id
              AND (e.effect = 'set_aside' OR (e.effect = 'follow' AND e.complete < 0)))
        """,
    ),
)
