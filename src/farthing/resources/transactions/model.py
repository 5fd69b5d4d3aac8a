"""What a transaction is: an amount on its way from a payer's account to a payee's.

The machine below is the whole truth about its states. Beside its state, a transaction knows where
its money is in the books, and whether the outside has done its part.
"""

import typing
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from msgspec import Struct

from farthing.core import ids
from farthing.core.clock import say_time
from farthing.core.errors import TransitionNotAllowed
from farthing.core.machine import C, Machine, O, P, T, row
from farthing.core.money import say_amount
from farthing.core.rows import ObjectRow
from farthing.core.wire import ObjectView, View
from farthing.ledger import course, effects
from farthing.ledger.course import Course, Progress
from farthing.ledger.effects import Posting

TransactionState = Literal[
    "PENDING", "ACCEPTED", "PROCESSING", "HELD", "EFFECTED",
    "DISPUTED", "ADJUSTED", "ERRORED", "CANCELLED", "FAILED",
]  # fmt: skip
Flow = Literal["INBOUND", "OUTBOUND", "INTERNAL"]
Method = Literal["card", "bankAccount", "transfer"]
Purpose = Literal["PURCHASE", "TRANSFER", "DEPOSIT", "WITHDRAWAL"]
AdjustmentType = Literal["REFUND", "CHARGEBACK"]
RailStep = Literal["engage", "stop", "finish"]

NOUN: Final = "transaction"
# Nothing happens to these any more.
FINAL: Final = frozenset({"CANCELLED", "FAILED"})
# The platform carries these out at this moment.
UNDER_WAY: Final = frozenset({"ACCEPTED", "PROCESSING"})
# Whatever went astray is carried out again before it can end.
DETOURS: Final = {"ERRORED": "PROCESSING"}
# In these a rail may be told to go on; in all others somebody keeps it waiting.
IN_HAND: Final = UNDER_WAY | frozenset(DETOURS)


class Transaction(ObjectRow, frozen=True):
    """A transaction as it is kept."""

    flow: str
    method: str
    purpose: str
    amount: int
    currency: str
    from_owner_id: UUID
    to_owner_id: UUID
    # The accounts in the books; one of them is the outside, unless the flow is internal.
    from_account_id: UUID
    to_account_id: UUID
    instrument_id: UUID | None
    description: str | None
    group_id: str | None
    reference: str | None
    target_state_id: str
    requirements: dict[str, str]
    adjustments: list[dict[str, Any]]
    # Where the money is in the books.
    money: str
    # Whether the outside has done its part; between two accounts of the platform it has none.
    settled: bool
    adjusted: int
    disputed: int
    # The order by which a rail does its part, or the arrival that a payer's bank has brought.
    order_id: UUID | None
    expires_at: datetime | None

    def owner(self) -> UUID:
        """Return the sender."""
        return self.from_owner_id

    def owners(self) -> tuple[UUID, ...]:
        """Return the sender and the receiver."""
        return (self.from_owner_id, self.to_owner_id)

    def unresolved(self) -> dict[str, str]:
        """Return what the network still wants."""
        return self.requirements

    @property
    def needs_order(self) -> bool:
        """Whether a rail must be told; a transfer to us is brought by the payer's bank alone."""
        return not (self.flow == "INTERNAL" or self.settled or self.is_brought)

    @property
    def is_brought(self) -> bool:
        """Tell whether the payer's bank alone brings the money, with no order of ours."""
        return self.flow == "INBOUND" and self.method == "bankAccount"

    @property
    def left(self) -> int:
        """What can still be adjusted or disputed."""
        return self.amount - self.adjusted - self.disputed

    @property
    def course(self) -> Course:
        """The payment as the books see it."""
        sides, is_paid = (self.from_account_id, self.to_account_id), self.has_left
        return Course(*sides, self.amount, self.money, is_paid)

    @property
    def has_left(self) -> bool:
        """Tell whether the money has left the platform."""
        return self.flow == "OUTBOUND" and self.settled


class Adjustment(View, frozen=True, kw_only=True):
    """Money of a transaction that went back to the payer."""

    id: str
    type: AdjustmentType
    amount: str
    reason: str | None = None
    created_at: str


