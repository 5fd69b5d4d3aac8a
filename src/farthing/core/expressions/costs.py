"""How much work an expression can be at most, known before it ever runs.

One unit is about what the library takes for one small step, a tenth of a microsecond. What is
given is assumed to be as big as the platform lets it be, and the library copies a value with all
that is inside whenever it is named.
"""

from typing import Final

from msgspec import Struct

from farthing.core.expressions.types import Type

ASSUMED_CHARACTERS: Final = 500
ASSUMED_ELEMENTS: Final = 50
_CHARACTERS_A_UNIT: Final = 100
_A_LOADED_VALUE: Final = 25
# From the library into Python and back.
OF_HELPING: Final = 40
# Looking into a string is slower than copying it.
OF_LOOKING: Final = 3


class Size(Struct, frozen=True):
    """How big a value can be: so many, and each as big as what is inside."""

    count: int = 1
    inside: "Size | None" = None

    @property
    def total(self) -> int:
        """All of it, with what is inside."""
        return self.count * (1 if self.inside is None else self.inside.total)


SMALL: Final = Size()


def of_text(characters: int) -> Size:
    """Say how big a string is: it is handled in pieces."""
    return Size(1 + characters // _CHARACTERS_A_UNIT)


def assumed(given: Type) -> Size:
    """Say how big a given value can be."""
    if given.kind in {"list", "map"}:
        return Size(ASSUMED_ELEMENTS, assumed(given.element))
    if given.kind == "record":
        return Size(1 + sum(assumed(one).total for one in given.fields.values()))
    return of_text(ASSUMED_CHARACTERS) if given.kind == "string" else SMALL


def of_loading(given: Type) -> int:
    """Say what it costs to hand a value to the library, once for each evaluation."""
    return _A_LOADED_VALUE * _values(given)


def _values(given: Type) -> int:
    if given.kind in {"list", "map"}:
        return ASSUMED_ELEMENTS * _values(given.element)
    return 1 + sum(_values(one) for one in given.fields.values())


def either(one: Size, other: Size) -> Size:
    """Say how big something is that can be this or that."""
    if one.inside is None or other.inside is None:
        return Size(max(one.count, other.count), one.inside or other.inside)
    return Size(max(one.count, other.count), either(one.inside, other.inside))


def together(one: Size, other: Size) -> Size:
    """Say how big two are, one after the other."""
    return Size(one.count + other.count, either(one, other).inside)


def of_collecting(made: Size) -> int:
    """Say what it costs to make a list one by one: the library copies it for each element."""
    return made.count * made.total // 2


def of_matching(text: Size, steps: int) -> int:
    """Say what it costs to look for a pattern that compiles to so many steps."""
    return text.count * (1 + steps * _CHARACTERS_A_UNIT // 20)
