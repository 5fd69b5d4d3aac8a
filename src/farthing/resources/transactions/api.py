"""How transactions are spoken of on the wire."""

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from farthing.core import errors
from farthing.core.errors import AmountExceedsRemaining, Fault, ValidationFailed
from farthing.core.fields import Amount, Annotations, CustomerId, Payable, Tags
from farthing.core.machine import Transition
from farthing.core.operation import TOKENS, Operation
from farthing.core.wire import ListQuery, Page, Request
from farthing.db.patterns import Include, reading
from farthing.resources.transactions import actions, store
from farthing.resources.transactions.model import (
    NOUN,
    Flow,
    Transaction,
    TransactionState,
    TransactionView,
    adjust,
    lose,
)
from farthing.resources.transactions.store import (
    TRANSACTIONS,
    RehearsalView,
    TransactionDetailView,
)

PATH: Final = "/v1/tx"
ONE: Final = "/v1/tx/{id}"

# The states that a request may name, to move to and to move from.
ToState = Literal[
    "PENDING", "PROCESSING", "HELD", "EFFECTED", "ADJUSTED", "ERRORED", "CANCELLED", "FAILED"
]
FromState = Literal[
    "PENDING", "ACCEPTED", "PROCESSING", "HELD", "EFFECTED",
    "CHARGEBACK", "ADJUSTED", "ERRORED", "CANCELLED", "FAILED",
]  # fmt: skip

_PART: Final = "(accounts|entries|transitions)"
Included = Annotated[
    str,
    Meta(
        pattern=f"^{_PART}(,{_PART}){{0,2}}$",
        description="What to add to each transaction: `accounts`, `entries`, `transitions`.",
        extra={"expected": "one or more of accounts, entries, transitions, with commas between"},
    ),
]


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


class UpdateTransaction(Request, frozen=True, kw_only=True):
    """What is to change; a field that is left out stays as it is."""

    tags: Tags | None = None
    annotations: Annotations | None = None


class OneQuery(Request, frozen=True, kw_only=True):
    """How one transaction is shown."""

    include: Included | None = None


class TransactionQuery(ListQuery, frozen=True, kw_only=True):
    """Which transactions to list."""

    owner_id: CustomerId | None = None
    state_id: TransactionState | None = None
    flow: Flow | None = None
    group_id: Annotated[str, Meta(min_length=1, max_length=100)] | None = None
    include: Included | None = None


class TransactionPage(Page, frozen=True, kw_only=True):
    """One page of transactions."""

    results: list[TransactionDetailView]


OPERATIONS: Final = (
    Operation(
        id="tx.update",
        method="PATCH",
        path=ONE,
        summary="Update a transaction",
        who=TOKENS,
        command=actions.update,
        noun=NOUN,
        body=UpdateTransaction,
        answer=TransactionView,
        body_example={"tags": ["checked"]},
    ),
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
    *reading(
        TRANSACTIONS,
        path=PATH,
        who=TOKENS,
        query=TransactionQuery,
        page=TransactionPage,
        view=TransactionDetailView,
        owner_columns=("from_owner_id", "to_owner_id"),
        include=Include(OneQuery, store.include),
    ),
)
