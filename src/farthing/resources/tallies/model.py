"""What a tally is: how many of something a customer has made, and how much that was in all.

Each one that is made leaves a mark with what was there then. A window holds what the last one says,
less what was there before the first mark inside of it: two rows, however many lie between.
"""

import functools
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final
from uuid import UUID, uuid5

from msgspec import Struct

from farthing.core.ids import of_bytes
from farthing.core.rows import VersionedRow

# No window is longer, so that older marks can be forgotten.
LONGEST: Final = timedelta(days=31)

# What is counted by the flow of a transaction, in its currency.
FLOWS: Final = {"INBOUND": "inbound", "OUTBOUND": "outbound", "INTERNAL": "internal"}
# What is counted when an object is made.
NOUNS: Final = {
    "account": "accounts",
    "bank_account": "bankAccounts",
    "card": "cards",
    "customer": "customers",
}
COUNTED: Final = (*FLOWS.values(), *NOUNS.values())


class Tally(VersionedRow, frozen=True):
    """All that was ever counted, as the last mark says it."""

    count: int
    # All amounts ever, which can be more than any account holds.
    total: Decimal
    # The time of the last mark, which the next one must not precede; None before the first.
    moved_at: datetime | None


class Mark(Struct, frozen=True):
    """When something was counted, and what was there then, itself included."""

    tenant_id: UUID
    tally_id: UUID
    created_at: datetime
    count: int
    total: Decimal
    amount: int


class Subject(Struct, frozen=True):
    """Whose tally it is, of what, and since which version of the rules it is kept."""

    owner_id: UUID
    what: str
    # Smaller amounts do not count.
    at_least: int
    # Amounts of different currencies do not add up.
    currency: str | None
    # A tally that was not kept for a while begins anew under another name.
    since: int

    @property
    def id(self) -> UUID:
        """The identifier of its tally."""
        return _identify(self)


@functools.lru_cache(maxsize=50_000)
def _identify(subject: Subject) -> UUID:
    said = f"{subject.what}/{subject.at_least}/{subject.currency}/{subject.since}"
    return of_bytes(uuid5(subject.owner_id, said).bytes)
