# Written by `make client` from the operations of the service: do not edit.
"""Models of moves."""

from farthing.client._model import Model
from farthing.client.models.accounts import Account, Entry
from farthing.client.models.transactions import Transaction


class AdjustmentOption(Model, frozen=True, kw_only=True):
    """How much goes back to the sender."""

    adjustment_amount: str | None = None


class MoveOptions(Model, frozen=True, kw_only=True):
    """What some moves need beyond the state."""

    amount: str | None = None
    adjustment: AdjustmentOption | None = None


class Rehearsal(Model, frozen=True, kw_only=True):
    """What would happen: the states one after the other, every entry, and the accounts after it."""

    dry_run: bool
    transaction: Transaction
    path: list[str]
    entries: list[Entry]
    accounts: list[Account]