class TransactionView(ObjectView, frozen=True, kw_only=True):
    """A transaction as the outside sees it."""

    from_owner_id: str
    to_owner_id: str
    payment_instrument_id: str | None = None
    purpose: Purpose
    adjustments: list[Adjustment]
    flow: Flow
    method: Method
    description: str | None = None
    group_id: str | None = None
    requirements: dict[str, str]
    reference: str | None = None
    amount: str


def view(tx: Transaction) -> TransactionView:
    """Show a transaction."""
    by, noun = tx.instrument_id, "card" if tx.method == "card" else "bank_account"
    return TransactionView(
        id=ids.say(NOUN, tx.id),
        created_at=say_time(tx.created_at),
        updated_at=say_time(tx.updated_at),
        state_id=tx.state_id,
        tags=tx.tags,
        annotations=tx.annotations,
        from_owner_id=ids.say("customer", tx.from_owner_id),
        to_owner_id=ids.say("customer", tx.to_owner_id),
        payment_instrument_id=None if by is None else ids.say(noun, by),
        purpose=tx.purpose,  # type: ignore[arg-type]  # the database holds no other
        adjustments=tx.adjustments,  # type: ignore[arg-type]  # kept as they are shown
        flow=tx.flow,  # type: ignore[arg-type]  # the database holds no other
        method=tx.method,  # type: ignore[arg-type]  # the database holds no other
        description=tx.description,
        group_id=tx.group_id,
        requirements=tx.requirements,
        reference=tx.reference,
        amount=say_amount(tx.amount),
    )


class Moved(Struct, frozen=True):
    """What a step means: for the books, for the transaction itself, and for the rail."""

    postings: tuple[Posting, ...] = ()
    changes: dict[str, Any] = {}
    # The rail gets its order, is stopped, or is done with it.
    rail: RailStep | None = None
    # What the rail has to give back.
    refund: int = 0
    adjustment: AdjustmentType | None = None


def _along(progress: Progress, rail: RailStep | None = None, refund: int = 0) -> Moved:
    return Moved(progress[0], {"money": progress[1]}, rail, refund)


def engage(tx: Transaction, _: int) -> Moved:
    """Reserve the amount, unless it is already, and give the rail its order."""
    return _along(course.reserve(tx.course), "engage")


def hold(tx: Transaction, _: int) -> Moved:
    """Reserve the amount, or withhold it from the receiver once the money is in."""
    is_in = tx.flow == "INBOUND" and tx.settled
    return _along(course.withhold(tx.course) if is_in else course.reserve(tx.course))


def effect(tx: Transaction, _: int) -> Moved:
    """Move the amount from the sender to the receiver."""
    return _along(course.complete(tx.course), "finish")


def release(tx: Transaction, _: int) -> Moved:
    """Free what was reserved; send back what was withheld."""
    refund = tx.amount if tx.money == "withheld" else 0
    return _along(course.give_up(tx.course), "stop", refund)


def step_back(tx: Transaction, _: int) -> Moved:
    """Free what was reserved, unless a rail may have it."""
    is_free = tx.order_id is None and tx.money == "reserved"
    return _along(course.give_up(tx.course)) if is_free else Moved()


def adjust(tx: Transaction, amount: int) -> Moved:
    """Move the adjusted amount back from the receiver to the sender."""
    posting = effects.adjust(tx.from_account_id, tx.to_account_id, amount)
    refund = amount if tx.flow == "INBOUND" else 0
    return Moved((posting,), {"adjusted": tx.adjusted + amount}, None, refund, "REFUND")


def set_aside(tx: Transaction, amount: int) -> Moved:
    """Set the disputed amount aside."""
    posting = effects.set_aside(tx.from_account_id, tx.to_account_id, amount)
    return Moved((posting,), {"disputed": amount})


def lose(tx: Transaction, amount: int) -> Moved:
    """Move the lost amount back to the sender; free the rest of what was disputed."""
    sides, kept = (tx.from_account_id, tx.to_account_id), tx.disputed - amount
    lost = (effects.charge_back(*sides, amount),) if amount else ()
    free = (effects.give_back(*sides, kept),) if kept else ()
    changes = {"disputed": 0, "adjusted": tx.adjusted + amount}
    return Moved((*lost, *free), changes, None, 0, "CHARGEBACK" if amount else None)


