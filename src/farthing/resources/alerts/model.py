"""What an alert is: a rule met an object, and somebody is to know of it."""

from typing import Final, Literal
from uuid import UUID

from farthing.core import ids
from farthing.core.clock import say_time
from farthing.core.machine import Machine
from farthing.core.rows import ObjectRow
from farthing.core.wire import ObjectView

# The rule said so; it is dry, and would have acted; or it failed, and what it judged was stopped.
AlertKind = Literal["ALERT", "DRY", "FAILED"]
AlertState = Literal["RAISED"]

NOUN: Final = "alert"


class Alert(ObjectRow, frozen=True):
    """An alert as it is kept."""

    kind: str
    rule_id: UUID
    noun: str
    object_id: UUID
    message: str
    # A rule refused it, so that nothing of this name may be there.
    refused: bool

    def owner(self) -> UUID:
        """Return the tenant's own customer."""
        return self.tenant_id


class AlertView(ObjectView, frozen=True, kw_only=True):
    """An alert as the outside sees it."""

    kind: AlertKind
    rule_id: str
    object_id: str
    message: str
    # A rule refused it: it was not moved, or never made.
    refused: bool


def view(alert: Alert) -> AlertView:
    """Show an alert."""
    return AlertView(
        id=ids.say(NOUN, alert.id),
        created_at=say_time(alert.created_at),
        updated_at=say_time(alert.updated_at),
        state_id=alert.state_id,
        tags=alert.tags,
        annotations=alert.annotations,
        kind=alert.kind,  # type: ignore[arg-type]  # the database holds no other
        rule_id=ids.say("rule", alert.rule_id),
        object_id=ids.say(alert.noun, alert.object_id),
        message=alert.message,
        refused=alert.refused,
    )


# What has happened stays as it is.
MACHINE: Final = Machine(NOUN, ("RAISED",), "RAISED", ())
