"""Questions to the history: how many, or how much, within a window of time until now."""

from typing import Final, Literal

from msgspec import Struct

# What is measured: of what, over how many seconds, and from which amount on.
Series = tuple[str, int, int]


class Window(Struct, frozen=True, order=True):
    """One question: what is counted or summed, over how long, from which amount on."""

    kind: Literal["count", "sum"]
    what: str
    seconds: int
    at_least: int

    @property
    def series(self) -> Series:
        """What is measured, whether it is counted or summed up."""
        return (self.what, self.seconds, self.at_least)

    def choose(self, count: int, total: int) -> int:
        """Return what is asked for of what was measured."""
        return count if self.kind == "count" else total


HISTORY: Final = "history"
QUESTIONS: Final[dict[str, tuple[Literal["count", "sum"], str]]] = {
    "count": ("count", "How many there were."),
    "sum": ("sum", "How much they were together, in the smallest unit."),
}
