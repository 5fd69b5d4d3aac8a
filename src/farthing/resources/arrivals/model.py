"""What an arrival is: money that came from outside, written down once."""

from datetime import datetime
from typing import Final
from uuid import UUID

from farthing.core.rows import VersionedRow

# In these states a transaction may still wait for a transfer.
WAITING: Final = frozenset({"PENDING", "ACCEPTED", "PROCESSING", "HELD"})


class ArrivalRow(VersionedRow, frozen=True):
    """An arrival as it is kept, with the transaction that it ended up in."""

    amount: int
    currency: str
    reference: str
    payer: str
    transaction_id: UUID
    created_at: datetime
