# Written by `make client` from the operations of the service: do not edit.
"""Models of statements."""

from msgspec import field

from farthing.client._model import Model


class StatementEntry(Model, frozen=True, kw_only=True):
    """One booked entry; the amount of a debit is negative, and `balance` is what it came to."""

    number: int
    created_at: str
    transaction_id: str
    effect: str
    amount: str
    balance: str


class Total(Model, frozen=True, kw_only=True):
    """How many entries there are, and the sum of their amounts without the sign."""

    count: int
    amount: str


class Statement(Model, frozen=True, kw_only=True):
    """The statement of an account: the opening balance and all entries make the closing balance."""

    account_id: str
    owner_id: str
    currency_iso: str = field(name="currencyISO")
    from_: str
    to: str
    opening_balance: str
    closing_balance: str
    credits: Total
    debits: Total
    entries: list[StatementEntry]
