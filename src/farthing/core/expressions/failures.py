"""What went wrong while an expression ran, in words that show nothing of what it ran on."""

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from farthing.core.expressions.emit import Helper, Piece, Slot

_SENTENCES: Final[dict[type[BaseException], str]] = {
    KeyError: "A field or key that it reads is absent; has(...) or in can ask before.",
    IndexError: "A list has no element at that index.",
    ZeroDivisionError: "It divides by zero.",
    OverflowError: "A number, time or duration leaves its range.",
    TypeError: "A value does not have the type that it should have.",
}
_UNDEFINED: Final = re.compile(r"Undefined variable or function: '(\w+)'")
_FUNCTION: Final = re.compile(r"Function '(\w+)' error")
_FUNCTIONS: Final = {
    "int": "int(...) got a string that is no number.",
    "double": "double(...) got a string that is no number.",
    "timestamp": "timestamp(...) got a string that is no time.",
    "unreadable": "This version of the service cannot read it.",
}


class Failure(Struct, frozen=True):
    """Why one expression gave neither true nor false."""

    sentence: str


def is_failure(error: BaseException) -> bool:
    """Tell a failure of the expression from what must stop the process, such as Ctrl-C.

    A panic of the library is no Exception, and its class cannot be imported.
    """
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def explain(error: BaseException, names: Mapping[str, Piece]) -> Failure:
    """Say what went wrong."""
    for kind, sentence in _SENTENCES.items():
        if isinstance(error, kind):
            return Failure(sentence)
    undefined = _UNDEFINED.match(str(error))
    if undefined:
        piece = names.get(undefined[1])
        if isinstance(piece, Slot):
            return Failure(f"{piece} is absent; has({piece}) can ask before.")
        return Failure("An answer of the history is missing.")
    function = _FUNCTION.match(str(error))
    if function:
        piece = names.get(function[1])
        name = piece.name if isinstance(piece, Helper) else function[1]
        if name in _FUNCTIONS:
            return Failure(_FUNCTIONS[name])
    return Failure("It could not be evaluated.")
