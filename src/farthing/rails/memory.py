"""What the sandbox's rail remembers: orders, and news that it has to tell.

An order keeps what becomes of it, never why: no number, suffix or destination is written here.
"""

from datetime import datetime
from typing import Any, Final, Literal, cast
from uuid import UUID, uuid5

import msgspec
from msgspec import Struct

from farthing.core.rows import VersionedRow
from farthing.db.commands import Command, Need
from farthing.db.draft import Draft
from farthing.db.due import Due
from farthing.db.tables import Table
from farthing.rails.base import Arrival, Dispute, DisputeEnd, News, Order, Outcome
from farthing.rails.moods import NOT_DOWN

Result = Literal["done", "refused", "challenge", "pending", "unknown"]
RefundResult = Literal["done", "refused"]

# What can still be decided; all else stays as it is.
OPEN: Final = ("pending", "unknown")
_ENDED: Final = ("done", "refused", "recalled")

_NEWS: Final[dict[str, type[News]]] = {
    "arrival": Arrival,
    "dispute": Dispute,
    "dispute_end": DisputeEnd,
}
_KINDS: Final = {told: kind for kind, told in _NEWS.items()}


class Fate(Struct, frozen=True):
    """What becomes of an order, and of a charge afterwards."""

    status: Result
    reason: str = ""
    refund: RefundResult = "done"
    disputed: bool = False


class OrderRow(VersionedRow, frozen=True):
    """An order that the rail has heard of, or recalled before it did."""

    kind: str | None
    amount: int
    currency: str
    status: str
    reason: str
    refund_fate: str | None
    # Kept with the charge, so that its lock decides between refunds of the same moment.
    refunded: int
    paid_by: UUID | None
    created_at: datetime


class NewsRow(VersionedRow, frozen=True):
    """Something that the rail tells from a moment on, until it is heard."""

    kind: str
    due_at: datetime
    heard: bool
    told: dict[str, Any]


ORDERS: Final = Table("sandbox_orders", OrderRow, rank=96)
NEWS: Final = Table("sandbox_news", NewsRow, rank=97)

DUE_NEWS: Final = Due(NEWS, "due_at", f"NOT heard AND {NOT_DOWN}")
FIND_ORDER: Final = f"{ORDERS.select_sql} WHERE tenant_id = $1 AND id = $2"


def outcome_of(row: OrderRow | None) -> Outcome:
    """Say what became of an order."""
    if row is None:
        return Outcome("unheard")
    if row.status == "recalled":
        return Outcome("refused", "recalled")
    return Outcome(cast("Result", row.status), row.reason)


def news_of(row: NewsRow) -> News:
    """Read what there is to tell."""
    return msgspec.convert(row.told, _NEWS[row.kind])


def fated_dispute(tenant_id: UUID, order_id: UUID) -> Dispute:
    """Return the dispute that some cards bring by themselves."""
    return Dispute(tenant_id, uuid5(order_id, "dispute"), order_id, None, "fraudulent")


def charge(order: Order, fate: Fate, disputed_at: datetime, *, approved: bool) -> Command:
    """Take money as the fate says; an approval turns a challenge into money."""
    dispute = fated_dispute(order.tenant_id, order.id)
    needs = [Need(ORDERS, order.id), *([Need(NEWS, dispute.id)] if fate.disputed else [])]
    if approved and fate.status == "challenge":
        fate = msgspec.structs.replace(fate, status="done")

    def decide(draft: Draft) -> Outcome:
        row = draft.find(ORDERS, order.id)
        if row is None:
            row = _add(draft, order, "charge", fate.status, fate.reason, refund_fate=fate.refund)
        elif approved and row.status == "challenge":
            row = _change(draft, row, status="done", reason="")
        else:
            return outcome_of(row)
        if fate.disputed and row.status == "done":
            _tell(draft, dispute, disputed_at)
        return outcome_of(row)

    return Command(decide, needs=needs)


def pay_out(order: Order, fate: Fate) -> Command:
    """Send money as the fate says."""

    def decide(draft: Draft) -> Outcome:
        row = draft.find(ORDERS, order.id)
        return outcome_of(row or _add(draft, order, "payout", fate.status, fate.reason))

    return Command(decide, needs=[Need(ORDERS, order.id)])


def refund(order: Order, paid_by: UUID) -> Command:
    """Give back what a charge took, as its fate says; what came in otherwise, always."""

    def decide(draft: Draft) -> Outcome:
        if row := draft.find(ORDERS, order.id):
            return outcome_of(row)
        charged = draft.find(ORDERS, paid_by)
        refusal = "" if charged is None else _refusal(order, charged)
        if charged and not refusal:
            _change(draft, charged, refunded=charged.refunded + order.amount)
        status = "refused" if refusal else "done"
        return outcome_of(_add(draft, order, "refund", status, refusal, paid_by=paid_by))

    return Command(decide, needs=[Need(ORDERS, order.id), Need(ORDERS, paid_by)])


