"""What a reference is: a text on a bank transfer that says which account the money is for.

It is a creditor reference of ISO 11649, `RF` with two check digits before the rest, because banks
carry those whole and a slip of the pen shows.
"""

import re
import secrets
from datetime import datetime
from typing import Any, Final, Literal, Self
from uuid import UUID

from msgspec import field
from stdnum.iso7064 import mod_97_10

from farthing.core import ids
from farthing.core.clock import say_time
from farthing.core.fields import CountryISO, CurrencyISO
from farthing.core.machine import C, Machine, O, P, T, row
from farthing.core.rows import ObjectRow
from farthing.core.wire import ObjectView, View
from farthing.rails.base import Destination

ReferenceState = Literal["ENABLED", "EXPIRED", "CLOSED"]

NOUN: Final = "reference"

# Nothing that looks like another when it is copied by hand, and no vowels, so that it spells no
# words.
ALPHABET: Final = "2346789CDFGHJKMNPQRTVWXY"
# With the four characters before them 18, which is all that UK Faster Payments carries.
RANDOM_CHARACTERS: Final = 14

_SEPARATORS: Final = re.compile(r"[\s-]+")
_CREDITOR_REFERENCE: Final = re.compile("RF([0-9]{2})([A-Z0-9]{1,21})")
# Looks ahead, so that what merely begins like ours does not hide ours.
_OURS: Final = re.compile(f"(?=(RF[0-9]{{2}}[{ALPHABET}]{{{RANDOM_CHARACTERS}}}))")


class Reference(ObjectRow, frozen=True):
    """A reference as it is kept."""

    to_account_id: UUID
    owner_id: UUID
    from_customer_id: UUID | None
    currency: str
    text: str
    expires_at: datetime
    receiving_details: dict[str, Any]

    def owner(self) -> UUID:
        """Return the customer whose account is paid into."""
        return self.owner_id


class ReceivingDetails(View, frozen=True, kw_only=True):
    """Where the payer sends the money: our account at the bank."""

    account_number: str | None = None
    sort_code: str | None = None
    iban: str | None = None
    bic: str | None = None
    country_iso: CountryISO = field(name="countryISO")
    currency_iso: CurrencyISO = field(name="currencyISO")

    @classmethod
    def of(cls, destination: Destination) -> Self:
        """Show a destination."""
        return cls(
            account_number=destination.account_number,
            sort_code=destination.sort_code,
            iban=destination.iban,
            bic=destination.bic,
            country_iso=destination.country,
            currency_iso=destination.currency,
        )


class ReferenceView(ObjectView, frozen=True, kw_only=True):
    """A reference as the outside sees it, with everything that a payer needs."""

    to_id: str
    from_id: str | None = None
    reference: str
    currency_iso: CurrencyISO = field(name="currencyISO")
    expires_at: str
    receiving_details: ReceivingDetails


def view(reference: Reference) -> ReferenceView:
    """Show a reference."""
    payer_id = reference.from_customer_id
    return ReferenceView(
        id=ids.say(NOUN, reference.id),
        created_at=say_time(reference.created_at),
        updated_at=say_time(reference.updated_at),
        state_id=reference.state_id,
        tags=reference.tags,
        annotations=reference.annotations,
        to_id=ids.say("account", reference.to_account_id),
        from_id=None if payer_id is None else ids.say("customer", payer_id),
        reference=reference.text,
        currency_iso=reference.currency,
        expires_at=say_time(reference.expires_at),
        receiving_details=reference.receiving_details,  # type: ignore[arg-type]  # kept as it is shown
    )


def make_text() -> str:
    """Draw a new reference that nobody can guess."""
    rest = "".join(secrets.choice(ALPHABET) for _ in range(RANDOM_CHARACTERS))
    return f"RF{_check_digits(rest)}{rest}"


def normalise(text: str) -> str:
    """Write a reference as it is kept, however somebody has grouped it."""
    return _SEPARATORS.sub("", text).upper()


def is_reference(text: str) -> bool:
    """Tell whether a text is a creditor reference whose check digits hold, ours or another's."""
    found = _CREDITOR_REFERENCE.fullmatch(normalise(text))
    return found is not None and found[1] == _check_digits(found[2])


def find_in(text: str) -> str | None:
    """Pick the first reference of our form out of what a bank passes on."""
    found = (match[1] for match in _OURS.finditer(normalise(text)))
    return next((one for one in found if is_reference(one)), None)


def _check_digits(rest: str) -> str:
    return mod_97_10.calc_check_digits(f"{rest}RF")


MACHINE: Final = Machine(
    NOUN,
    ("ENABLED", "EXPIRED", "CLOSED"),
    "ENABLED",
    (
        row("ENABLED", "EXPIRED", {P}, "Its time has passed. Final."),
        row("ENABLED", "CLOSED", {C, T, O}, "The reference is not needed any more. Final."),
    ),
)
