"""What an order is: one instruction to a rail, recorded before it is sent, and what became of it.

An order is sent by whoever claims it, and a claim runs out, so that another takes over from a
process that died. Whoever takes over asks the rail first: only an order of which the rail never
heard is sent again.
"""

from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from farthing.core.rows import VersionedRow
from farthing.rails.base import Order

Kind = Literal["charge", "payout", "refund"]
Status = Literal[
    "waiting", "sent", "pending", "unknown", "challenge", "approved", "done", "refused", "recalled"
]

# How long whoever claimed an order has for it; more than a rail may take for its answer.
CLAIM: Final = timedelta(seconds=60)

_FIRST_PAUSE: Final = timedelta(seconds=15)
_LONGEST_PAUSE: Final = timedelta(hours=6)
_DOUBLINGS: Final = 12

# In these the rail may have the order, or get it any moment.
IN_FLIGHT: Final = frozenset({"sent", "pending", "unknown", "approved"})
# In these there is nothing more to do for a rail, unless somebody else has said something.
AT_REST: Final = frozenset({"challenge", "done", "refused", "recalled"})


class OrderRow(VersionedRow, frozen=True):
    """An order as it is kept; without a time at which it falls due, there is nothing to do."""

    transaction_id: UUID
    kind: str
    amount: int
    currency: str
    status: str
    reason: str
    attempts: int
    due_at: datetime | None
    adjustment_id: UUID | None
    created_at: datetime

    @property
    def instruction(self) -> Order:
        """The order as a rail gets it."""
        return Order(self.tenant_id, self.id, self.amount, self.currency)

    @property
    def is_in_flight(self) -> bool:
        """Tell whether the money may be moving outside at this moment."""
        return self.status in IN_FLIGHT

    @property
    def is_open(self) -> bool:
        """Tell whether a rail has it, or is still to get it."""
        return self.status not in AT_REST


def pause_after(attempts: int) -> timedelta:
    """Return how long to wait before the rail is asked again: longer each time, to a limit."""
    return min(_FIRST_PAUSE * (1 << min(attempts, _DOUBLINGS)), _LONGEST_PAUSE)
