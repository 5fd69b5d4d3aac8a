"""Expressions that were read, and several of them together as one program."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import cel
from msgspec import Struct

from farthing.core.expressions.emit import Helper, Piece, Pieces, Slot, Word
from farthing.core.expressions.failures import Failure, explain, is_failure
from farthing.core.expressions.literals import compile_pattern, read_timestamp
from farthing.core.expressions.windows import Window

Reads = dict[str, frozenset[str]]
WHOLE: Final = "*"
# A variable and its field.
_PLAIN: Final = 2
# The code of a string that no rule has written.
_UNKNOWN: Final = -1
_ONLY_BOOL: Final = frozenset({bool})
# What fails we tell by ourselves; the library would log it too, each time.
logging.getLogger("cel").setLevel(logging.CRITICAL)


class Expression(Struct, frozen=True):
    """An expression that is right: what it asks of the history, and which fields it reads.

    `reads` has the fields of each variable, or "*" if it needs the whole of it.
    """

    source: str
    windows: tuple[Window, ...]
    reads: Reads
    pieces: Pieces


# Fails whatever it runs on. It says true of itself, so that nobody passes it over.
UNREADABLE: Final = Expression("true", (), {}, (Helper("unreadable"), '("") == true'))


class Combined:
    """Several expressions as one program, made once and evaluated often."""

    def __init__(self, expressions: Sequence[Expression]) -> None:
        self.expressions = tuple(expressions)
        pieces = [piece for one in self.expressions for piece in one.pieces]
        self.reads = reads_of(pieces)
        self.windows = windows_of(pieces)
        given = dict.fromkeys(piece for piece in pieces if not isinstance(piece, str))
        self._names: dict[Piece, str] = {
            piece: str(n) if isinstance(piece, Word) else f"_{n}" for n, piece in enumerate(given)
        }
        self._codes = {piece.text: n for n, piece in enumerate(given) if isinstance(piece, Word)}
        self._texts = [self._text(one) for one in self.expressions]
        self._program = cel.compile(f"[{', '.join(self._texts)}]")
        # One by one they are only needed when one of them fails.
        self._single: list[cel.Program] = []
        self._sort_out()
        self._last: dict[str, Any] = {}
        self._context = cel.Context({}, self._functions)

    def _text(self, expression: Expression) -> str:
        return "".join(
            piece if isinstance(piece, str) else self._names[piece] for piece in expression.pieces
        )

    def _sort_out(self) -> None:
        self._functions: dict[str, Callable[[str], Any]] = {}
        self._asked: list[tuple[str, Window]] = []
        # Most slots are a plain field of a variable, and these have the shortest way.
        self._fields: dict[str, list[tuple[str, str, bool]]] = {}
        self._slots: list[tuple[str, Slot]] = []
        for piece, name in self._names.items():
            if isinstance(piece, Helper):
                self._functions[name] = _helper(piece)
            elif isinstance(piece, Window):
                self._asked.append((name, piece))
            elif isinstance(piece, Slot):
                if len(piece.path) == _PLAIN and not piece.asks and not piece.deep:
                    self._fields.setdefault(piece.path[0], []).append(
                        (name, piece.path[1], piece.coded)
                    )
                else:
                    self._slots.append((name, piece))

    def evaluate(
        self, facts: Mapping[str, Any], windows: Mapping[Window, int]
    ) -> list[bool | Failure]:
        """Say of each expression whether it holds; one that fails takes none with it."""
        try:
            values = self._gather(facts, windows)
        except (AttributeError, TypeError):
            return self._all_fail()
        try:
            results: list[bool | Failure] = self._program.execute(self._converted(values))
        except BaseException as error:
            if not is_failure(error):
                raise
            return self._one_by_one(values)
        # Facts that are not what they were declared to be could give anything.
        return results if _ONLY_BOOL.issuperset(map(type, results)) else self._one_by_one(values)

    def _converted(self, values: dict[str, Any]) -> cel.Context:
        """Return the facts as the library has them.

        To convert one costs more than to evaluate a rule, and most are the same as last time.
        """
        # Until all are converted nobody knows which they are.
        last, self._last = self._last, {}
        if last.keys() != values.keys():
            self._context = cel.Context(values, self._functions)
        else:
            for name, value in values.items():
                known = last[name]
                if known is not value and (known != value or type(known) is not type(value)):
                    self._context.add_variable(name, value)
        self._last = values
        return self._context

    def _gather(self, facts: Mapping[str, Any], windows: Mapping[Window, int]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        codes = self._codes
        for variable, fields in self._fields.items():
            given = facts.get(variable)
            if given is not None:
                for name, field, coded in fields:
                    value = given.get(field)
                    if value is not None:
                        values[name] = codes.get(value, _UNKNOWN) if coded else value
        for name, slot in self._slots:
            value = _find(facts, slot)
            if value is not None:
                values[name] = codes.get(value, _UNKNOWN) if slot.coded else value
        for name, window in self._asked:
            count = windows.get(window)
            if count is not None:
                values[name] = count
        return values

    def _one_by_one(self, values: dict[str, Any]) -> list[bool | Failure]:
        if not self._single:
            self._single = [cel.compile(text) for text in self._texts]
        try:
            context = cel.Context(values, self._functions)
        except (TypeError, ValueError):
            return self._all_fail()
        return [self._alone(program, context) for program in self._single]

    def _all_fail(self) -> list[bool | Failure]:
        return [Failure("What it runs on is not what was declared.")] * len(self.expressions)

    def _alone(self, program: cel.Program, context: cel.Context) -> bool | Failure:
        try:
            result = program.execute(context)
        except BaseException as error:
            if not is_failure(error):
                raise
            missing = {name: piece for piece, name in self._names.items()}
            return explain(error, missing)
        return result if isinstance(result, bool) else Failure("It gives neither true nor false.")


def reads_of(pieces: Iterable[Piece]) -> Reads:
    """Say which fields of which variables are read."""
    found: dict[str, set[str]] = {}
    for piece in pieces:
        if isinstance(piece, Slot):
            variable, *fields = piece.path
            found.setdefault(variable, set()).add(fields[0] if fields else WHOLE)
    return {
        name: frozenset({WHOLE}) if WHOLE in fields else frozenset(fields)
        for name, fields in found.items()
    }


def windows_of(pieces: Iterable[Piece]) -> tuple[Window, ...]:
    """Say what is asked of the history."""
    return tuple(sorted({piece for piece in pieces if isinstance(piece, Window)}))


def _helper(helper: Helper) -> Callable[[str], Any]:
    if helper.name == "size":
        return len
    if helper.name == "timestamp":
        return lambda text: read_timestamp(text, 0)
    if helper.name == "unreadable":
        return _fail
    search = compile_pattern(helper.pattern).search
    return lambda text: search(text) is not None


def _fail(_: str) -> None:
    raise ValueError


def _find(facts: Mapping[str, Any], slot: Slot) -> Any:
    """Follow a path; None is for what is absent, on its way or at its end."""
    *way, last = slot.path
    value: Any = facts
    for part in way:
        value = value.get(part)
        if value is None:
            return None
    found = value.get(last)
    if slot.asks:
        return found is not None
    return _tidy(found) if slot.deep else found


def _tidy(value: Any) -> Any:
    """Leave out what is null, as if it were absent, and show times as UTC."""
    if isinstance(value, dict):
        return {key: _tidy(one) for key, one in value.items() if one is not None}
    if isinstance(value, list):
        return [_tidy(one) for one in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    return value
