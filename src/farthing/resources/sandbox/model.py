"""What a control is: a word to the sandbox's rail, and what the platform makes of it at once.

A control never writes what a rail would not have said: it changes the rail's memory, and then the
same code runs that always does.
"""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from farthing.core import ids
from farthing.core.clock import say_time
from farthing.core.errors import AmountExceedsRemaining, ControlNotApplicable
from farthing.core.rows import ObjectRow
from farthing.core.wire import View
from farthing.db.calls import Call
from farthing.rails.base import Rail
from farthing.rails.moods import Mood
from farthing.rails.sandbox import SandboxRail
from farthing.resources.arrivals.model import WAITING
from farthing.resources.bank_accounts.model import BankAccountView
from farthing.resources.cards.model import CardView
from farthing.resources.challenges.model import Link, read_link
from farthing.resources.events.model import EventView
from farthing.resources.orders.model import OrderRow
from farthing.resources.settlements.store import Paid
from farthing.resources.transactions.model import IN_HAND, NOUN, Transaction, TransactionView

# From these a payer or a bank may still want money back.
PAID: Final = frozenset({"EFFECTED", "ADJUSTED"})

_CHALLENGED: Final = "The cardholder is asked first: answer in their place, at `/challenge`."
_UNAPPROVED: Final = "Somebody has to approve it first, at `/v1/approvals`."

_KEPT: Final = "No rail has anything of it yet. Move it to PROCESSING first."
_INTERNAL: Final = "No rail has a part in it: it moves between two accounts of the platform."
_INSTEAD: Final = {
    "EFFECTED": "The rail has done it. A payer can dispute it, and a bank can return it.",
    "ADJUSTED": "The rail has done it. What is left of it can be disputed or returned.",
    "DISPUTED": "The rail has done it. Decide the dispute, at `/dispute/win` or `/dispute/lose`.",
    "CANCELLED": "It was stopped, and nothing of it is left with a rail.",
    "FAILED": "It has failed, and nothing of it is left with a rail.",
    "HELD": "Nothing of it is with a rail. Move it to EFFECTED, CANCELLED or PROCESSING.",
}


_UNPAID: Final = {
    "DISPUTED": "It is disputed already. Decide that first, at `/dispute/win` or `/dispute/lose`.",
    **dict.fromkeys(("PENDING", "ACCEPTED", "PROCESSING", "ERRORED"), "Settle it first."),
}
_OUTBOUND: Final = "It goes out. A payout that is EFFECTED can be returned, at `/return`."


class ControlledTransaction(View, frozen=True, kw_only=True):
    """A transaction after a control, and the events that the control caused."""

    object: TransactionView
    events: list[EventView]


class ControlledCard(View, frozen=True, kw_only=True):
    """A card after a control, and the events that the control caused."""

    object: CardView
    events: list[EventView]


class ControlledBankAccount(View, frozen=True, kw_only=True):
    """A bank account after a control, and the events that the control caused."""

    object: BankAccountView
    events: list[EventView]


class RailView(View, frozen=True, kw_only=True):
    """The mood of the tenant's rail, when it ends, and how many orders are still refused."""

    mood: Mood
    seconds: int | None = None
    until: str | None = None
    requests: int | None = None
    refuse: int | None = None


def show_mood(feeling: Any) -> RailView:
    """Show a mood."""
    return RailView(
        mood=feeling.mood,
        seconds=feeling.seconds or None,
        until=None if feeling.until is None else say_time(feeling.until),
        requests=feeling.requests,
        refuse=feeling.refusals,
    )


def rail_of(call: Call[Any]) -> SandboxRail:
    """Return the sandbox's rail; a sandbox with another has no controls."""
    rail: object = call.part(Rail)
    if not isinstance(rail, SandboxRail):
        raise ControlNotApplicable("This sandbox has a rail of its own, which takes no controls.")
    return rail


def refusal(row: ObjectRow, sentence: str) -> ControlNotApplicable:
    """Say that a control does not fit an object as it is, and what would."""
    return ControlNotApplicable(sentence, currentStateId=row.state_id)


def open_order(tx: Transaction, orders: Sequence[OrderRow]) -> OrderRow | None:
    """Return the order that a rail has or is about to get: the payment's, or else a refund's."""
    found = [one for one in orders if one.is_open and _is_sent(tx, one)]
    return next((one for one in found if one.id == tx.order_id), None) or next(iter(found), None)


def instead(tx: Transaction) -> str:
    """Say why a control does not fit a transaction, and what can be done instead."""
    if tx.requirements:
        return wanted_first(tx.requirements)
    return _INTERNAL if tx.flow == "INTERNAL" else _INSTEAD.get(tx.state_id, _KEPT)


def wanted_first(requirements: dict[str, str]) -> str:
    """Say what has to be resolved before a control fits."""
    return _CHALLENGED if "threeDSecure" in requirements else _UNAPPROVED


def is_awaited(tx: Transaction) -> bool:
    """Tell whether a payer's bank is still to bring the money."""
    return tx.is_brought and not tx.settled and tx.state_id in WAITING


def require_disputable(tx: Transaction, paid: Paid | None, amount: int | None) -> UUID:
    """Return the order or arrival that a payer can dispute, or say why there is none."""
    if tx.flow != "INBOUND":
        raise refusal(tx, _INTERNAL if tx.flow == "INTERNAL" else _OUTBOUND)
    if tx.state_id not in PAID:
        raise refusal(tx, _UNPAID.get(tx.state_id, "Nothing was paid that could be wanted back."))
    order_id = _known(tx, paid)
    if paid is not None and paid.is_under_way:
        raise refusal(tx, "A refund of it is under way. Settle or fail that first.")
    _require_within(tx, amount or 1, tx.left)
    return order_id


def require_disputed(tx: Transaction, paid: Paid | None, amount: int | None) -> UUID:
    """Return the order or arrival whose dispute can be decided, or say why there is none."""
    if tx.state_id != "DISPUTED":
        raise refusal(tx, "Nobody disputes it. What came in and is EFFECTED can be disputed.")
    order_id = _known(tx, paid)
    _require_within(tx, amount or 0, tx.disputed)
    return order_id


def amount_of(body: Any) -> int | None:
    """Return the amount that a request names, if it does."""
    return None if body.amount is None else int(body.amount)


def challenge_of(requirements: dict[str, str]) -> Link | None:
    """Return the link by which a cardholder is asked."""
    return read_link(requirements.get("threeDSecure", "").rpartition("/")[2])


def _is_sent(tx: Transaction, order: OrderRow) -> bool:
    return order.kind == "refund" or order.is_in_flight or tx.state_id in IN_HAND


def _known(tx: Transaction, paid: Paid | None) -> UUID:
    """Return the order or arrival by which a rail knows a payment."""
    if paid is None or tx.order_id is None:
        raise refusal(tx, "No rail knows of this payment.")
    if paid.transaction_id != tx.id:
        holder = ids.say(NOUN, paid.transaction_id)
        raise refusal(tx, f"The rail's money for it is in {holder}. Dispute that one.")
    return tx.order_id


def _require_within(tx: Transaction, amount: int, left: int) -> None:
    if amount > left:
        sentence = f"Of it, {left} is left, and {amount} is wanted."
        raise AmountExceedsRemaining(sentence, currentStateId=tx.state_id)
