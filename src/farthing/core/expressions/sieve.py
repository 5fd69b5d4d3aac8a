"""A sieve: tells of most expressions at a glance that they cannot hold.

Whoever asks the library must convert every fact for it first, which costs more than all the rest.
Most rules begin with something simple that is not so: another flow, a smaller amount, no such tag.
Where that is surely so the expression is false, whatever else is in it; everything else is left to
the library.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

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

# Gets what the readers read from, and returns False only if the expression is surely false.
Test = Callable[[Any], bool]
# Return a value, by the name of the variable and of the field; None is for what is absent.
Readers = Mapping[str, Mapping[str, Callable[[Any], Any]]]

_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class _Part(Struct, frozen=True):
    """A test of a part, and whether the part is also true wherever the test says so."""

    test: Test
    exact: bool


def sieve(source: str, readers: Readers) -> Test | None:
    """Return a quick test of an expression that was checked; None if there is nothing to test."""
    part = _Sieve(readers).part(parse(source))
    return None if part is None else part.test


class _Sieve:
    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    def part(self, node: Node) -> _Part | None:
        """Return the test of a part, if there is one."""
        if isinstance(node, Logic):
            return self._logic(node)
        if isinstance(node, Unary) and node.operator == "!":
            inside = self.part(node.operand)
            # What may be true may be false too, unless it surely is.
            return _negated(inside) if inside is not None and inside.exact else None
        if isinstance(node, Binary):
            return self._membership(node) if node.operator == "in" else self._comparison(node)
        if isinstance(node, Call) and node.function == "has" and node.target is None:
            get = self._getter(node.arguments[0])
            return None if get is None else _Part(lambda given: get(given) is not None, exact=True)
        return None

    def _logic(self, node: Logic) -> _Part | None:
        parts = [self.part(one) for one in node.operands]
        known = [one for one in parts if one is not None]
        tests, exact = tuple(one.test for one in known), all(one.exact for one in known)
        if node.operator == "&&":
            # One that is surely false is enough.
            complete = len(known) == len(parts)
            return _Part(_every(tests), exact and complete) if known else None
        # None of them may be true, so that each must be known.
        return _Part(_some(tests), exact) if len(known) == len(parts) else None

    def _comparison(self, node: Binary) -> _Part | None:
        left, right, sign = node.left, node.right, node.operator
        if isinstance(left, Value):
            left, right, sign = right, left, _MIRRORED.get(sign, sign)
        get = self._getter(left)
        if get is None or not isinstance(right, Value) or sign not in _COMPARE:
            return None
        return _Part(_compared(get, _COMPARE[sign], right.value), exact=False)

    def _membership(self, node: Binary) -> _Part | None:
        get = self._getter(node.right)
        if get is None or not isinstance(node.left, Value):
            return None
        return _Part(_contained(get, node.left.value), exact=False)

    def _getter(self, node: Node) -> Callable[[Any], Any] | None:
        """Return what reads a field of a variable, or a key of a map that is one."""
        if isinstance(node, Index) and isinstance(node.index, Value):
            return _keyed(self._getter(node.operand), node.index.value)
        if not isinstance(node, Select):
            return None
        if isinstance(node.operand, Name):
            return self._readers.get(node.operand.name, {}).get(node.field)
        return _keyed(self._getter(node.operand), node.field)


def _negated(part: _Part) -> _Part:
    test = part.test
    return _Part(lambda given: not test(given), exact=True)


def _every(tests: tuple[Test, ...]) -> Test:
    if len(tests) == 1:
        return tests[0]
    first, *others = tests
    rest = _every(tuple(others))
    return lambda given: first(given) and rest(given)


def _some(tests: tuple[Test, ...]) -> Test:
    if len(tests) == 1:
        return tests[0]
    first, *others = tests
    rest = _some(tuple(others))
    return lambda given: first(given) or rest(given)


def _compared(get: Callable[[Any], Any], compare: Callable[[Any, Any], bool], wanted: Any) -> Test:
    def test(given: Any) -> bool:
        value = get(given)
        # What is absent makes the rule fail, and that is for the library to find out.
        return value is None or compare(value, wanted)

    return test


def _contained(get: Callable[[Any], Any], wanted: Any) -> Test:
    def test(given: Any) -> bool:
        values = get(given)
        return values is None or wanted in values

    return test


def _keyed(get: Callable[[Any], Any] | None, key: Any) -> Callable[[Any], Any] | None:
    if get is None:
        return None

    def keyed(given: Any) -> Any:
        found = get(given)
        return found.get(key) if isinstance(found, dict) else None

    return keyed
