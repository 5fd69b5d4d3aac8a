"""What can be done with approvals: they are asked for, and decided once."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec import Struct

from farthing.core import ids
from farthing.core.errors import TransitionNotAllowed
from farthing.db.calls import Call
from farthing.db.commands import Command, Need
from farthing.db.draft import Draft
from farthing.db.tables import ObjectTable
from farthing.resources.approvals import model
from farthing.resources.approvals.model import MACHINE, NOUN, Approval
from farthing.resources.approvals.store import APPROVALS
from farthing.resources.bank_accounts import actions as bank_accounts
from farthing.resources.bank_accounts.store import BANK_ACCOUNTS
from farthing.resources.cards import actions as cards
from farthing.resources.cards.store import CARDS
from farthing.resources.customers import actions as customers
from farthing.resources.customers.store import CUSTOMERS
from farthing.resources.transactions import actions as transactions
from farthing.resources.transactions.store import TRANSACTIONS


class Waiting(Struct, frozen=True):
    """A noun that can wait for an approval: what it needs, and what follows from yes and no."""

    table: ObjectTable[Any]
    needs: Callable[[UUID], Sequence[Need]]
    let_go: Callable[[Draft, Any, str], object]
    turn_down: Callable[[Draft, Any, str], object]


WAITING: Final = {
    one.table.noun: one
    for one in (
        Waiting(TRANSACTIONS, transactions.needs_of, transactions.thaw, transactions.turn_down),
        Waiting(CARDS, cards.needs_of, cards.let_go, cards.turn_down),
        Waiting(
            BANK_ACCOUNTS, bank_accounts.needs_of, bank_accounts.let_go, bank_accounts.turn_down
        ),
        Waiting(CUSTOMERS, customers.needs_of, customers.let_go, customers.turn_down),
    )
}


def ask(
    draft: Draft,
    approval_id: UUID,
    rule_id: UUID,
    noun: str,
    object_id: UUID,
    *,
    four_eyes: bool,
    lifetime: timedelta,
    message: str | None,
) -> None:
    """Ask for an approval of an object that is made or moved in the same draft."""
    principal = draft.principal
    approval = Approval(
        tenant_id=draft.tenant_id,
        id=approval_id,
        version=1,
        created_at=draft.now,
        updated_at=draft.now,
        state_id=MACHINE.initial,
        tags=[],
        annotations={},
        rule_id=rule_id,
        noun=noun,
        object_id=object_id,
        asked_by=principal.actor.value,
        asked_as=principal.name,
        four_eyes=four_eyes,
        message=message,
        expires_at=draft.now + lifetime,
        decided_by=None,
        reason=None,
    )
    draft.create(APPROVALS, approval, message)


def approve(call: Call[Any]) -> Command:
    """Let an object go on that waits."""
    said = call.body.reason

    def decide(draft: Draft) -> Struct:
        old = draft.require(APPROVALS, call.id)
        actor = draft.principal.actor
        MACHINE.check(old.state_id, None, "APPROVED", actor)
        model.refuse_same_eyes(old, actor)
        waiting, row = WAITING[old.noun], _waiting(draft, old)
        if row is None or old.expires_at <= draft.now:
            why = "no longer waits for it" if row is None else "has waited too long"
            raise TransitionNotAllowed(
                f"The {old.noun.replace('_', ' ')} {why}.",
                currentStateId=old.state_id,
                allowedStateIds=["REJECTED"],
            )
        waiting.let_go(draft, row, _sentence("Approved", said))
        return _end(draft, old, "APPROVED", said)

    return Command(decide, needs=_needs(call.id))


def reject(call: Call[Any]) -> Command:
    """Let an object fail that waits."""
    said = call.body.reason

    def decide(draft: Draft) -> Struct:
        old = draft.require(APPROVALS, call.id)
        MACHINE.check(old.state_id, None, "REJECTED", draft.principal.actor)
        _turn_down(draft, old, _sentence("Rejected", said))
        return _end(draft, old, "REJECTED", said)

    return Command(decide, needs=_needs(call.id))


def expire(approval_id: UUID) -> Command:
    """End an approval that nobody gave in time, and let fail what waits for it."""

    def decide(draft: Draft) -> Struct | None:
        old = draft.require(APPROVALS, approval_id)
        if old.state_id != "PENDING" or old.expires_at > draft.now:
            return None
        reason = "Nobody approved it in time."
        _turn_down(draft, old, reason)
        new = msgspec.structs.replace(old, state_id="EXPIRED")
        return draft.change(APPROVALS, old, new, "expired", reason)

    return Command(decide, needs=_needs(approval_id))


def _end(draft: Draft, old: Approval, state: str, reason: str | None) -> Struct:
    by = draft.principal.actor.value
    new = msgspec.structs.replace(old, state_id=state, decided_by=by, reason=reason)
    return draft.change(APPROVALS, old, new, state.lower(), reason)


def _turn_down(draft: Draft, approval: Approval, reason: str) -> None:
    """Let fail what waits; what has ended by itself stays as it is."""
    row = _waiting(draft, approval)
    if row is not None:
        WAITING[approval.noun].turn_down(draft, row, reason)


def _waiting(draft: Draft, approval: Approval) -> Any:
    """Return the object that waits for an approval, if it still does."""
    row = draft.find(WAITING[approval.noun].table, approval.object_id)
    name = ids.say(NOUN, approval.id)
    return row if row is not None and row.unresolved().get(NOUN) == name else None


def _sentence(verb: str, reason: str | None) -> str:
    return f"{verb}." if reason is None else f"{verb}: {reason}"


def _needs(approval_id: UUID) -> list[Need]:
    def follow(approval: Approval) -> Sequence[Need]:
        return WAITING[approval.noun].needs(approval.object_id)

    return [Need(APPROVALS, approval_id, follow)]
