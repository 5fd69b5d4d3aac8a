"""How transactions are kept, and what can be shown beside them."""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec import Struct

from farthing.core.wire import StepView
from farthing.db.calls import Call
from farthing.db.checks import Check
from farthing.db.due import Due
from farthing.db.hearings import Whereabouts
from farthing.db.objects import fetch_many, show_step
from farthing.db.tables import ObjectTable
from farthing.ledger.balances import COUNTERS
from farthing.ledger.postings import ENTRIES, Entry
from farthing.resources.accounts.model import AccountView, EntryView, show_entry
from farthing.resources.accounts.store import ACCOUNTS
from farthing.resources.transactions import model
from farthing.resources.transactions.model import Transaction, TransactionView

TRANSACTIONS: Final = ObjectTable(
    "transactions",
    Transaction,
    rank=10,
    machine=model.MACHINE,
    view=model.view,
    happenings={
        "refunded": "The rail has paid a refund of the transaction.",
        "refund_refused": "The rail has refused a refund, and the money is back in the books.",
        "dispute_not_opened": "The payer disputes what is disputed already, or of which nothing is "
        "left. It stays as it is; what this costs, the end of that dispute will say.",
    },
)
_OWNER: Final = "CASE WHEN flow = 'INBOUND' THEN to_owner_id ELSE from_owner_id END"


def whereabouts(transaction_id: UUID) -> Whereabouts:
    """Say where it stands whose matter a transaction is: the one of the platform's own side."""
    return Whereabouts(TRANSACTIONS, transaction_id, _OWNER, "currency")


# Those whose bank transfer has not come.
EXPIRING: Final = Due(
    TRANSACTIONS, "expires_at", "state_id IN ('PENDING', 'PROCESSING') AND NOT settled"
)

# What of each counter a transaction must account for, by where its money is.
_EXPECTED: Final = """
SELECT tenant_id, from_account_id AS account_id,
       CASE WHEN money IN ('withheld', 'complete') THEN adjusted - amount ELSE 0 END AS complete,
       CASE WHEN money = 'reserved' THEN amount ELSE 0 END AS incomplete_debits,
       0 AS incomplete_credits, 0 AS withheld, disputed AS disputed_credits, 0 AS disputed_debits
FROM transactions
UNION ALL
SELECT tenant_id, to_account_id,
       CASE WHEN money IN ('withheld', 'complete') THEN amount - adjusted ELSE 0 END,
       0, CASE WHEN money = 'reserved' THEN amount ELSE 0 END,
       CASE WHEN money = 'withheld' THEN amount ELSE 0 END, 0, disputed
FROM transactions
"""
_SUMS: Final = ", ".join(f"coalesce(sum(t.{name}), 0) AS {name}" for name in COUNTERS)
_DIFFERENT: Final = " OR ".join(f"b.{name} <> t.{name}" for name in COUNTERS)

CHECKS: Final = (
    Check(
        "Whatever is paid, reserved, withheld or disputed belongs to a transaction.",
        f"""
        SELECT b.tenant_id, b.id AS account_id FROM balances AS b JOIN (
            SELECT b.tenant_id, b.id, {_SUMS} FROM balances AS b
            LEFT JOIN ({_EXPECTED}) AS t ON t.tenant_id = b.tenant_id AND t.account_id = b.id
            GROUP BY b.tenant_id, b.id
        ) AS t ON t.tenant_id = b.tenant_id AND t.id = b.id
        WHERE {_DIFFERENT}
        """,  # noqa: S608 - our own names
    ),
    Check(
        "A transaction's adjustments add up, and never exceed its amount with what is disputed.",
        """
        SELECT tenant_id, id AS transaction_id, amount, adjusted, disputed FROM transactions AS t
        WHERE adjusted + disputed > amount
           OR adjusted <> (SELECT coalesce(sum((one ->> 'amount')::bigint), 0)
                           FROM jsonb_array_elements(adjustments) AS one)
        """,
    ),
    Check(
        "A transaction that has ended holds nothing back, and what was paid is in the books.",
        """
        SELECT tenant_id, id AS transaction_id, state_id, money FROM transactions
        WHERE (state_id IN ('CANCELLED', 'FAILED')) <> (money = 'nowhere' AND state_id IN
                  ('CANCELLED', 'FAILED'))
           OR (state_id IN ('EFFECTED', 'ADJUSTED', 'DISPUTED')) <> (money = 'complete')
           OR (state_id = 'DISPUTED') <> (disputed > 0)
        """,
    ),
)

_ENTRIES: Final = f"""
SELECT {", ".join(ENTRIES.columns)} FROM entries WHERE tenant_id = $1 AND subject_id = ANY($2)
ORDER BY created_at, posting_id, account_id, number
"""  # noqa: S608 - our own names
_STEPS: Final = """
SELECT object_id, source, target, actor, principal, reason, request_id, created_at
FROM history WHERE tenant_id = $1 AND object_id = ANY($2) ORDER BY version
"""


class TransactionDetailView(TransactionView, frozen=True, kw_only=True):
    """A transaction with what `include` asks for; of accounts and entries, what one may see."""

    accounts: list[AccountView] | None = None
    entries: list[EntryView] | None = None
    transitions: list[StepView] | None = None


async def include(
    call: Call[Any], rows: Sequence[Transaction], views: Sequence[Struct]
) -> Sequence[Struct]:
    """Add to transactions what the query asks for, as far as the caller may see it."""
    wanted = set((call.body.include or "").split(",")) - {""}
    if not wanted:
        return views
    sides = {side for row in rows for side in (row.from_account_id, row.to_account_id)}
    accounts = await fetch_many(call, ACCOUNTS, sides)
    entries = await _entries(call, rows) if "entries" in wanted else []
    steps = await _steps(call, rows) if "transitions" in wanted else []
    return [
        TransactionDetailView(
            **msgspec.structs.asdict(view),
            accounts=[
                accounts[side]  # type: ignore[misc]  # a view of an account
                for side in (row.from_account_id, row.to_account_id)
                if side in accounts
            ]
            if "accounts" in wanted
            else None,
            entries=[
                show_entry(entry)
                for entry in entries
                if entry.subject_id == row.id and entry.account_id in accounts
            ]
            if "entries" in wanted
            else None,
            transitions=[show_step(step) for step in steps if step["object_id"] == row.id]
            if "transitions" in wanted
            else None,
        )
        for row, view in zip(rows, views, strict=True)
    ]


async def _entries(call: Call[Any], rows: Sequence[Transaction]) -> list[Entry]:
    keys = [row.id for row in rows]
    return [Entry(*one) for one in await call.pool.fetch(_ENTRIES, call.principal.tenant_id, keys)]


async def _steps(call: Call[Any], rows: Sequence[Transaction]) -> list[Any]:
    keys = [row.id for row in rows]
    return list(await call.pool.fetch(_STEPS, call.principal.tenant_id, keys))
