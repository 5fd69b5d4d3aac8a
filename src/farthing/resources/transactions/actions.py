"""What can be done with transactions: begin them, label them, take them step by step."""

from typing import Any, NoReturn
from uuid import UUID

import msgspec

from farthing.core import ids
from farthing.core.actors import Actor
from farthing.core.clock import say_time
from farthing.core.errors import RefusedByRule, TransitionNotAllowed
from farthing.core.ids import new_id
from farthing.core.machine import Holds, Transition
from farthing.core.money import say_amount
from farthing.db import objects
from farthing.db.calls import Call
from farthing.db.commands import Command, Need
from farthing.db.draft import Draft
from farthing.db.hearings import Verdict
from farthing.ledger.postings import post
from farthing.resources.accounts.actions import needs_of_side, refuse_inactive
from farthing.resources.cards.actions import use
from farthing.resources.cards.model import Card
from farthing.resources.cards.store import CARDS
from farthing.resources.cards.vault import NUMBERS
from farthing.resources.orders import actions as orders
from farthing.resources.orders.model import OrderRow
from farthing.resources.orders.store import ORDERS
from farthing.resources.transactions import model
from farthing.resources.transactions.model import (
    FINAL,
    MACHINE,
    UNDER_WAY,
    Moved,
    Transaction,
)
from farthing.resources.transactions.store import TRANSACTIONS


def update(call: Call[Any]) -> Command:
    """Change the tags and annotations of a transaction."""
    changes = objects.replaced(call.body, "tags", "annotations")
    return objects.updating(call, TRANSACTIONS, lambda _: changes)


def needs_of(transaction_id: UUID) -> list[Need]:
    """Name a transaction, both sides of it, its order and its card."""

    def follow(tx: Transaction) -> list[Need]:
        sides = (tx.from_account_id, tx.to_account_id)
        needs = [need for side in sides for need in needs_of_side(side)]
        if tx.order_id is not None and not tx.is_brought:
            needs.append(Need(ORDERS, tx.order_id))
        if tx.method == "card" and tx.instrument_id is not None:
            needs += [Need(NUMBERS, tx.instrument_id), *objects.needs_of(CARDS, tx.instrument_id)]
        return needs

    return [Need(TRANSACTIONS, transaction_id, follow)]


def take(
    draft: Draft,
    tx: Transaction,
    target: str,
    *,
    actor: Actor = Actor.PLATFORM,
    amount: int = 0,
    reason: str | None = None,
    **changes: Any,
) -> Transaction:
    """Take one step of the machine: state, books, orders, history and event in one commit."""

    def holds(one: Transition) -> bool:
        return one.unmet(draft.now, tx) is None

    step = MACHINE.check(tx.state_id, None, target, actor, holds)
    if sentence := step.unmet(draft.now, tx):
        refuse(tx, sentence, actor, holds)
    moved = Moved() if step.effect is None else step.effect(tx, amount)
    for posting in moved.postings:
        post(draft, posting, tx.id)
    adjustment_id = new_id() if moved.adjustment else None
    if moved.adjustment:
        shown = model.Adjustment(
            id=ids.say("adjustment", adjustment_id or tx.id),
            type=moved.adjustment,
            amount=say_amount(amount),
            reason=reason,
            created_at=say_time(draft.now),
        )
        changes["adjustments"] = [*tx.adjustments, msgspec.to_builtins(shown)]
    if moved.refund:
        orders.place(draft, tx.id, "refund", moved.refund, tx.currency, adjustment_id)
    changes |= {**moved.changes, **_tell_rail(draft, tx, moved)}
    if target in FINAL:
        changes["requirements"] = {}
    new = msgspec.structs.replace(tx, state_id=target, **changes)
    draft.step(TRANSACTIONS, tx, new, target.lower(), reason, actor)
    return draft.find(TRANSACTIONS, tx.id) or new


def begin(draft: Draft, tx: Transaction, *, has_come: bool = False) -> Transaction:
    """Add a transaction to which nothing has happened yet, as far as the rules let it.

    Money that has come cannot be refused any more: it is held instead.
    """
    verdict = _judge_arrived(draft, tx) if has_come else draft.judge(TRANSACTIONS, tx)
    if verdict.hold:
        tx = msgspec.structs.replace(tx, target_state_id="HELD")
    tx = verdict.label(tx)
    if tx.target_state_id == MACHINE.initial:
        # It goes nowhere by itself, so that it waits where it is.
        tx = msgspec.structs.replace(tx, requirements=verdict.requirements)
    draft.create(TRANSACTIONS, tx, verdict.reason)
    return freeze(draft, tx, verdict) if verdict.requirements != tx.requirements else tx


def _judge_arrived(draft: Draft, tx: Transaction) -> Verdict:
    try:
        return draft.judge(TRANSACTIONS, tx)
    except RefusedByRule as refused:
        reason = f"It is held, because it had come already: {refused.detail}"
        return Verdict(hold=True, reason=reason)


def freeze(
    draft: Draft,
    tx: Transaction,
    verdict: Verdict,
    actor: Actor = Actor.PLATFORM,
    **changes: Any,
) -> Transaction:
    """Let a transaction wait for an approval: its money is reserved, and no rail hears of it."""
    wanted = {**tx.requirements, **verdict.requirements}
    waiting = msgspec.structs.replace(tx, requirements=wanted)
    return take(draft, waiting, "PROCESSING", actor=actor, reason=verdict.reason, **changes)