def win(tx: Transaction, _: int) -> Moved:
    """Free what was disputed."""
    return lose(tx, 0)


def outside_is_done(_: datetime, tx: Transaction) -> None:
    """Require that the outside has done its part, if it has one."""
    if tx.flow != "INTERNAL" and not tx.settled:
        raise TransitionNotAllowed("The money has not moved outside yet. PROCESSING lets it.")


def has_not_left(_: datetime, tx: Transaction) -> None:
    """Require that the money has not left the platform."""
    if tx.has_left:
        raise TransitionNotAllowed("The bank has the money already; it cannot be taken back.")


def was_not_adjusted(_: datetime, tx: Transaction) -> None:
    """Require that nothing was adjusted before the dispute."""
    if tx.adjusted:
        raise TransitionNotAllowed("It was ADJUSTED before: move it there, with options.amount 0.")


MACHINE: Final = Machine(
    NOUN,
    typing.get_args(TransactionState),
    "PENDING",
    (
        row("PENDING", "ACCEPTED", {P}, "The platform takes it on.", None, engage),
        row("PENDING", "PROCESSING", {P, T}, "It is carried out now.", None, engage),
        row("PENDING", "HELD", {P, T, O}, "The money is kept, as escrow.", None, hold),
        row("PENDING", "EFFECTED", {P}, "The money has moved.", outside_is_done, effect),
        row("PENDING", "CANCELLED", {C, T, O}, "Somebody stops it.", has_not_left, release),
        row("PENDING", "FAILED", {P, O}, "It cannot be carried out.", has_not_left, release),
        row("PENDING", "ERRORED", {P, O}, "Its outcome is not known."),
        row("ACCEPTED", "PROCESSING", {P, T}, "It is carried out now.", None, engage),
        row("ACCEPTED", "HELD", {P, T, O}, "The money is kept, as escrow.", None, hold),
        row("ACCEPTED", "EFFECTED", {P}, "The money has moved.", outside_is_done, effect),
        row("ACCEPTED", "CANCELLED", {C, T, O}, "Somebody stops it.", has_not_left, release),
        row("ACCEPTED", "FAILED", {P, O}, "It cannot be carried out.", has_not_left, release),
        row("ACCEPTED", "ERRORED", {P, O}, "Its outcome is not known."),
        row("PROCESSING", "HELD", {P, O}, "The money is kept, as escrow.", None, hold),
        row("PROCESSING", "EFFECTED", {P, O}, "The money has moved.", None, effect),
        row("PROCESSING", "CANCELLED", {T, O}, "The rail recalled it.", has_not_left, release),
        row("PROCESSING", "FAILED", {P, O}, "The rail refused it.", has_not_left, release),
        row("PROCESSING", "ERRORED", {P, O}, "Its outcome is not known."),
        row("HELD", "EFFECTED", {T, O}, "Escrow is paid out.", outside_is_done, effect),
        row("HELD", "CANCELLED", {T, O}, "Escrow goes back.", has_not_left, release),
        row("HELD", "PENDING", {T, O}, "It waits again.", None, step_back),
        row("HELD", "PROCESSING", {T, O}, "It goes on.", None, engage),
        row("HELD", "FAILED", {O}, "It cannot be carried out.", has_not_left, release),
        row("ERRORED", "PENDING", {P, T, O}, "It waits for another try.", None, step_back),
        row("ERRORED", "PROCESSING", {P, T, O}, "The rail is asked again.", None, engage),
        row("ERRORED", "CANCELLED", {T, O}, "The rail recalled it.", has_not_left, release),
        row("ERRORED", "FAILED", {T, O}, "It was not carried out.", has_not_left, release),
        row("EFFECTED", "ADJUSTED", {T, O}, "A part or all of it is refunded.", None, adjust),
        row("ADJUSTED", "ADJUSTED", {T, O}, "More of it is refunded.", None, adjust),
        row("EFFECTED", "DISPUTED", {P}, "The payer disputes it.", None, set_aside),
        row("ADJUSTED", "DISPUTED", {P}, "The payer disputes what is left.", None, set_aside),
        row("DISPUTED", "EFFECTED", {P, O}, "The dispute is won.", was_not_adjusted, win),
        row("DISPUTED", "ADJUSTED", {P, O}, "The dispute is lost, or partly.", None, lose),
    ),
)
