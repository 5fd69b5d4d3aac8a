"""What is done with alerts: rules raise them."""

from uuid import UUID

from farthing.core.ids import new_id
from farthing.db.draft import Draft
from farthing.resources.alerts.model import MACHINE, Alert, AlertKind
from farthing.resources.alerts.store import ALERTS


def raise_alert(
    draft: Draft,
    kind: AlertKind,
    rule_id: UUID,
    noun: str,
    object_id: UUID,
    message: str,
    *,
    refused: bool = False,
) -> None:
    """Let somebody know that a rule met an object."""
    alert = Alert(
        tenant_id=draft.tenant_id,
        id=new_id(),
        version=1,
        created_at=draft.now,
        updated_at=draft.now,
        state_id=MACHINE.initial,
        tags=[],
        annotations={},
        kind=kind,
        rule_id=rule_id,
        noun=noun,
        object_id=object_id,
        message=message,
        refused=refused,
    )
    draft.create(ALERTS, alert)
