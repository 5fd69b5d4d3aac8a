"""What the size of the tables does to the cost of an operation: which, and beside how many."""

from typing import Final

from bench import fill
from bench.scenarios import CARD_CREATION, RULED_TRANSFERS, TRANSFERS, Scenario
from msgspec import Struct


class Growth(Struct, frozen=True):
    """A scenario that is measured beside few objects, and then beside many."""

    name: str
    noun: str
    scenario: Scenario
    statements: tuple[str, ...]
    few: int
    many: int = 1_000_000


GROWTHS: Final = (
    Growth("large", "cards", CARD_CREATION, fill.CARDS, few=1_000),
    Growth("large-transfers", "transactions", TRANSFERS, fill.TRANSACTIONS, few=10_000),
    Growth("large-rules", "transactions", RULED_TRANSFERS, fill.TRANSACTIONS, few=10_000),
)
