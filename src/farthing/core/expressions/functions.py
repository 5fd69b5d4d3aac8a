"""The operators, functions and methods of the language, as tables.

Each line is one that the library has, and tests hold both to that.
"""

from typing import Final

from msgspec import Struct

from farthing.core.expressions.types import (
    BOOL,
    DOUBLE,
    DURATION,
    INT,
    NOTHING,
    STRING,
    TIMESTAMP,
    Type,
    list_of,
    map_of,
)


class Signature(Struct, frozen=True):
    """What a function takes and gives; a method's first is what it belongs to."""

    takes: tuple[Type, ...]
    gives: Type
    why: str = ""


_ANY_LIST: Final = list_of(NOTHING)
_ANY_MAP: Final = map_of(NOTHING)

OPERATORS: Final[dict[str, tuple[Signature, ...]]] = {
    "+": (
        *(Signature((one, one), one) for one in (INT, DOUBLE, STRING, DURATION)),
        Signature((TIMESTAMP, DURATION), TIMESTAMP),
    ),
    "-": (
        *(Signature((one, one), one) for one in (INT, DOUBLE, DURATION)),
        Signature((TIMESTAMP, TIMESTAMP), DURATION),
        Signature((TIMESTAMP, DURATION), TIMESTAMP),
    ),
    "*": tuple(Signature((one, one), one) for one in (INT, DOUBLE)),
    "/": tuple(Signature((one, one), one) for one in (INT, DOUBLE)),
    "%": (Signature((INT, INT), INT),),
    **{
        sign: tuple(
            Signature((one, one), BOOL) for one in (BOOL, INT, DOUBLE, STRING, TIMESTAMP, DURATION)
        )
        for sign in ("<", "<=", ">", ">=")
    },
}

_SIZE: Final = (
    Signature((STRING,), INT, "How many characters a string has."),
    Signature((_ANY_LIST,), INT, "How many elements a list has."),
    Signature((_ANY_MAP,), INT, "How many keys a map has."),
)

FUNCTIONS: Final[dict[str, tuple[Signature, ...]]] = {
    "size": _SIZE,
    "int": (
        Signature((STRING,), INT, "Reads a whole number; fails if it is none."),
        Signature((DOUBLE,), INT, "Cuts the fraction off; fails beyond 64 bits."),
        Signature((INT,), INT, "The number itself."),
    ),
    "double": (
        Signature((STRING,), DOUBLE, "Reads a number; fails if it is none."),
        Signature((INT,), DOUBLE, "The same number, as a double."),
        Signature((DOUBLE,), DOUBLE, "The number itself."),
    ),
    "string": (
        Signature((INT,), STRING, "Writes a number."),
        Signature((DOUBLE,), STRING, "Writes a number."),
        Signature((STRING,), STRING, "The string itself."),
    ),
}

# Their one argument is written out, so that it is checked before the rule is ever used. A timestamp
# is also read from any other string, while the rule runs.
WRITTEN_OUT: Final[dict[str, Signature]] = {
    "duration": Signature((STRING,), DURATION, 'A duration such as "24h" or "1h30m".'),
    "timestamp": Signature(
        (STRING,),
        TIMESTAMP,
        'A time of RFC 3339 such as "2026-01-31T12:00:00Z", or read from a field.',
    ),
}


def _of_time(why: str) -> tuple[Signature, ...]:
    return (Signature((TIMESTAMP,), INT, f"{why}, in UTC."),)


def _of_both(why: str, whole: str) -> tuple[Signature, ...]:
    return (*_of_time(why), Signature((DURATION,), INT, f"The whole {whole} of a duration."))


METHODS: Final[dict[str, tuple[Signature, ...]]] = {
    "size": _SIZE,
    "contains": (Signature((STRING, STRING), BOOL, "Whether the other is a part of it."),),
    "startsWith": (Signature((STRING, STRING), BOOL, "Whether it starts with the other."),),
    "endsWith": (Signature((STRING, STRING), BOOL, "Whether it ends with the other."),),
    "getFullYear": _of_time("The year"),
    "getMonth": _of_time("The month, from 0"),
    "getDate": _of_time("The day of the month, from 1"),
    "getDayOfMonth": _of_time("The day of the month, from 0"),
    "getDayOfWeek": _of_time("The day of the week, Sunday is 0"),
    "getDayOfYear": _of_time("The day of the year, from 0"),
    "getHours": _of_both("The hour", "hours"),
    "getMinutes": _of_both("The minute", "minutes"),
    "getSeconds": _of_both("The second", "seconds"),
    "getMilliseconds": (
        *_of_time("The millisecond"),
        Signature((DURATION,), INT, "All milliseconds of a duration."),
    ),
}
# Its pattern is written out, so that it is compiled once.
MATCHES: Final = Signature(
    (STRING, STRING), BOOL, "Whether a regular expression of RE2, written out, is found in it."
)

# How each macro is written, and what it is for.
MACROS: Final = {
    "has": ("has(record.field)", "Whether an optional field or a key of a map is there."),
    "all": ("list.all(x, condition)", "Whether the condition holds for every element."),
    "exists": ("list.exists(x, condition)", "Whether it holds for at least one."),
    "exists_one": ("list.exists_one(x, condition)", "Whether it holds for exactly one."),
    "filter": ("list.filter(x, condition)", "The list of those for which it holds."),
    "map": ("list.map(x, value)", "The list of the values made from each."),
}
