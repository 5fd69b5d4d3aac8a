"""What a statement is: the booked entries of one account in a period, between two balances."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Final
from uuid import UUID

from msgspec import Meta, Struct, field

from farthing.core import ids
from farthing.core.clock import say_time
from farthing.core.fields import CurrencyISO
from farthing.core.money import say_amount
from farthing.core.wire import View
from farthing.resources.accounts.model import Account

MOST_ENTRIES: Final = 10_000

_TIME: Final = {"format": "date-time"}
Begin = Annotated[str, Meta(extra_json_schema=_TIME, description="The first moment within.")]
End = Annotated[str, Meta(extra_json_schema=_TIME, description="The first moment after.")]


class Booked(Struct, frozen=True):
    """An entry that changed what an account holds, as the ledger has it."""

    number: int
    created_at: datetime
    subject_id: UUID
    effect: str
    complete: int
    complete_after: int


class Period(Struct, frozen=True):
    """What the ledger says of a period: the balances at its ends, and what was booked between."""

    opening: int
    closing: int
    entries: Sequence[Booked]


class StatementEntryView(View, frozen=True, kw_only=True):
    """One booked entry; the amount of a debit is negative, and `balance` is what it came to."""

    number: int
    created_at: str
    transaction_id: str
    effect: str
    amount: str
    balance: str


class TotalView(View, frozen=True, kw_only=True):
    """How many entries there are, and the sum of their amounts without the sign."""

    count: int
    amount: str


class StatementView(View, frozen=True, kw_only=True):
    """The statement of an account: the opening balance and all entries make the closing balance."""

    account_id: str
    owner_id: str
    currency_iso: CurrencyISO = field(name="currencyISO")
    from_: Begin = field(name="from")
    to: End
    opening_balance: str
    closing_balance: str
    credits: TotalView
    debits: TotalView
    entries: list[StatementEntryView]


def view(account: Account, begin: datetime, end: datetime, period: Period) -> StatementView:
    """Show what was booked in an account from one moment until before another."""
    amounts = [entry.complete for entry in period.entries]
    return StatementView(
        account_id=ids.say("account", account.id),
        owner_id=ids.say("customer", account.owner_id),
        currency_iso=account.currency,
        from_=say_time(begin),
        to=say_time(end),
        opening_balance=say_amount(period.opening),
        closing_balance=say_amount(period.closing),
        credits=_total(amount for amount in amounts if amount > 0),
        debits=_total(-amount for amount in amounts if amount < 0),
        entries=[_entry(entry) for entry in period.entries],
    )


def _total(amounts: Iterable[int]) -> TotalView:
    found = list(amounts)
    return TotalView(count=len(found), amount=say_amount(sum(found)))


def _entry(entry: Booked) -> StatementEntryView:
    return StatementEntryView(
        number=entry.number,
        created_at=say_time(entry.created_at),
        transaction_id=ids.say("transaction", entry.subject_id),
        effect=entry.effect,
        amount=say_amount(entry.complete),
        balance=say_amount(entry.complete_after),
    )
