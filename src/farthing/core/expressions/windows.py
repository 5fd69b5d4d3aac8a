"""Questions to the history: how many, or how much, within a window of time until now."""

from typing import Final, Literal

from msgspec import Struct


class Window(Struct, frozen=True, order=True):
    """One question: what is counted or summed, over how long, from which amount on."""

    kind: Literal["count", "sum"]
    what: str
    seconds: int
    at_least: int


HISTORY: Final = "history"
QUESTIONS: Final[dict[str, tuple[Literal["count", "sum"], str]]] = {
    "count": ("count", "How many there were."),
    "sum": ("sum", "How much they were together, in the smallest unit."),
}
