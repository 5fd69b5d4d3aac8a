"""How cards are spoken of on the wire."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Final

from msgspec import Meta

from farthing.core import errors
from farthing.core.errors import Fault
from farthing.core.fields import Address, Annotations, CustomerId, Tags
from farthing.core.operation import TOKENS, Operation
from farthing.core.wire import ListQuery, Page, Request, StateChange
from farthing.db.patterns import reading
from farthing.resources.cards import actions, model, vault
from farthing.resources.cards.model import NOUN, CardState, CardView, StorageType
from farthing.resources.cards.store import CARDS

PATH: Final = "/v1/cards"
ONE: Final = "/v1/cards/{id}"

CardNumber = Annotated[
    str,
    Meta(
        pattern="^[0-9]{13,19}$",
        description="The number of a VISA or MASTERCARD card, digits only. It is never returned.",
        extra={
            "expected": "the number of a VISA or MASTERCARD card, digits only",
            "rule": vault.fault_of,
        },
        extra_json_schema={"format": "card-number"},
    ),
]
Expiry = Annotated[
    str,
    Meta(
        pattern="^(0[1-9]|1[0-2])[0-9]{2}$",
        description="MMYY. The card is good through the last day of that month.",
        extra={"expected": "MMYY, such as 0530 for May 2030"},
        extra_json_schema={"format": "card-expiry"},
    ),
]
Cvv = Annotated[
    str,
    Meta(
        pattern="^[0-9]{3}$",
        description="The three digits of the verification. They are not stored.",
        extra={"expected": "three digits"},
    ),
]


class CreateCard(Request, frozen=True, kw_only=True):
    """A new card."""

    owner_id: CustomerId
    card_number: CardNumber
    expiry: Expiry
    cvv: Cvv
    billing_address: Address
    storage_type: StorageType = "CARD_ON_FILE"
    set_as_preferred: bool = False
    tags: Tags | None = None
    annotations: Annotations | None = None

    @staticmethod
    def crossed(given: dict[str, Any], now: datetime) -> Iterator[Fault]:
        """Refuse a card whose time has passed."""
        expiry = given.get("expiry")
        if expiry is not None and model.end_of(expiry) <= now:
            yield Fault("/expiry", "expired", "The card has expired. Use one that is still good.")

    def __repr__(self) -> str:
        # It holds a card number, and whatever is logged or reported shows this.
        return "<a new card>"


class UpdateCard(Request, frozen=True, kw_only=True):
    """What is to change; a field that is left out stays as it is."""

    billing_address: Address | None = None
    set_as_preferred: bool | None = None
    tags: Tags | None = None
    annotations: Annotations | None = None


class MoveCard(StateChange, frozen=True, kw_only=True):
    """A move of a card to another state."""

    from_state_id: CardState | None = None
    to_state_id: CardState


class CardQuery(ListQuery, frozen=True, kw_only=True):
    """Which cards to list."""

    owner_id: CustomerId | None = None
    state_id: CardState | None = None


class CardPage(Page, frozen=True, kw_only=True):
    """One page of cards."""

    results: list[CardView]


OPERATIONS: Final = (
    Operation(
        id="cards.create",
        method="POST",
        path=PATH,
        summary="Create a card",
        who=TOKENS,
        prepare=actions.create,
        status=201,
        body=CreateCard,
        answer=CardView,
        raises=(errors.OwnerNotActive, errors.RefusedByRule),
        body_example={
            "ownerId": "customer/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
            "cardNumber": "4242424242424242",
            "expiry": "1230",
            "cvv": "123",
            "billingAddress": {"street": "St James's Square", "countryISO": "GB"},
        },
    ),
    Operation(
        id="cards.update",
        method="PATCH",
        path=ONE,
        summary="Update a card",
        who=TOKENS,
        command=actions.update,
        noun=NOUN,
        body=UpdateCard,
        answer=CardView,
        body_example={"setAsPreferred": True},
    ),
    Operation(
        id="cards.move",
        method="PATCH",
        path=f"{ONE}/state",
        summary="Move a card to another state",
        who=TOKENS,
        command=actions.move,
        noun=NOUN,
        body=MoveCard,
        answer=CardView,
        raises=(
            errors.StateMismatch,
            errors.TransitionNotAllowed,
            errors.RequirementsUnresolved,
            errors.RefusedByRule,
        ),
        body_example={"toStateId": "DISABLED"},
    ),
    *reading(CARDS, path=PATH, who=TOKENS, query=CardQuery, page=CardPage, view=CardView),
)
