"""What can be done with transactions: label them, and move them step by step."""

from typing import Any, Final, NoReturn
from uuid import UUID

import msgspec

from farthing.core import ids
from farthing.core.actors import Actor, Principal
from farthing.core.clock import say_time
from farthing.core.errors import AccountNotActive, TransitionNotAllowed, Unavailable
from farthing.core.ids import new_id
from farthing.core.machine import Holds, Transition
from farthing.core.money import say_amount
from farthing.db import objects
from farthing.db.calls import Call
from farthing.db.commands import Command, Need, Shown
from farthing.db.draft import Draft
from farthing.ledger.postings import post
from farthing.rails.base import Rail, RailAway
from farthing.resources.accounts.actions import is_closed, needs_of_side, refuse_inactive
from farthing.resources.accounts.model import suspense_account
from farthing.resources.cards.actions import use
from farthing.resources.cards.model import Card
from farthing.resources.cards.store import CARDS
from farthing.resources.cards.vault import NUMBERS
from farthing.resources.orders import actions as orders
from farthing.resources.orders import store as orders_store
from farthing.resources.orders.model import OrderRow
from farthing.resources.orders.store import ORDERS
from farthing.resources.transactions import model, store
from farthing.resources.transactions.model import (
    FINAL,
    MACHINE,
    UNDER_WAY,
    Moved,
    Transaction,
)
from farthing.resources.transactions.store import TRANSACTIONS

# With these the money goes on, which it does only between accounts that are in use.
FORWARD: Final = frozenset({model.engage, model.hold, model.effect})
# How far the platform goes by itself once a caller has moved a transaction.
_GOALS = {"PENDING": "PENDING", "HELD": "HELD", "PROCESSING": "EFFECTED"}


def update(call: Call[Any]) -> Command:
    """Change the tags and annotations of a transaction."""
    changes = objects.replaced(call.body, "tags", "annotations")
    return objects.updating(call, TRANSACTIONS, lambda _: changes)


async def move(call: Call[Any]) -> Command:
    """Move a transaction; if it is to be stopped, a rail that has it must recall it first."""
    is_dry = call.query is not None and call.query.dry_run
    recalled = None if is_dry else await _recall(call)

    def decide(draft: Draft) -> Shown:
        old = draft.require(TRANSACTIONS, call.id)
        new = _move(draft, old, call.body, old.order_id if is_dry else recalled)
        answer = draft.written(new)
        if new.state_id in UNDER_WAY:
            go_on(draft, new)
        return store.rehearsed(draft, old, new) if is_dry else answer

    return Command(decide, needs=needs_of(call.id), rehearsal=is_dry)


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
    holds = _holds(draft, tx)
    step = MACHINE.check(tx.state_id, None, target, actor, holds)
    if sentence := step.unmet(draft.now, tx):
        _refuse(tx, sentence, actor, holds)
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
    new = msgspec.structs.replace(tx, state_id=target, **changes)
    draft.step(TRANSACTIONS, tx, new, target.lower(), reason, actor)
    return draft.find(TRANSACTIONS, tx.id) or new


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
    if moved.rail == "engage" and tx.needs_order:
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


def _move(draft: Draft, old: Transaction, body: Any, recalled: UUID | None) -> Transaction:
    """Take the step that a caller asks for."""
    objects.refuse_unresolved(model.NOUN, old)
    principal, target = draft.principal, body.to_state_id
    actor, holds = principal.actor, _holds(draft, old, principal)
    step = MACHINE.check(old.state_id, model.meant(body.from_state_id), target, actor, holds)
    if sentence := _strange(old, step, principal) or step.unmet(draft.now, old):
        _refuse(old, sentence, actor, holds)
    changes = objects.merged_labels(old, body)
    changes["target_state_id"] = _goal(old, target)
    if step.effect in FORWARD:
        refuse_inactive(draft, old.from_account_id, old.to_account_id)
    if step.effect is model.adjust and is_closed(draft, old.from_account_id):
        raise AccountNotActive("The account from which it came is CLOSED and takes nothing back.")
    order = order_of(draft, old)
    order = order if order and order.is_in_flight and order.id != recalled else None
    if order is not None:
        _refuse_in_flight(old, step, actor, holds)
    amount = body.amount_for(old, step)
    new = take(draft, old, target, actor=actor, amount=amount, **changes)
    if order is not None and target in FINAL:
        # Somebody vouched that it failed; the rail is asked on, in case that it did not.
        orders.wake(draft, order_of(draft, new) or order, order.status)
    return new