def recall(order: Order) -> Command:
    """Stop an order that is not decided yet, also one that was never heard."""

    def decide(draft: Draft) -> Outcome:
        row = draft.find(ORDERS, order.id)
        if row is None:
            row = _add(draft, order, None, "recalled")
        elif row.status not in {"done", "refused"}:
            row = _change(draft, row, status="recalled", reason="")
        return outcome_of(row)

    return Command(decide, needs=[Need(ORDERS, order.id)])


def settle(order_id: UUID, status: Result, reason: str) -> Command:
    """Decide an order that is open, and return what it was before."""

    def decide(draft: Draft) -> Outcome:
        row = draft.find(ORDERS, order_id)
        if row is not None and row.status in OPEN:
            _change(draft, row, status=status, reason=reason)
        return outcome_of(row)

    return Command(decide, needs=[Need(ORDERS, order_id)])


def ordain(order: Order, kind: str, status: Result, reason: str, paid_by: UUID | None) -> Command:
    """Say what becomes of an order that has not ended, also of one that is still to come."""
    needed = [order.id] if paid_by is None else [order.id, paid_by]

    def decide(draft: Draft) -> Outcome:
        row = draft.find(ORDERS, order.id)
        charged = None if paid_by is None else draft.find(ORDERS, paid_by)
        if row is not None and row.status in _ENDED:
            return outcome_of(row)
        if row is None:
            fate = "done" if kind == "charge" else None
            row = _add(draft, order, kind, status, reason, refund_fate=fate, paid_by=paid_by)
        else:
            row = _change(draft, row, status=status, reason=reason)
        if charged is not None and status == "done":
            most = charged.amount - charged.refunded
            _change(draft, charged, refunded=charged.refunded + min(order.amount, most))
        return outcome_of(row)

    return Command(decide, needs=[Need(ORDERS, one) for one in needed])


def forget(order_id: UUID, paid_by: UUID | None) -> Command:
    """Lose an order; a refund that is lost has given nothing back."""
    needed = [order_id] if paid_by is None else [order_id, paid_by]

    def decide(draft: Draft) -> Outcome:
        row = draft.find(ORDERS, order_id)
        charged = None if paid_by is None else draft.find(ORDERS, paid_by)
        if row and charged and row.status == "done":
            _change(draft, charged, refunded=max(charged.refunded - row.amount, 0))
        draft.remove(ORDERS, order_id)
        return outcome_of(row)

    return Command(decide, needs=[Need(ORDERS, one) for one in needed])


def tell(news: News, due_at: datetime) -> Command:
    """Have something to tell; what was told before is not told anew."""
    return Command(lambda draft: _tell(draft, news, due_at), needs=[Need(NEWS, news.id)])


def hear(news: News) -> Command:
    """Tell it no more."""

    def decide(draft: Draft) -> None:
        row = draft.find(NEWS, news.id)
        if row is not None and not row.heard:
            draft.update(NEWS, msgspec.structs.replace(row, heard=True))

    return Command(decide, needs=[Need(NEWS, news.id)])


def _refusal(order: Order, charged: OrderRow) -> str:
    """Return why a refund is refused; empty if it is not."""
    if charged.refund_fate == "refused":
        return "refund_refused"
    # Whatever is not a charge that went through has brought nothing that could be given back.
    brought = (charged.kind, charged.status, charged.currency) == ("charge", "done", order.currency)
    most = charged.amount - charged.refunded if brought else 0
    return "exceeds_charge" if order.amount > most else ""


def _add(
    draft: Draft,
    order: Order,
    kind: str | None,
    status: str,
    reason: str = "",
    *,
    refund_fate: str | None = None,
    paid_by: UUID | None = None,
) -> OrderRow:
    row = OrderRow(
        tenant_id=order.tenant_id,
        id=order.id,
        version=1,
        kind=kind,
        amount=order.amount,
        currency=order.currency,
        status=status,
        reason=reason,
        refund_fate=refund_fate,
        refunded=0,
        paid_by=paid_by,
        created_at=draft.now,
    )
    draft.insert(ORDERS, row)
    return row


def _change(draft: Draft, row: OrderRow, **changes: Any) -> OrderRow:
    return draft.update(ORDERS, msgspec.structs.replace(row, **changes))


def _tell(draft: Draft, news: News, due_at: datetime) -> None:
    if draft.find(NEWS, news.id) is None:
        told = msgspec.to_builtins(news)
        row = NewsRow(
            news.tenant_id, news.id, 1, _KINDS[type(news)], due_at, heard=False, told=told
        )
        draft.insert(NEWS, row)
