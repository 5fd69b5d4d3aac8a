"""A sieve: tells of most expressions at a glance that they cannot hold.

Whoever asks the library must convert every fact for it first, which costs more than all the rest.
Most rules begin with something simple that is not so: another flow, a smaller amount, no such tag.
Where that is surely so the expression is false, whatever else is in it; everything else is left to
the library.

The sieve of several expressions is one Python function, which is made once and asked often. Nothing
that anybody sent is in its text: the readers are ours, and values go by names.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from farthing.core.expressions.calls import read_window
from farthing.core.expressions.limits import LEAST_INT, MOST_INT
from farthing.core.expressions.nodes import (
    Binary,
    Call,
    Index,
    Logic,
    Name,
    Node,
    Select,
    Unary,
    Value,
)
from farthing.core.expressions.parse import parse
from farthing.core.expressions.windows import HISTORY, Series, Window

# How a value is read, by the name of the variable and of the field: as Python over `facts` and
# `row`, which gives None for what is absent or not known.
Readers = Mapping[str, Mapping[str, str]]
# Tells how many there are inside of a window, and how much they are together.
Measure = Callable[[Series], tuple[int, int]]
# Gets `facts`, `row` and what measures. Returns the places of the expressions that may hold; each
# of the others is surely false.
Sieve = Callable[[Any, Any, Measure], list[int]]

_COMPARE: Final = frozenset({"==", "!=", "<", "<=", ">", ">="})
_ADD: Final = {"+": "add", "-": "subtract"}
_TEXT: Final = """
def sift(facts, row, measure):
    {measured}
    passed = []
    {tests}
    return passed
"""


class _Part(Struct, frozen=True):
    """A test of a part, and whether the part is also true wherever the test says so."""

    text: str
    exact: bool


def sieve(sources: Sequence[str], readers: Readers) -> Sieve:
    """Return what sifts expressions that were checked."""
    writer = _Writer(readers)
    parts = [writer.part(parse(source)) for source in sources]
    tests = [
        f"if {'True' if part is None else part.text}: passed.append({place})"
        for place, part in enumerate(parts)
    ]
    measured = [f"{name} = None" for name in writer.measured.values()]
    text = _TEXT.format(measured="\n    ".join(measured), tests="\n    ".join(tests))
    named: dict[str, Any] = {"add": _add, "subtract": _subtract, "entry": _entry, **writer.values}
    exec(compile(text, "<sieve>", "exec"), named)  # noqa: S102 - the text is all ours
    sift: Sieve = named["sift"]
    return sift


class _Writer:
    def __init__(self, readers: Readers) -> None:
        self._readers = readers
        self.values: dict[str, Any] = {}
        # The name under which it is remembered what was measured, once it was asked for.
        self.measured: dict[Series, str] = {}

    def part(self, node: Node) -> _Part | None:
        """Return the test of a part, if there is one."""
        if isinstance(node, Logic):
            return self._logic(node)
        if isinstance(node, Unary) and node.operator == "!":
            inside = self.part(node.operand)
            # What may be true may be false too, unless it surely is.
            return _Part(f"(not {inside.text})", exact=True) if inside and inside.exact else None
        if isinstance(node, Binary):
            return self._membership(node) if node.operator == "in" else self._comparison(node)
        if isinstance(node, Call) and node.function == "has" and node.target is None:
            read = self._read(node.arguments[0])
            return None if read is None else _Part(f"({read} is not None)", exact=True)
        return None

    def _logic(self, node: Logic) -> _Part | None:
        parts = [self.part(one) for one in node.operands]
        known = [one for one in parts if one is not None]
        complete, exact = len(known) == len(parts), all(one.exact for one in known)
        if node.operator == "&&":
            # One that is surely false is enough.
            text = " and ".join(one.text for one in known)
            return _Part(f"({text})", exact and complete) if known else None
        # None of them may be true, so that each must be known.
        return _Part(f"({' or '.join(one.text for one in known)})", exact) if complete else None

    def _comparison(self, node: Binary) -> _Part | None:
        left, right = self._read(node.left), self._read(node.right)
        if left is None or right is None or node.operator not in _COMPARE:
            return None
        # What is absent makes the rule fail, and that is for the library to find out.
        text = f"(a := {left}) is None or (b := {right}) is None or a {node.operator} b"
        if isinstance(node.right, Value):
            text = f"(a := {left}) is None or a {node.operator} {right}"
        return _Part(f"({text})", exact=False)

    def _membership(self, node: Binary) -> _Part | None:
        read = self._read(node.right)
        if read is None or not isinstance(node.left, Value):
            return None
        text = f"((a := {read}) is None or {self._name(node.left.value)} in a)"
        return _Part(text, exact=False)

    def _read(self, node: Node) -> str | None:
        """Say how a value is read: a field, an entry of a map, a window, or a sum of such."""
        if isinstance(node, Value):
            return self._name(node.value)
        if isinstance(node, Binary) and node.operator in _ADD:
            left, right = self._read(node.left), self._read(node.right)
            return f"{_ADD[node.operator]}({left}, {right})" if left and right else None
        if isinstance(node, Call):
            of_history = isinstance(node.target, Name) and node.target.name == HISTORY
            return self._window(read_window(node)) if of_history else None
        return self._field(node)

    def _field(self, node: Node) -> str | None:
        if isinstance(node, Select) and isinstance(node.operand, Name):
            return self._readers.get(node.operand.name, {}).get(node.field)
        if isinstance(node, Select):
            return self._entry(node.operand, node.field)
        if isinstance(node, Index) and isinstance(node.index, Value):
            return self._entry(node.operand, node.index.value)
        return None

    def _entry(self, node: Node, key: object) -> str | None:
        inside = self._field(node)
        return None if inside is None else f"entry({inside}, {self._name(key)})"

    def _window(self, window: Window) -> str:
        name = self.measured.setdefault(window.series, f"m{len(self.measured)}")
        found = f"({name} or ({name} := measure({self._name(window.series)})))"
        return f"{found}[{window.choose(0, 1)}]"

    def _name(self, value: object) -> str:
        name = f"v{len(self.values)}"
        self.values[name] = value
        return name


def _entry(found: Any, key: Any) -> Any:
    return found.get(key) if isinstance(found, dict) else None


def _add(left: Any, right: Any) -> int | None:
    # Other things can be added too, and they are left to the library; so is what leaves the range.
    known = type(left) is int and type(right) is int
    return found if known and LEAST_INT <= (found := left + right) <= MOST_INT else None


def _subtract(left: Any, right: Any) -> int | None:
    known = type(left) is int and type(right) is int
    return found if known and LEAST_INT <= (found := left - right) <= MOST_INT else None
