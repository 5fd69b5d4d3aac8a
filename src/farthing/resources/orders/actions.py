"""What can be done with orders, always as part of what happens to their transaction."""

from uuid import UUID

import msgspec

from farthing.core.ids import new_id
from farthing.db.draft import Draft
from farthing.resources.orders.model import CLAIM, Kind, OrderRow, Status, pause_after
from farthing.resources.orders.store import ORDERS


def place(
    draft: Draft,
    transaction_id: UUID,
    kind: Kind,
    amount: int,
    currency: str,
    adjustment_id: UUID | None = None,
) -> OrderRow:
    """Record an order; it is sent once it is durable."""
    order = OrderRow(
        tenant_id=draft.tenant_id,
        id=new_id(),
        version=1,
        transaction_id=transaction_id,
        kind=kind,
        amount=amount,
        currency=currency,
        status="waiting",
        reason="",
        attempts=0,
        due_at=draft.now,
        adjustment_id=adjustment_id,
        created_at=draft.now,
    )
    draft.insert(ORDERS, order)
    return order


def claim(draft: Draft, order: OrderRow) -> OrderRow:
    """Take an order to send it, or to ask about it; nobody else does for a while."""
    status = order.status if order.status == "approved" else "sent"
    return draft.update(
        ORDERS,
        msgspec.structs.replace(
            order, status=status, attempts=order.attempts + 1, due_at=draft.now + CLAIM
        ),
    )


def wake(draft: Draft, order: OrderRow, status: str | None = None) -> None:
    """Let an order fall due at once."""
    changed = msgspec.structs.replace(order, due_at=draft.now, status=status or order.status)
    draft.update(ORDERS, changed)


def put_off(draft: Draft, order: OrderRow, status: Status, reason: str) -> None:
    """Note what the rail said so far; ask again later."""
    due_at = draft.now + pause_after(order.attempts)
    draft.update(
        ORDERS, msgspec.structs.replace(order, status=status, reason=reason, due_at=due_at)
    )


def rest(draft: Draft, order: OrderRow, status: Status, reason: str = "") -> None:
    """Note how an order stands, or ended; nothing is to be done unless somebody wakes it."""
    draft.update(ORDERS, msgspec.structs.replace(order, status=status, reason=reason, due_at=None))


def is_due(draft: Draft, order: OrderRow) -> bool:
    """Tell whether somebody has to see to an order."""
    return order.due_at is not None and order.due_at <= draft.now
