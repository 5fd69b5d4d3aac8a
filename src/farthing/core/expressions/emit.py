"""What the library gets to see: text that we write anew, with places for what it needs.

Nothing of the source goes to the library as it was written, so that both cannot read it
differently, and every value comes in as a variable of its own, because that is the cheapest.
"""

from datetime import datetime
from fractions import Fraction
from typing import Literal

from msgspec import Struct

from farthing.core.expressions.types import Scalar
from farthing.core.expressions.windows import Window


class Slot(Struct, frozen=True):
    """A variable for what is at the end of a path.

    It `asks` whether there is something, has `deep` values that need tidying, or is a string that
    is only compared with written ones: `coded` as a number, which costs the library a sixth.
    `load` is what it costs to hand it over.
    """

    path: tuple[str, ...]
    asks: bool = False
    deep: bool = False
    coded: bool = False
    load: int = 0

    def __str__(self) -> str:
        return ".".join(self.path)


class Word(Struct, frozen=True):
    """A written string beside a coded one: the number that stands for it."""

    text: str


class Helper(Struct, frozen=True):
    """A function of ours, where the library is slow or counts otherwise than CEL says."""

    name: Literal["size", "matches", "timestamp", "unreadable"]
    pattern: str = ""


Piece = str | Slot | Word | Helper | Window
Pieces = tuple[Piece, ...]


def write(value: Scalar) -> str:
    """Write a value as a literal."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{"".join(map(_write_character, value))}"'
    return repr(value) if value >= 0 else f"({value!r})"


def write_duration(seconds: Fraction) -> str:
    """Write a duration as a call; nanoseconds are the finest that there is."""
    whole, rest = divmod(abs(seconds), 1)
    nanoseconds = f"{int(rest * 10**9)}ns" if rest else ""
    return f'duration("{"-" if seconds < 0 else ""}{whole}s{nanoseconds}")'


def write_timestamp(when: datetime) -> str:
    """Write a time as a call."""
    return f'timestamp("{when.isoformat()}")'


def _write_character(one: str) -> str:
    if one.isascii() and one.isprintable() and one not in {'"', "\\"}:
        return one
    return f"\\U{ord(one):08x}"
