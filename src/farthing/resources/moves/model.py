"""What a move is: a step of a transaction that somebody asks for."""

from typing import Final, Literal, cast

from farthing.core.actors import Actor, Principal
from farthing.core.machine import Transition
from farthing.resources.accounts.model import suspense_account
from farthing.resources.transactions import model
from farthing.resources.transactions.model import UNDER_WAY, Transaction

# Where a step waits that rules do not let pass at once.
Wait = Literal["nowhere", "PROCESSING", "HELD", "cannot"]

# How far the platform goes by itself once a caller has moved a transaction.
_GOALS: Final = {"PENDING": "PENDING", "HELD": "HELD", "PROCESSING": "EFFECTED"}


def meant(state: str | None) -> str | None:
    """Return the state that a request means: it says CHARGEBACK for DISPUTED."""
    return "DISPUTED" if state == "CHARGEBACK" else state


def goal(tx: Transaction, target: str) -> str:
    """Return how far the platform goes now; escrow that was asked for is not passed over."""
    is_held_later = tx.target_state_id == "HELD" != tx.state_id and target in UNDER_WAY
    return "HELD" if is_held_later else _GOALS.get(target, tx.target_state_id)


def wait_of(
    source: str, target: str, actor: Actor, *, approval: bool, hold: bool, failed: bool
) -> Wait:
    """Tell where a step waits if rules want an approval of it or hold it, one by its failure."""
    # To release what is held is what a rule waits for that holds it, but not one that failed.
    is_release = source == "HELD" and not failed
    if not approval and (is_release or not hold):
        return "nowhere"
    where, who = ("PROCESSING", actor) if approval else ("HELD", Actor.PLATFORM)
    goes_on = target in UNDER_WAY or target == "EFFECTED"
    can_wait = goes_on and model.MACHINE.find(source, where, who) is not None
    return cast("Wait", where) if can_wait else "cannot"


def is_vouched_for(target: str, actor: Actor) -> bool:
    """Tell whether the operator says that it failed: banks tell by other ways too."""
    return target == "FAILED" and actor is Actor.OPERATOR


def strange(tx: Transaction, step: Transition, principal: Principal) -> str | None:
    """Keep receivers from stopping what others send, and clients from calling a payout back."""
    if principal.actor is Actor.CUSTOMER and principal.customer_id != tx.from_owner_id:
        return "Only its sender, the client or the operator can move it."
    if principal.actor is not Actor.CLIENT or step.effect is not model.adjust:
        return None
    if tx.flow == "OUTBOUND":
        return "The money has left; only the operator can say that a bank sent it back."
    is_in_suspense = tx.to_account_id == suspense_account(tx.tenant_id, tx.currency)
    return "Money in suspense is the operator's to send back." if is_in_suspense else None
