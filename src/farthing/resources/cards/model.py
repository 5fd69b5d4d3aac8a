"""What a card is: a way for a customer to pay, of which the platform shows four digits."""

from datetime import UTC, datetime
from typing import Any, Final, Literal
from uuid import UUID

from farthing.core import ids
from farthing.core.clock import say_time
from farthing.core.errors import TransitionNotAllowed
from farthing.core.fields import Address
from farthing.core.machine import C, Machine, O, P, T, row
from farthing.core.rows import ObjectRow
from farthing.core.wire import ObjectView
from farthing.rails.base import CardType
from farthing.resources.cards.vault import Scheme
from farthing.resources.customers.model import Standing

CardState = Literal["PENDING", "PROCESSING", "FAILED", "ENABLED", "INACTIVE", "DISABLED", "CLOSED"]
StorageType = Literal["CARD_ON_FILE", "ONE_TIME_USE"]

NOUN: Final = "card"

# In these states a card will never be charged again, so nobody needs its number.
WITHOUT_NUMBER: Final = frozenset({"FAILED", "CLOSED"})


class Card(ObjectRow, frozen=True):
    """A card as it is kept; its number is in the vault, if anywhere."""

    owner_id: UUID
    suffix: str
    expiry: str
    expires_at: datetime
    scheme: str
    type: str
    storage_type: str
    used: bool
    billing_address: dict[str, Any]
    requirements: dict[str, str]

    def owner(self) -> UUID:
        """Return the customer whose card it is."""
        return self.owner_id

    def unresolved(self) -> dict[str, str]:
        """Return what the network still wants."""
        return self.requirements


class CardView(ObjectView, frozen=True, kw_only=True):
    """A card as the outside sees it."""

    card_number_suffix: str
    expiry: str
    scheme: Scheme
    type: CardType
    owner_id: str
    billing_address: Address
    storage_type: StorageType
    set_as_preferred: bool
    requirements: dict[str, str]


def view(card: Card, standing: Standing) -> CardView:
    """Show a card."""
    return CardView(
        id=ids.say(NOUN, card.id),
        created_at=say_time(card.created_at),
        updated_at=say_time(card.updated_at),
        state_id=card.state_id,
        tags=card.tags,
        annotations=card.annotations,
        card_number_suffix=card.suffix,
        expiry=card.expiry,
        scheme=card.scheme,  # type: ignore[arg-type]  # the database holds no other
        type=card.type,  # type: ignore[arg-type]  # the database holds no other
        owner_id=ids.say("customer", card.owner_id),
        billing_address=card.billing_address,  # type: ignore[arg-type]  # kept as it is shown
        storage_type=card.storage_type,  # type: ignore[arg-type]  # the database holds no other
        set_as_preferred=standing.preferred_card_id == card.id,
        requirements=card.requirements,
    )


def end_of(expiry: str) -> datetime:
    """Return the first moment at which a card of this expiry, MMYY, is no longer valid."""
    month, year = int(expiry[:2]), 2000 + int(expiry[2:])
    year, month = (year + 1, 1) if month == 12 else (year, month + 1)  # noqa: PLR2004 - December
    return datetime(year, month, 1, tzinfo=UTC)


def can_still_be_used(now: datetime, card: Card, _: Standing) -> None:
    """Require that the card was not used once, and has not expired."""
    if card.used or card.expires_at <= now:
        why = "was for one use, and it was used" if card.used else "has expired"
        raise TransitionNotAllowed(
            f"The card {why}.", currentStateId=card.state_id, allowedStateIds=["CLOSED"]
        )


MACHINE: Final = Machine(
    NOUN,
    ("PENDING", "PROCESSING", "FAILED", "ENABLED", "INACTIVE", "DISABLED", "CLOSED"),
    "PENDING",
    (
        row("PENDING", "PROCESSING", {P}, "The network wants the cardholder's approval."),
        row("PENDING", "ENABLED", {P}, "The network verified the card."),
        row("PENDING", "FAILED", {P, O}, "The network declined the card."),
        row("PROCESSING", "ENABLED", {P, O}, "The cardholder approved."),
        row("PROCESSING", "FAILED", {P, O}, "The cardholder declined, or let the time pass."),
        row("ENABLED", "INACTIVE", {P, O}, "The card expired, or was used once."),
        row("ENABLED", "DISABLED", {C, T, O, P}, "Somebody put the card out of use."),
        row("ENABLED", "CLOSED", {C, T, O}, "The card is gone for good. Its number is erased."),
        row("INACTIVE", "ENABLED", {T, O}, "The card may be used again.", can_still_be_used),
        row("INACTIVE", "CLOSED", {C, T, O}, "The card is gone for good. Its number is erased."),
        row("DISABLED", "ENABLED", {O}, "The operator put the card back into use."),
        row("DISABLED", "CLOSED", {C, T, O}, "The card is gone for good. Its number is erased."),
        row("FAILED", "CLOSED", {C, T, O}, "The failed card is put away."),
    ),
)
