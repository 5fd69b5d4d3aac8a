"""What the checker knows of a part of an expression."""

from msgspec import Struct

from farthing.core.expressions.costs import SMALL, Size, assumed, of_loading
from farthing.core.expressions.emit import Piece, Pieces, Slot
from farthing.core.expressions.faults import Fault
from farthing.core.expressions.types import NULL, Type, holds_objects


class Checked(Struct, frozen=True):
    """A part with its type, how it is written, and its path if it only reads a given value."""

    type: Type
    pieces: Pieces
    path: tuple[str, ...] | None = None
    size: Size = SMALL
    cost: int = 1
    # How many macros are in it, one inside or after the other.
    macros: int = 0


def read(path: tuple[str, ...], given: Type) -> Checked:
    """Read a given value; one that is always null needs no reading."""
    size = assumed(given)
    slot = Slot(path, deep=holds_objects(given), load=of_loading(given))
    return Checked(given, ("null",) if given == NULL else (slot,), path, size, size.total)


def written(given: Type, *parts: Piece | Checked, size: Size = SMALL, work: int = 1) -> Checked:
    """Put a part together from others and the text between them; `work` is what it adds."""
    pieces: list[Piece] = []
    macros = 0
    for part in parts:
        if isinstance(part, Checked):
            pieces.extend(part.pieces)
            macros = max(macros, part.macros)
            work += part.cost
        else:
            pieces.append(part)
    return Checked(given, tuple(pieces), None, size, work, macros)


def expect(part: Checked, wanted: Type, offset: int, what: str) -> None:
    """Refuse a part that has another type."""
    if part.type != wanted:
        raise Fault(f"{what} must be {wanted.said}, and this is {part.type.said}.", offset)


def between(parts: list[Checked], separator: str) -> list[Piece | Checked]:
    """Set a separator between parts."""
    joined: list[Piece | Checked] = []
    for part in parts:
        joined += [separator, part]
    return joined[1:]