def thaw(draft: Draft, old: Transaction, reason: str) -> Transaction:
    """Let a transaction go on whose approval was given."""
    refuse_inactive(draft, old.from_account_id, old.to_account_id)
    tx = _approved(old)
    order = order_of(draft, tx)
    if tx.flow == "OUTBOUND" and tx.target_state_id == "HELD" and order is None:
        return take(draft, tx, "HELD", reason=reason)
    if tx.needs_order and tx.state_id in UNDER_WAY:
        tx = msgspec.structs.replace(tx, order_id=_engage(draft, tx, order))
    draft.change(TRANSACTIONS, old, tx, "updated")
    return go_on(draft, draft.find(TRANSACTIONS, tx.id) or tx, reason)


def turn_down(draft: Draft, old: Transaction, reason: str) -> Transaction:
    """Fail a transaction whose approval was not given, unless its money has left before."""
    tx, order = _approved(old), order_of(draft, old)
    if tx.has_left:
        return go_on(draft, tx, reason)
    new = take(draft, tx, "FAILED", reason=reason)
    if order is not None and order.is_in_flight:
        # The rail has it from before; it is asked on, in case that it carries it out.
        orders.wake(draft, order_of(draft, new) or order, order.status)
    return new


def _approved(tx: Transaction) -> Transaction:
    return msgspec.structs.replace(tx, requirements=tx.unresolved_beside("approval"))


def go_on(draft: Draft, tx: Transaction, reason: str | None = None) -> Transaction:
    """Let the platform take a transaction as far as it goes by itself."""
    while target := _next_state(draft, tx):
        tx = take(draft, tx, target, reason=reason)
    return tx


def resume(
    draft: Draft, old: Transaction, reason: str | None = None, **changes: Any
) -> Transaction:
    """Let the platform go on with a transaction after it heard from outside."""
    tx = msgspec.structs.replace(old, **changes)
    if detour := model.DETOURS.get(tx.state_id):
        tx = take(draft, tx, detour, reason=reason)
    tx = go_on(draft, tx, reason)
    if tx.version > old.version:
        return tx
    # It stays where it is, which is with whoever holds it; only the books follow.
    held = model.hold(tx, 0)
    for posting in held.postings:
        post(draft, posting, tx.id)
    new = msgspec.structs.replace(tx, **held.changes)
    draft.change(TRANSACTIONS, old, new, "updated")
    return draft.find(TRANSACTIONS, tx.id) or new


def order_of(draft: Draft, tx: Transaction) -> OrderRow | None:
    """Return the order by which a rail does its part, if it has one."""
    return None if tx.order_id is None or tx.is_brought else draft.find(ORDERS, tx.order_id)


def erase_number(draft: Draft, tx: Transaction) -> None:
    """Erase the number of a card that was for one use, now that its charge has ended."""
    card = _card(draft, tx)
    if card is not None and card.used:
        draft.remove(NUMBERS, card.id)


def _card(draft: Draft, tx: Transaction) -> Card | None:
    key = tx.instrument_id if tx.method == "card" else None
    return None if key is None else draft.find(CARDS, key)


def _next_state(draft: Draft, tx: Transaction) -> str | None:
    if tx.awaits_approval:
        return None
    outside_done = tx.flow == "INTERNAL" or tx.settled
    # What has left the platform cannot be held.
    goal = "EFFECTED" if tx.target_state_id == "EFFECTED" or tx.has_left else "HELD"
    order = order_of(draft, tx)
    if order is not None and order.status == "refused":
        return "FAILED" if MACHINE.find(tx.state_id, "FAILED", Actor.PLATFORM) else None
    if tx.state_id in UNDER_WAY:
        return goal if outside_done else None
    if tx.state_id != MACHINE.initial or (tx.target_state_id == "PENDING" and not tx.settled):
        return None
    if outside_done or (tx.flow == "OUTBOUND" and goal == "HELD"):
        return goal
    return "ACCEPTED" if tx.needs_order else None


def _tell_rail(draft: Draft, tx: Transaction, moved: Moved) -> dict[str, Any]:
    """Give the rail its order, or note that it is stopped or done; return what changes thereby."""
    order = order_of(draft, tx)
    if moved.rail == "engage" and tx.needs_order and not tx.awaits_approval:
        return {"order_id": _engage(draft, tx, order)}
    if moved.rail == "stop" and order is not None and order.status not in {"done", "refused"}:
        orders.rest(draft, order, "recalled")
        erase_number(draft, tx)
    if moved.rail == "finish" and tx.flow != "INTERNAL":
        if order is not None and order.status != "done":
            orders.rest(draft, order, "done", "Somebody vouched for it.")
            erase_number(draft, tx)
        return {"settled": True}
    return {}


def _engage(draft: Draft, tx: Transaction, order: OrderRow | None) -> UUID:
    """Place the order, or let the rail be asked about the one that it has."""
    if order is not None:
        if order.status not in {"done", "refused", "challenge"}:
            orders.wake(draft, order)
        return order.id
    if card := _card(draft, tx):
        use(draft, card)
    kind = "charge" if tx.flow == "INBOUND" else "payout"
    return orders.place(draft, tx.id, kind, tx.amount, tx.currency).id  # type: ignore[arg-type]  # one of the two


def refuse(tx: Transaction, sentence: str, actor: Actor, holds: Holds) -> NoReturn:
    """Refuse a step, and say which others could be taken."""
    allowed = MACHINE.allowed(tx.state_id, actor, holds)
    raise TransitionNotAllowed(sentence, currentStateId=tx.state_id, allowedStateIds=allowed)
