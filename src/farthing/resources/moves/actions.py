"""What callers can do with a transaction: move it to another state."""

from typing import Any, Final
from uuid import UUID

import msgspec

from farthing.core.actors import Actor
from farthing.core.errors import AccountNotActive, Unavailable
from farthing.core.machine import Holds, Transition
from farthing.db import objects
from farthing.db.calls import Call
from farthing.db.commands import Command, Context, Shown
from farthing.db.committer import Committer
from farthing.db.draft import Draft
from farthing.db.hearings import FREE, Matter, Step, Verdict
from farthing.rails.base import Rail, RailAway
from farthing.resources.accounts.actions import is_closed, refuse_inactive
from farthing.resources.moves import store
from farthing.resources.moves.model import Wait, goal, is_vouched_for, meant, strange, wait_of
from farthing.resources.orders import actions as orders
from farthing.resources.orders import store as orders_store
from farthing.resources.transactions import model
from farthing.resources.transactions.actions import (
    freeze,
    go_on,
    needs_of,
    order_of,
    refuse,
    take,
)
from farthing.resources.transactions.model import FINAL, MACHINE, UNDER_WAY, Transaction
from farthing.resources.transactions.store import TRANSACTIONS, whereabouts


async def move(call: Call[Any]) -> Command:
    """Move a transaction; if it is to be stopped, a rail that has it must recall it first."""
    if call.query is not None and call.query.dry_run:
        return _moving(call, None, is_dry=True)
    return _moving(call, await _recall(call))


def _moving(call: Call[Any], recalled: UUID | None, *, is_dry: bool = False) -> Command:
    """Make the command; a rehearsal takes it for granted that the rail would recall."""

    def decide(draft: Draft) -> Shown:
        old = draft.require(TRANSACTIONS, call.id)
        new = take_step(draft, old, call.body, old.order_id if is_dry else recalled)
        answer = draft.written(new)
        if new.state_id in UNDER_WAY:
            go_on(draft, new)
        return store.rehearsed(draft, old, new) if is_dry else answer

    matter = Matter(f"{model.NOUN}.transition", found_at=whereabouts(call.id))
    return Command(decide, needs=needs_of(call.id), rehearsal=is_dry, matter=matter)


# With these the money goes on, which it does only between accounts that are in use.
_FORWARD: Final = frozenset({model.engage, model.hold, model.effect})


def take_step(draft: Draft, old: Transaction, body: Any, recalled: UUID | None) -> Transaction:
    """Take the step that a caller asks for."""
    objects.refuse_unresolved(model.NOUN, old)
    principal, target = draft.principal, body.to_state_id
    actor = principal.actor

    def holds(one: Transition) -> bool:
        return not (strange(old, one, principal) or one.unmet(draft.now, old))

    step = MACHINE.check(old.state_id, meant(body.from_state_id), target, actor, holds)
    if sentence := strange(old, step, principal) or step.unmet(draft.now, old):
        refuse(old, sentence, actor, holds)
    changes = objects.merged_labels(old, body)
    changes["target_state_id"] = goal(old, target)
    if step.effect in _FORWARD:
        refuse_inactive(draft, old.from_account_id, old.to_account_id)
    if step.effect is model.adjust and is_closed(draft, old.from_account_id):
        raise AccountNotActive("The account from which it came is CLOSED and takes nothing back.")
    amount = body.amount_for(old, step)
    verdict = draft.judge(TRANSACTIONS, old, Step(old.state_id, target, amount))
    if verdict is not FREE:
        labelled = verdict.label(msgspec.structs.replace(old, **changes))
        changes |= {"tags": labelled.tags, "annotations": labelled.annotations}
        approval = verdict.approval_id is not None
        wants = {"approval": approval, "hold": verdict.hold, "failed": verdict.failed}
        wait = wait_of(old.state_id, target, actor, **wants)
        if wait != "nowhere":
            return _wait(draft, old, target, wait, verdict, changes)
    order = order_of(draft, old)
    order = order if order and order.is_in_flight and order.id != recalled else None
    if order is not None:
        _refuse_in_flight(old, step, actor, holds)
    new = take(draft, old, target, actor=actor, amount=amount, reason=verdict.reason, **changes)
    if order is not None and target in FINAL:
        # Somebody vouched that it failed; the rail is asked on, in case that it did not.
        orders.wake(draft, order_of(draft, new) or order, order.status)
    return new


def _wait(
    draft: Draft,
    old: Transaction,
    target: str,
    wait: Wait,
    verdict: Verdict,
    changes: dict[str, Any],
) -> Transaction:
    """Let a step wait that a rule does not let pass, or refuse it if it is none that can wait."""
    if wait == "cannot":
        raise verdict.refusal(f"a move to {target}")
    if wait == "HELD":
        changes["target_state_id"] = "HELD"
        return take(draft, old, "HELD", reason=verdict.reason, **changes)
    if target == "EFFECTED":
        changes["target_state_id"] = target
    return freeze(draft, old, verdict, draft.principal.actor, **changes)


def _refuse_in_flight(tx: Transaction, step: Transition, actor: Actor, holds: Holds) -> None:
    """Let nobody end what a rail has and did not recall, except who knows that it failed."""

    def goes_on(one: Transition) -> bool:
        return one.target not in FINAL or is_vouched_for(one.target, actor)

    if not goes_on(step):
        sentence = "The rail has it and did not recall it. Wait for the outcome, which will come."
        refuse(tx, sentence, actor, lambda one: holds(one) and goes_on(one))


async def _recall(call: Call[Any]) -> UUID | None:
    """Stop the order of a transaction that is to end, and return it if the rail did."""
    body, actor = call.body, call.principal.actor
    if body.to_state_id not in FINAL or is_vouched_for(body.to_state_id, actor):
        return None
    tx, _ = await objects.fetch(call, TRANSACTIONS)
    key = None if tx.is_brought else tx.order_id
    order = None if key is None else await orders_store.find(call.pool, tx.tenant_id, key)
    if order is None or not order.is_in_flight:
        return None
    # The rail stops nothing for a step that will be refused, be it by a rule.
    rehearsal = _moving(call, None, is_dry=True)
    heard = await call.part(Committer).submit(Context(call.principal, "rehearsal"), rehearsal)
    if heard.status != rehearsal.status:
        return None
    try:
        return order.id if await call.part(Rail).recall(order.instruction) else None
    except RailAway:
        raise Unavailable("The rail does not answer. Repeat in a moment.") from None
