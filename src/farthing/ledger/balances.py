"""Balances: the counters of one account, in the smallest unit of its currency."""

from datetime import datetime
from typing import Final, Literal
from uuid import UUID, uuid5

from farthing.core.rows import VersionedRow
from farthing.db.tables import Table

# Where an account is: a customer's on the platform, the outside world, or the place of a tenant
# for money that nobody could place, which a payout after its end may take below zero.
Place = Literal["platform", "outside", "suspense"]

# The counters that an entry can change, in the order of the columns.
COUNTERS: Final = (
    "complete",
    "incomplete_debits",
    "incomplete_credits",
    "disputed_debits",
    "disputed_credits",
    "withheld",
)


class Balance(VersionedRow, frozen=True):
    """What an account holds, and what is on its way or set aside."""

    currency: str
    place: str
    complete: int
    incomplete_debits: int
    incomplete_credits: int
    disputed_debits: int
    disputed_credits: int
    withheld: int
    # The time of the last entry, which the next one must not precede; None before the first.
    moved_at: datetime | None = None

    @classmethod
    def empty(cls, tenant_id: UUID, account_id: UUID, currency: str, place: Place) -> "Balance":
        """Return the balance of an account to which nothing has happened yet."""
        return cls(tenant_id, account_id, 0, currency, place, 0, 0, 0, 0, 0, 0)

    @property
    def available(self) -> int:
        """What the owner can dispose of."""
        return self.complete - self.incomplete_debits - self.disputed_debits - self.withheld

    @property
    def is_zero(self) -> bool:
        """Tell whether nothing is held and nothing is on its way."""
        return not any(getattr(self, counter) for counter in COUNTERS)


BALANCES: Final = Table("balances", Balance, rank=90)


def outside_account(tenant_id: UUID, rail: str, currency: str) -> UUID:
    """Return the account that stands for the outside world behind one rail."""
    return uuid5(tenant_id, f"outside/{rail}/{currency}")
