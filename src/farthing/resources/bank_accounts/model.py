"""What a bank account is: where a customer is paid out to."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from msgspec import field

from farthing.core import ids
from farthing.core.clock import say_time
from farthing.core.errors import Fault, TransitionNotAllowed
from farthing.core.fields import Address, CountryISO, CurrencyISO
from farthing.core.machine import C, Machine, O, P, T, row
from farthing.core.rows import ObjectRow
from farthing.core.wire import ObjectView
from farthing.rails.base import Destination

BankAccountState = Literal["PENDING", "ENABLED", "DISABLED", "CLOSED"]

NOUN: Final = "bank_account"

# Places whose banks belong to the payment system, and the IBAN country, of another.
_WITHIN: Final = {
    **dict.fromkeys(("GG", "IM", "JE"), "GB"),
    **dict.fromkeys(("BL", "GF", "GP", "MF", "MQ", "NC", "PF", "PM", "RE", "TF", "WF", "YT"), "FR"),
    "AX": "FI",
}


class BankAccount(ObjectRow, frozen=True):
    """A bank account as it is kept."""

    owner_id: UUID
    currency: str
    country: str
    account_number: str | None
    sort_code: str | None
    iban: str | None
    bic: str | None
    billing_address: dict[str, Any]
    verified: bool
    approval_id: UUID | None

    def owner(self) -> UUID:
        """Return the customer who is paid out to it."""
        return self.owner_id

    def unresolved(self) -> dict[str, str]:
        """Return the approval that it waits for."""
        key = self.approval_id
        return {} if key is None else {"approval": ids.say("approval", key)}

    @property
    def destination(self) -> Destination:
        """Where a payout to this account goes."""
        return Destination(
            self.country, self.currency, self.account_number, self.sort_code, self.iban, self.bic
        )


class BankAccountView(ObjectView, frozen=True, kw_only=True):
    """A bank account as the outside sees it."""

    account_number: str | None = None
    sort_code: str | None = None
    iban: str | None = None
    bic: str | None = None
    currency_iso: CurrencyISO = field(name="currencyISO")
    country_iso: CountryISO = field(name="countryISO")
    owner_id: str
    billing_address: Address


def view(account: BankAccount) -> BankAccountView:
    """Show a bank account."""
    return BankAccountView(
        id=ids.say(NOUN, account.id),
        created_at=say_time(account.created_at),
        updated_at=say_time(account.updated_at),
        state_id=account.state_id,
        tags=account.tags,
        annotations=account.annotations,
        account_number=account.account_number,
        sort_code=account.sort_code,
        iban=account.iban,
        bic=account.bic,
        currency_iso=account.currency,
        country_iso=account.country,
        owner_id=ids.say("customer", account.owner_id),
        billing_address=account.billing_address,  # type: ignore[arg-type]  # kept as it is shown
    )


def system_of(country: str) -> str:
    """Return the country whose payment system a country uses, mostly its own."""
    return _WITHIN.get(country, country)


def country_faults(country: str, iban: str | None, sort_code: str | None) -> Iterator[Fault]:
    """Tell which part of a destination is not of the account's country."""
    if iban and system_of(iban[:2]) != system_of(country):
        yield Fault("/iban", "country_mismatch", "Must be of the account's countryISO.")
    if sort_code and system_of(country) != "GB":
        yield Fault("/sortCode", "country_mismatch", "Only accounts in the UK have a sort code.")


def has_destination(_: datetime, account: BankAccount) -> None:
    """Require that there is a destination."""
    if not account.destination.is_complete:
        raise TransitionNotAllowed(
            "The account has no destination yet. Update it with an account number and sort code, "
            "or with an IBAN.",
            currentStateId=account.state_id,
            allowedStateIds=["DISABLED", "CLOSED"],
        )


def was_verified(_: datetime, account: BankAccount) -> None:
    """Require that the bank has verified the account."""
    if not account.verified:
        raise TransitionNotAllowed(
            "The bank has not verified this account. Bring a destination that it can verify.",
            currentStateId=account.state_id,
            allowedStateIds=["CLOSED"],
        )


MACHINE: Final = Machine(
    NOUN,
    ("PENDING", "ENABLED", "DISABLED", "CLOSED"),
    "PENDING",
    (
        row("PENDING", "ENABLED", {O, P}, "The bank verified the account.", has_destination),
        row("PENDING", "DISABLED", {C, T, O}, "Nobody is to be paid out to it."),
        row(
            "PENDING", "CLOSED", {C, T, O, P}, "The account is not needed, or not approved. Final."
        ),
        row("ENABLED", "DISABLED", {C, T, O, P}, "Nobody is to be paid out to it for a while."),
        row("ENABLED", "CLOSED", {C, T, O}, "The account is gone for good. Final."),
        row("DISABLED", "ENABLED", {T, O}, "Payouts may go to it again.", was_verified),
        row("DISABLED", "CLOSED", {C, T, O}, "The account is gone for good. Final."),
    ),
)
