"""How moves of transactions are spoken of on the wire."""

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from farthing.core import errors
from farthing.core.errors import AmountExceedsRemaining, Fault, ValidationFailed
from farthing.core.fields import Amount, Annotations, Payable, Tags
from farthing.core.machine import Transition
from farthing.core.operation import TOKENS, Operation
from farthing.core.wire import Request
from farthing.resources.moves import actions
from farthing.resources.moves.store import RehearsalView
from farthing.resources.transactions.api import ONE
from farthing.resources.transactions.model import NOUN, Transaction, TransactionView, adjust, lose

# The states that a request may name, to move to and to move from.
ToState = Literal[
    "PENDING", "PROCESSING", "HELD", "EFFECTED", "ADJUSTED", "ERRORED", "CANCELLED", "FAILED"
]
FromState = Literal[
    "PENDING", "ACCEPTED", "PROCESSING", "HELD", "EFFECTED",
    "CHARGEBACK", "ADJUSTED", "ERRORED", "CANCELLED", "FAILED",
]  # fmt: skip


class AdjustmentOption(Request, frozen=True, kw_only=True):
    """How much goes back to the sender."""

    adjustment_amount: Payable | None = None


class MoveOptions(Request, frozen=True, kw_only=True):
    """What some moves need beyond the state."""

    amount: Annotated[Amount, Meta(description="How much of a dispute is lost.")] | None = None
    adjustment: AdjustmentOption | None = None


class MoveTransaction(Request, frozen=True, kw_only=True):
    """A move of a transaction to another state."""

    from_state_id: FromState | None = None
    to_state_id: ToState
    annotations: (
        Annotated[Annotations, Meta(description="Merged by name into those that there are.")] | None
    ) = None
    tags: Annotated[Tags, Meta(description="Added to the tags that there are.")] | None = None
    options: MoveOptions | None = None

    @staticmethod
    def crossed(given: dict[str, Any], _: object) -> Iterator[Fault]:
        """Refuse an adjustment with any other target."""
        options = given.get("options") or {}
        if "adjustment" in options and given.get("toStateId") not in {"ADJUSTED", None}:
            detail = "Is for a move to ADJUSTED, and for nothing else."
            yield Fault("/options/adjustment", "not_applicable", detail)

    def amount_for(self, tx: Transaction, step: Transition) -> int:
        """Return the amount that a step takes from the options, or say what is wrong with them."""
        options = self.options or MoveOptions()
        adjustment = options.adjustment
        adjusted = None if adjustment is None else adjustment.adjustment_amount
        if step.effect is not adjust and adjustment is not None:
            raise _fault("adjustment", "not_applicable", f"Is not for a move from {tx.state_id}.")
        if step.effect is not lose and options.amount is not None:
            raise _fault(
                "amount", "not_applicable", "Is for a dispute that is lost, and nothing else."
            )
        if step.effect is adjust:
            if adjusted is None:
                place = "adjustment/adjustmentAmount"
                raise _fault(place, "required", "Must be given to move it to ADJUSTED.")
            return _within(int(adjusted), tx.left)
        if step.effect is lose:
            lost = tx.disputed if options.amount is None else int(options.amount)
            if lost == 0 and not tx.adjusted:
                raise _fault("amount", "invalid_value", "Nothing is lost: move it to EFFECTED.")
            return _within(lost, tx.disputed)
        return 0


def _fault(place: str, code: str, detail: str) -> ValidationFailed:
    return ValidationFailed([Fault(f"/options/{place}", code, detail)])


def _within(amount: int, left: int) -> int:
    if amount > left:
        raise AmountExceedsRemaining(f"The amount is {amount}, and only {left} is left of it.")
    return amount


class MoveQuery(Request, frozen=True, kw_only=True):
    """How a move is made."""

    dry_run: Annotated[
        bool, Meta(description="Answer with what would happen, and change nothing.")
    ] = False


OPERATIONS: Final = (
    Operation(
        id="tx.move",
        method="PATCH",
        path=f"{ONE}/state",
        summary="Transition a transaction status",
        who=TOKENS,
        prepare=actions.move,
        noun=NOUN,
        body=MoveTransaction,
        query=MoveQuery,
        answer=TransactionView,
        other_answer=RehearsalView,
        raises=(
            errors.StateMismatch,
            errors.TransitionNotAllowed,
            errors.RequirementsUnresolved,
            errors.InsufficientFunds,
            errors.AmountExceedsRemaining,
            errors.BalanceLimit,
            errors.RefusedByRule,
            errors.AccountNotActive,
            errors.OwnerNotActive,
            errors.InstrumentNotUsable,
        ),
        body_example={
            "fromStateId": "PENDING",
            "toStateId": "CANCELLED",
            "annotations": {"reason": "The customer changed their mind"},
        },
    ),
)
