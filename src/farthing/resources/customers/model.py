"""What a customer is: a person or a business whose money the platform holds."""

from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from farthing.core import ids
from farthing.core.actors import Actor
from farthing.core.clock import say_time
from farthing.core.errors import BalanceNotZero, TransitionNotAllowed
from farthing.core.fields import Address
from farthing.core.machine import C, Machine, O, P, T, row
from farthing.core.rows import ObjectRow, VersionedRow
from farthing.core.wire import ObjectView, View

CustomerType = Literal["INDIVIDUAL", "SOLE_TRADER", "ORGANISATION", "INCORPORATED_BUSINESS"]
CustomerState = Literal["PENDING", "ENABLED", "DISABLED", "LOCKED", "CLOSING", "TERMINATED"]

NOUN: Final = "customer"

# In this state a customer's money may move.
ACTIVE: Final = "ENABLED"

# Whoever is in one of these states may hold access tokens.
MAY_SIGN_IN: Final = frozenset({"PENDING", "ENABLED", "CLOSING"})


class Customer(ObjectRow, frozen=True):
    """A customer as it is kept."""

    type: str
    name: str | None
    email: str | None
    phone: str | None
    address: dict[str, Any] | None
    approval_id: UUID | None

    def owner(self) -> UUID:
        """Return itself: a customer belongs to nobody else."""
        return self.id

    def unresolved(self) -> dict[str, str]:
        """Return the approval that it waits for."""
        key = self.approval_id
        return {} if key is None else {"approval": ids.say("approval", key)}


class Standing(VersionedRow, frozen=True):
    """What others keep about a customer."""

    open_accounts: int
    token_generation: int
    preferred_card_id: UUID | None
    preferred_bank_account_id: UUID | None
    # Whether the customer's money may move: a copy of its state, narrow enough for every payment.
    active: bool


class PreferredInstruments(View, frozen=True, kw_only=True):
    """What is used when a payment names no instrument."""

    card_id: str | None = None
    bank_account_id: str | None = None


class CustomerView(ObjectView, frozen=True, kw_only=True):
    """A customer as the outside sees it."""

    type: CustomerType
    name: str | None = None
    email: str | None = None
    phone: str | None = None
    address: Address | None = None
    preferred_instruments: PreferredInstruments | None = None


def view(customer: Customer, standing: Standing) -> CustomerView:
    """Show a customer."""
    return CustomerView(
        id=ids.say(NOUN, customer.id),
        created_at=say_time(customer.created_at),
        updated_at=say_time(customer.updated_at),
        state_id=customer.state_id,
        tags=customer.tags,
        annotations=customer.annotations,
        type=customer.type,  # type: ignore[arg-type]  # the database holds no other
        name=customer.name,
        email=customer.email,
        phone=customer.phone,
        address=customer.address,  # type: ignore[arg-type]  # kept as it is shown
        preferred_instruments=_preferred(standing),
    )


def _preferred(standing: Standing) -> PreferredInstruments | None:
    card_id, bank_account_id = standing.preferred_card_id, standing.preferred_bank_account_id
    if card_id is None and bank_account_id is None:
        return None
    return PreferredInstruments(
        card_id=None if card_id is None else ids.say("card", card_id),
        bank_account_id=None
        if bank_account_id is None
        else ids.say("bank_account", bank_account_id),
    )


def refuse_own_tenant(customer: Customer, actor: Actor) -> None:
    """Keep a tenant from locking itself out: only the operator moves its own customer."""
    if customer.id == customer.tenant_id and actor is not Actor.OPERATOR:
        raise TransitionNotAllowed(
            "This customer is the tenant itself, and only the operator can move it.",
            currentStateId=customer.state_id,
            allowedStateIds=[],
        )


def has_no_open_accounts(_: datetime, __: Customer, standing: Standing) -> None:
    """Require that no account of the customer is open."""
    if standing.open_accounts:
        raise BalanceNotZero(
            f"The customer still has {standing.open_accounts} open accounts. Close them first."
        )


MACHINE: Final = Machine(
    NOUN,
    ("PENDING", "ENABLED", "DISABLED", "LOCKED", "CLOSING", "TERMINATED"),
    "ENABLED",
    (
        row("PENDING", "ENABLED", {T, O, P}, "The customer is known well enough."),
        row("PENDING", "DISABLED", {T, O}, "The customer is put on hold before the start."),
        row("PENDING", "CLOSING", {C, T, O, P}, "The customer does not go on."),
        row("ENABLED", "DISABLED", {T, O}, "The client puts the customer on hold."),
        row("ENABLED", "LOCKED", {O, P}, "The platform suspects something."),
        row("ENABLED", "CLOSING", {C, T, O}, "The customer wants to leave."),
        row("DISABLED", "ENABLED", {T, O}, "The hold is over."),
        row("DISABLED", "LOCKED", {O, P}, "The platform suspects something."),
        row("DISABLED", "CLOSING", {T, O}, "The customer is to leave."),
        row("LOCKED", "ENABLED", {O}, "The suspicion was unfounded."),
        row("LOCKED", "DISABLED", {O}, "The suspicion is settled, the client decides."),
        row("LOCKED", "CLOSING", {O}, "The suspicion was founded."),
        row("CLOSING", "ENABLED", {T, O}, "The customer stays after all."),
        row(
            "CLOSING",
            "TERMINATED",
            {T, O, P},
            "Nothing is left open. This is final.",
            has_no_open_accounts,
        ),
    ),
)
