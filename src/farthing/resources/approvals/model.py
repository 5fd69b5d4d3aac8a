"""What an approval is: an object that a rule lets wait, until somebody says yes or no."""

from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from farthing.core import ids
from farthing.core.actors import Actor
from farthing.core.clock import say_time
from farthing.core.errors import Forbidden
from farthing.core.machine import Machine, O, P, T, row
from farthing.core.rows import ObjectRow
from farthing.core.wire import ObjectView

ApprovalState = Literal["PENDING", "APPROVED", "REJECTED", "EXPIRED"]
Asker = Literal["CUSTOMER", "CLIENT", "OPERATOR", "PLATFORM"]
Decider = Literal["CLIENT", "OPERATOR"]

NOUN: Final = "approval"

# Who may approve what one of the two has asked for, if a rule wants four eyes.
_OTHERS: Final = {Actor.CLIENT: "the operator", Actor.OPERATOR: "the client"}


class Approval(ObjectRow, frozen=True):
    """An approval as it is kept."""

    rule_id: UUID
    noun: str
    object_id: UUID
    # The actor who asked for what waits, and by which name its history knows them.
    asked_by: str
    asked_as: str
    four_eyes: bool
    message: str | None
    expires_at: datetime
    decided_by: str | None
    reason: str | None

    def owner(self) -> UUID:
        """Return the tenant's own customer."""
        return self.tenant_id


class ApprovalView(ObjectView, frozen=True, kw_only=True):
    """An approval as the outside sees it."""

    rule_id: str
    object_id: str
    asked_by: Asker
    four_eyes: bool
    expires_at: str
    message: str | None = None
    decided_by: Decider | None = None
    reason: str | None = None


def view(approval: Approval) -> ApprovalView:
    """Show an approval."""
    return ApprovalView(
        id=ids.say(NOUN, approval.id),
        created_at=say_time(approval.created_at),
        updated_at=say_time(approval.updated_at),
        state_id=approval.state_id,
        tags=approval.tags,
        annotations=approval.annotations,
        rule_id=ids.say("rule", approval.rule_id),
        object_id=ids.say(approval.noun, approval.object_id),
        asked_by=approval.asked_by,  # type: ignore[arg-type]  # the database holds no other
        four_eyes=approval.four_eyes,
        expires_at=say_time(approval.expires_at),
        message=approval.message,
        decided_by=approval.decided_by,  # type: ignore[arg-type]  # the database holds no other
        reason=approval.reason,
    )


def refuse_same_eyes(approval: Approval, actor: Actor) -> None:
    """Keep whoever asked from approving it, where the rule wants four eyes."""
    if approval.four_eyes and approval.asked_by == actor:
        raise Forbidden(
            f"The rule wants four eyes: the {actor.lower()} asked for this, so only "
            f"{_OTHERS[actor]} can approve it."
        )


MACHINE: Final = Machine(
    NOUN,
    ("PENDING", "APPROVED", "REJECTED", "EXPIRED"),
    "PENDING",
    (
        row("PENDING", "APPROVED", {T, O}, "Somebody says yes, and what waits goes on. Final."),
        row("PENDING", "REJECTED", {T, O}, "Somebody says no, and what waits fails. Final."),
        row("PENDING", "EXPIRED", {P}, "Nobody decided in time, and what waits fails. Final."),
    ),
)
