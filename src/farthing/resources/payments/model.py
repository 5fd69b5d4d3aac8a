"""What a payment starts from: the fields that every new transaction has."""

from datetime import datetime
from typing import Any
from uuid import UUID

from farthing.core.ids import new_id
from farthing.resources.transactions.model import MACHINE, Flow, Transaction


def new_transaction(tenant_id: UUID, now: datetime, flow: Flow, **fields: Any) -> Transaction:
    """Return a transaction to which nothing has happened yet."""
    blank: dict[str, Any] = {
        "tenant_id": tenant_id,
        "id": new_id(),
        "version": 1,
        "created_at": now,
        "updated_at": now,
        "state_id": MACHINE.initial,
        "tags": [],
        "annotations": {},
        "flow": flow,
        "instrument_id": None,
        "description": None,
        "group_id": None,
        "reference": None,
        "target_state_id": "EFFECTED",
        "requirements": {},
        "adjustments": [],
        "money": "nowhere",
        "settled": False,
        "adjusted": 0,
        "disputed": 0,
        "order_id": None,
        "expires_at": None,
    }
    return Transaction(**{**blank, **fields})


def told_by(body: Any) -> dict[str, Any]:
    """Return the fields of a new transaction that its request says as they are kept."""
    return {
        "amount": int(body.amount),
        "purpose": body.purpose,
        "description": body.description,
        "group_id": body.group_id,
        "target_state_id": body.target_state_id,
        "tags": body.tags or [],
        "annotations": body.annotations or {},
    }