def _goal(tx: Transaction, target: str) -> str:
    """Return how far the platform goes now; escrow that was asked for is not passed over."""
    is_held_later = tx.target_state_id == "HELD" != tx.state_id and target in UNDER_WAY
    return "HELD" if is_held_later else _GOALS.get(target, tx.target_state_id)


def _is_vouched_for(target: str, actor: Actor) -> bool:
    """Tell whether the operator says that it failed: banks tell by other ways too."""
    return target == "FAILED" and actor is Actor.OPERATOR


def _refuse_in_flight(tx: Transaction, step: Transition, actor: Actor, holds: Holds) -> None:
    """Let nobody end what a rail has and did not recall, except who knows that it failed."""

    def goes_on(one: Transition) -> bool:
        return one.target not in FINAL or _is_vouched_for(one.target, actor)

    if not goes_on(step):
        sentence = "The rail has it and did not recall it. Wait for the outcome, which will come."
        _refuse(tx, sentence, actor, lambda one: holds(one) and goes_on(one))


def _strange(tx: Transaction, step: Transition, principal: Principal) -> str | None:
    """Keep receivers from stopping what others send, and clients from calling a payout back."""
    if principal.actor is Actor.CUSTOMER and principal.customer_id != tx.from_owner_id:
        return "Only its sender, the client or the operator can move it."
    if principal.actor is not Actor.CLIENT or step.effect is not model.adjust:
        return None
    if tx.flow == "OUTBOUND":
        return "The money has left; only the operator can say that a bank sent it back."
    is_in_suspense = tx.to_account_id == suspense_account(tx.tenant_id, tx.currency)
    return "Money in suspense is the operator's to send back." if is_in_suspense else None


def _holds(draft: Draft, tx: Transaction, principal: Principal | None = None) -> Holds:
    """Return what tells whether a step could be taken, by whoever asks if somebody does."""
    return lambda step: (
        not ((principal and _strange(tx, step, principal)) or step.unmet(draft.now, tx))
    )


def _refuse(tx: Transaction, sentence: str, actor: Actor, holds: Holds) -> NoReturn:
    allowed = MACHINE.allowed(tx.state_id, actor, holds)
    raise TransitionNotAllowed(sentence, currentStateId=tx.state_id, allowedStateIds=allowed)


async def _recall(call: Call[Any]) -> UUID | None:
    """Stop the order of a transaction that is to end, and return it if the rail did."""
    body, actor = call.body, call.principal.actor
    if body.to_state_id not in FINAL or _is_vouched_for(body.to_state_id, actor):
        return None
    tx, _ = await objects.fetch(call, TRANSACTIONS)
    objects.refuse_unresolved(model.NOUN, tx)
    step = MACHINE.find(tx.state_id, body.to_state_id, actor)
    is_expected = model.meant(body.from_state_id) in {None, tx.state_id}
    # The rail stops nothing for a step that the commit will refuse.
    if step is None or not is_expected or _strange(tx, step, call.principal):
        return None
    objects.merged_labels(tx, body)
    body.amount_for(tx, step)
    key = None if tx.is_brought else tx.order_id
    order = None if key is None else await orders_store.find(call.pool, tx.tenant_id, key)
    if order is None or not order.is_in_flight:
        return None
    try:
        return order.id if await call.part(Rail).recall(order.instruction) else None
    except RailAway:
        raise Unavailable("The rail does not answer. Repeat in a moment.") from None
