"""What a move would do, shown without doing it."""

from typing import Any

from msgspec import Struct

from farthing.core.wire import View
from farthing.db.commands import HISTORY
from farthing.db.draft import Draft
from farthing.ledger.balances import BALANCES
from farthing.ledger.postings import ENTRIES
from farthing.resources.accounts.model import AccountView, EntryView, show_entry
from farthing.resources.accounts.store import ACCOUNTS
from farthing.resources.transactions import model
from farthing.resources.transactions.model import Transaction, TransactionView


class RehearsalView(View, frozen=True, kw_only=True):
    """What would happen: the states one after the other, every entry, and the accounts after it."""

    dry_run: bool
    transaction: TransactionView
    path: list[str]
    entries: list[EntryView]
    accounts: list[AccountView]


def rehearsed(draft: Draft, old: Transaction, new: Transaction) -> Struct:
    """Show what a draft would write about a transaction."""
    steps: list[Any] = draft.appended[HISTORY]
    entries: list[Any] = draft.appended[ENTRIES]
    sides = (draft.find(ACCOUNTS, one) for one in (old.from_account_id, old.to_account_id))
    seen = {one.id: one for one in sides if one and draft.principal.sees(one.owner_id)}
    return RehearsalView(
        dry_run=True,
        transaction=model.view(new),
        path=[old.state_id, *(step.target for step in steps if step.object_id == old.id)],
        entries=[show_entry(entry) for entry in entries if entry.account_id in seen],
        accounts=[ACCOUNTS.view(one, draft.find(BALANCES, one.id)) for one in seen.values()],  # type: ignore[misc]  # views of accounts
    )
