"""What an account is: a place of one currency where a customer's money is held."""

from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID, uuid5

from msgspec import Struct, field

from farthing.core import ids
from farthing.core.clock import say_time
from farthing.core.errors import BalanceNotZero, TransitionNotAllowed
from farthing.core.fields import CurrencyISO
from farthing.core.machine import Machine, O, P, T, row
from farthing.core.money import say_amount
from farthing.core.rows import ObjectRow
from farthing.core.wire import ObjectView, View
from farthing.ledger.balances import Balance

AccountState = Literal["PENDING", "ENABLED", "DISABLED", "CLOSED"]

NOUN: Final = "account"


class Account(ObjectRow, frozen=True):
    """An account as it is kept; what it holds is kept beside it."""

    owner_id: UUID
    currency: str

    def owner(self) -> UUID:
        """Return the customer whose money is in it."""
        return self.owner_id


class AccountView(ObjectView, frozen=True, kw_only=True):
    """An account as the outside sees it, with its seven amounts in the smallest unit."""

    owner_id: str
    currency_iso: CurrencyISO = field(name="currencyISO")
    complete_balance: str
    available_balance: str
    incomplete_credits: str
    incomplete_debits: str
    disputed_credits: str
    disputed_debits: str
    withheld_balance: str


def view(account: Account, balance: Balance) -> AccountView:
    """Show an account with what it holds."""
    return AccountView(
        id=ids.say(NOUN, account.id),
        created_at=say_time(account.created_at),
        updated_at=say_time(account.updated_at),
        state_id=account.state_id,
        tags=account.tags,
        annotations=account.annotations,
        owner_id=ids.say("customer", account.owner_id),
        currency_iso=account.currency,
        complete_balance=say_amount(balance.complete),
        available_balance=say_amount(balance.available),
        incomplete_credits=say_amount(balance.incomplete_credits),
        incomplete_debits=say_amount(balance.incomplete_debits),
        disputed_credits=say_amount(balance.disputed_credits),
        disputed_debits=say_amount(balance.disputed_debits),
        withheld_balance=say_amount(balance.withheld),
    )


class EntryView(View, frozen=True, kw_only=True):
    """One change of what an account holds; an amount that it leaves alone is not shown."""

    account_id: str
    number: int
    effect: str
    complete_balance: str | None = None
    incomplete_credits: str | None = None
    incomplete_debits: str | None = None
    disputed_credits: str | None = None
    disputed_debits: str | None = None
    withheld_balance: str | None = None
    created_at: str


def show_entry(entry: Any) -> EntryView:
    """Show an entry of an account."""

    def said(amount: int) -> str | None:
        return say_amount(amount) if amount else None

    return EntryView(
        account_id=ids.say(NOUN, entry.account_id),
        number=entry.number,
        effect=entry.effect,
        complete_balance=said(entry.complete),
        incomplete_credits=said(entry.incomplete_credits),
        incomplete_debits=said(entry.incomplete_debits),
        disputed_credits=said(entry.disputed_credits),
        disputed_debits=said(entry.disputed_debits),
        withheld_balance=said(entry.withheld),
        created_at=say_time(entry.created_at),
    )


class Labels(Struct, frozen=True):
    """What an object carries that nobody but its owner understands."""

    tags: list[str] | None
    annotations: dict[str, str] | None


def suspense_account(tenant_id: UUID, currency: str) -> UUID:
    """Return the account in which a tenant keeps money that nobody could place."""
    return uuid5(tenant_id, f"suspense/{currency}")


def refuse_to_end_suspense(account: Account, target: str) -> None:
    """Keep the account open into which money comes that nobody could place."""
    is_suspense = account.id == suspense_account(account.tenant_id, account.currency)
    if is_suspense and target == "CLOSED":
        raise TransitionNotAllowed(
            "Money that nobody can place comes here, so the account stays open.",
            currentStateId=account.state_id,
            allowedStateIds=[],
        )


def holds_nothing(_: datetime, __: Account, balance: Balance) -> None:
    """Require that nothing is in the account, and nothing on its way."""
    if not balance.is_zero:
        raise BalanceNotZero(
            "The account holds money, or money is on its way. Pay it out or let it arrive first."
        )


MACHINE: Final = Machine(
    NOUN,
    ("PENDING", "ENABLED", "DISABLED", "CLOSED"),
    "ENABLED",
    (
        row("PENDING", "ENABLED", {T, O, P}, "The account may be used."),
        row("PENDING", "CLOSED", {T, O}, "The account is not needed. Final.", holds_nothing),
        row("ENABLED", "DISABLED", {T, O, P}, "Nothing may move for a while."),
        row("ENABLED", "CLOSED", {T, O}, "The account is empty and done. Final.", holds_nothing),
        row("DISABLED", "ENABLED", {T, O}, "Money may move again."),
        row("DISABLED", "CLOSED", {T, O}, "The account is empty and done. Final.", holds_nothing),
    ),
)
