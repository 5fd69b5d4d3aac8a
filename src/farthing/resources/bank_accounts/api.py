"""How bank accounts are spoken of on the wire."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, ClassVar, Final

from msgspec import Meta, field
from schwifty import BIC, IBAN
from schwifty.exceptions import SchwiftyException

from farthing.core import errors
from farthing.core.errors import Fault
from farthing.core.fields import Address, Annotations, CountryISO, CurrencyISO, CustomerId, Tags
from farthing.core.operation import TOKENS, Operation
from farthing.core.wire import ListQuery, Page, Request, StateChange
from farthing.db.patterns import reading
from farthing.resources.bank_accounts import actions
from farthing.resources.bank_accounts.model import (
    NOUN,
    BankAccountState,
    BankAccountView,
    country_faults,
    system_of,
)
from farthing.resources.bank_accounts.store import BANK_ACCOUNTS

PATH: Final = "/v1/bank-accounts"
ONE: Final = "/v1/bank-accounts/{id}"


def _iban_fault(text: str) -> str | None:
    try:
        IBAN(text)
    except SchwiftyException:
        return "invalid_iban"
    return None


def _bic_fault(text: str) -> str | None:
    try:
        BIC(text)
    except SchwiftyException:
        return "invalid_bic"
    return None


AccountNumber = Annotated[
    str,
    Meta(
        pattern="^[0-9]{8}$",
        description="The eight digits of a UK account number; comes with `sortCode`.",
        extra={"expected": "eight digits"},
    ),
]
SortCode = Annotated[
    str,
    Meta(
        pattern="^[0-9]{6}$",
        description="The six digits of a UK sort code, no dashes; comes with `accountNumber`.",
        extra={"expected": "six digits without dashes"},
    ),
]
Iban = Annotated[
    str,
    Meta(
        pattern="^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$",
        description="An IBAN of ISO 13616, in capitals and without spaces.",
        extra={"expected": "an IBAN with right check digits, without spaces", "rule": _iban_fault},
        extra_json_schema={"format": "iban"},
    ),
]
Bic = Annotated[
    str,
    Meta(
        pattern="^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$",
        description="A SWIFT BIC of 8 or 11 characters; comes with `iban`.",
        extra={"expected": "a BIC of 8 or 11 characters", "rule": _bic_fault},
        extra_json_schema={"format": "bic"},
    ),
]


def _comes_with(one: str, other: str) -> dict[str, Any]:
    """Say in JSON Schema that a field needs another; null counts as absent."""
    text = {"type": "string"}
    return {
        "if": {"required": [one], "properties": {one: text}},
        "then": {"required": [other], "properties": {other: text}},
    }


TOGETHER: Final = {
    "allOf": [
        _comes_with("accountNumber", "sortCode"),
        _comes_with("sortCode", "accountNumber"),
        _comes_with("bic", "iban"),
    ]
}


def _destination_faults(given: dict[str, Any]) -> Iterator[Fault]:
    """Tell what does not fit together in a destination."""
    for one, other in (("accountNumber", "sortCode"), ("sortCode", "accountNumber")):
        if one in given and other not in given:
            yield Fault(f"/{other}", "required", f"Must be given together with {one}.")
    if "bic" in given and "iban" not in given:
        yield Fault("/iban", "required", "Must be given together with bic.")
    iban, bic = (given.get("iban") or "")[:2], (given.get("bic") or "")[4:6]
    if iban and bic and system_of(bic) != system_of(iban):
        yield Fault("/bic", "country_mismatch", "Must be of the country of the IBAN.")


class CreateBankAccount(Request, frozen=True, kw_only=True):
    """A new bank account."""

    PUBLISHED: ClassVar[dict[str, Any]] = TOGETHER
    owner_id: CustomerId
    currency_iso: Annotated[
        CurrencyISO, Meta(description="The currency that is paid into the account.")
    ] = field(name="currencyISO")
    country_iso: Annotated[CountryISO, Meta(description="Where the account is held.")] = field(
        name="countryISO"
    )
    billing_address: Address
    account_number: AccountNumber | None = None
    sort_code: SortCode | None = None
    iban: Iban | None = None
    bic: Bic | None = None
    set_as_preferred: bool = False
    tags: Tags | None = None
    annotations: Annotations | None = None

    @staticmethod
    def crossed(given: dict[str, Any], _: datetime) -> Iterator[Fault]:
        """Refuse a destination whose parts contradict each other or the country."""
        yield from _destination_faults(given)
        if country := given.get("countryISO"):
            yield from country_faults(country, given.get("iban"), given.get("sortCode"))


class UpdateBankAccount(Request, frozen=True, kw_only=True):
    """What is to change; a field that is left out stays as it is."""

    PUBLISHED: ClassVar[dict[str, Any]] = TOGETHER
    account_number: AccountNumber | None = None
    sort_code: SortCode | None = None
    iban: Iban | None = None
    bic: Bic | None = None
    billing_address: Address | None = None
    set_as_preferred: bool | None = None
    tags: Tags | None = None
    annotations: Annotations | None = None

    @staticmethod
    def crossed(given: dict[str, Any], _: datetime) -> Iterator[Fault]:
        """Refuse a destination whose parts contradict each other."""
        yield from _destination_faults(given)


class MoveBankAccount(StateChange, frozen=True, kw_only=True):
    """A move of a bank account to another state."""

    from_state_id: BankAccountState | None = None
    to_state_id: BankAccountState


class BankAccountQuery(ListQuery, frozen=True, kw_only=True):
    """Which bank accounts to list."""

    owner_id: CustomerId | None = None
    state_id: BankAccountState | None = None


class BankAccountPage(Page, frozen=True, kw_only=True):
    """One page of bank accounts."""

    results: list[BankAccountView]


OPERATIONS: Final = (
    Operation(
        id="bank-accounts.create",
        method="POST",
        path=PATH,
        summary="Create a bank account",
        who=TOKENS,
        prepare=actions.create,
        status=201,
        body=CreateBankAccount,
        answer=BankAccountView,
        raises=(errors.OwnerNotActive, errors.RefusedByRule),
        body_example={
            "ownerId": "customer/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
            "currencyISO": "GBP",
            "countryISO": "GB",
            "accountNumber": "31926819",
            "sortCode": "108800",
            "billingAddress": {"street": "St James's Square", "countryISO": "GB"},
            "setAsPreferred": True,
        },
    ),
    Operation(
        id="bank-accounts.update",
        method="PATCH",
        path=ONE,
        summary="Update a bank account",
        who=TOKENS,
        prepare=actions.update,
        noun=NOUN,
        body=UpdateBankAccount,
        answer=BankAccountView,
        raises=(errors.DestinationFixed,),
        body_example={"tags": ["salary"]},
    ),
    Operation(
        id="bank-accounts.move",
        method="PATCH",
        path=f"{ONE}/state",
        summary="Move a bank account to another state",
        who=TOKENS,
        command=actions.move,
        noun=NOUN,
        body=MoveBankAccount,
        answer=BankAccountView,
        raises=(
            errors.StateMismatch,
            errors.TransitionNotAllowed,
            errors.RequirementsUnresolved,
            errors.RefusedByRule,
        ),
        body_example={"toStateId": "DISABLED"},
    ),
    *reading(
        BANK_ACCOUNTS,
        path=PATH,
        who=TOKENS,
        query=BankAccountQuery,
        page=BankAccountPage,
        view=BankAccountView,
    ),
)
