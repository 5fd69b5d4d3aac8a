"""The checker: every part of an expression has a type, or the expression is refused.

It also writes what the library gets to see, because it knows what each part is.
"""

from collections.abc import Callable, Collection, Mapping
from functools import reduce
from typing import Any, Final

from farthing.core.expressions import calls, operators
from farthing.core.expressions.checked import Checked, between, expect, read, written
from farthing.core.expressions.costs import SMALL, Size, assumed, either, of_text
from farthing.core.expressions.emit import Slot, write
from farthing.core.expressions.faults import Fault, choice
from farthing.core.expressions.limits import MOST_COST, MOST_INT
from farthing.core.expressions.nodes import (
    Binary,
    Call,
    Index,
    ListOf,
    Logic,
    MapOf,
    Name,
    Node,
    Select,
    Ternary,
    Unary,
    Value,
)
from farthing.core.expressions.types import (
    BOOL,
    DOUBLE,
    INT,
    NOTHING,
    NULL,
    STRING,
    Type,
    common,
    list_of,
    map_of,
)
from farthing.core.expressions.windows import HISTORY, Window

_TYPES: Final = {str: STRING, bool: BOOL, int: INT, float: DOUBLE, type(None): NULL}


class Checker:
    """Checks one expression against the names that it may use."""

    def __init__(self, names: Mapping[str, Type], history: Collection[str]) -> None:
        self.names = names
        self.history = history
        # The variables of the macros around this place: their types and what we call them.
        self.bound: dict[str, Checked] = {}
        self.windows: set[Window] = set()
        self._ways: dict[type[Node], Callable[[Any], Checked]] = {
            Value: self._value,
            Name: self._name,
            Select: self._select,
            Index: self._index,
            Call: self._call,
            ListOf: self._list,
            MapOf: self._map,
            Unary: self._unary,
            Binary: self._binary,
            Logic: self._logic,
            Ternary: self._ternary,
        }

    def check(self, node: Node) -> Checked:
        """Return what a part is, or raise its Fault."""
        made = self._ways[type(node)](node)
        _afford(made.cost, node)
        return made

    def check_rule(self, node: Node) -> Checked:
        """Return what a whole rule is: true or false, and not too dear with all that it reads."""
        made = self.check(node)
        expect(made, BOOL, node.start, "A rule")
        slots = {piece for piece in made.pieces if isinstance(piece, Slot)}
        _afford(made.cost + sum(slot.load for slot in slots), node)
        return made

    def _value(self, node: Value) -> Checked:
        value = node.value
        if type(value) is int and value > MOST_INT:
            raise Fault("This number does not fit into 64 bits.", node.start)
        size = of_text(len(value)) if isinstance(value, str) else SMALL
        return Checked(_TYPES[type(value)], (write(value),), size=size)

    def _name(self, node: Name) -> Checked:
        if node.name in self.bound:
            return self.bound[node.name]
        if node.name in self.names:
            return read((node.name,), self.names[node.name])
        if node.name == HISTORY and self.history:
            raise Fault(f"The history is asked: {calls.HOW_TO_ASK}.", node.start)
        known = {*self.names, *self.bound, *([HISTORY] if self.history else [])}
        raise Fault(f"There is no such name. {choice(node.name, known)}", node.start)

    def field_of(self, node: Select) -> tuple[Checked, Type]:
        """Return what a field is selected from, and the type of the field."""
        operand = self.check(node.operand)
        if operand.type.kind == "map":
            return operand, operand.type.element
        if operand.type.kind != "record":
            raise Fault(f"{operand.type.said.capitalize()} has no fields.", node.at)
        found = operand.type.fields.get(node.field)
        if found is None:
            there = choice(node.field, operand.type.fields)
            raise Fault(f"There is no such field. {there}", node.at)
        return operand, found

    def _select(self, node: Select) -> Checked:
        operand, found = self.field_of(node)
        return self._at_key(operand, found, node.field)

    def _at_key(self, operand: Checked, found: Type, key: str) -> Checked:
        if operand.path is not None:
            return read((*operand.path, key), found)
        size = _inside(operand, found)
        return written(found, operand, f"[{write(key)}]", size=size, work=size.total)

    def _index(self, node: Index) -> Checked:
        operand, index = self.check(node.operand), self.check(node.index)
        if operand.type.kind == "record":
            raise Fault("A field of a record is written with a dot, not in brackets.", node.start)
        if operand.type.kind not in {"list", "map"}:
            raise Fault(f"{operand.type.said.capitalize()} has no elements.", node.start)
        if operand.type.kind == "list":
            expect(index, INT, node.index.start, "The index of a list")
        else:
            expect(index, STRING, node.index.start, "The key of a map")
            if isinstance(node.index, Value) and isinstance(node.index.value, str):
                return self._at_key(operand, operand.type.element, node.index.value)
        found = operand.type.element
        size = _inside(operand, found)
        return written(found, operand, "[", index, "]", size=size, work=size.total)

    def _call(self, node: Call) -> Checked:
        return calls.check_call(self, node)

    def _unary(self, node: Unary) -> Checked:
        return operators.check_unary(node, self.check(node.operand))

    def _binary(self, node: Binary) -> Checked:
        return operators.check_binary(node, self.check(node.left), self.check(node.right))

    def _list(self, node: ListOf) -> Checked:
        elements = [self.check(one) for one in node.elements]
        of = _common("The elements of a list", node.elements, elements)
        size = Size(len(elements), _biggest(elements))
        return written(list_of(of), "[", *between(elements, ", "), "]", size=size)

    def _map(self, node: MapOf) -> Checked:
        keys = [self.check(key) for key, _ in node.pairs]
        for (key, _), checked in zip(node.pairs, keys, strict=True):
            expect(checked, STRING, key.start, "The key of a map")
        values = [self.check(value) for _, value in node.pairs]
        of = _common("The values of a map", [value for _, value in node.pairs], values)
        pairs = [written(of, *pair) for pair in zip(keys, [": "] * len(keys), values, strict=True)]
        size = Size(len(values), _biggest(values))
        return written(map_of(of), "{", *between(pairs, ", "), "}", size=size)

    def _logic(self, node: Logic) -> Checked:
        operands = [self.check(one) for one in node.operands]
        for one, checked in zip(node.operands, operands, strict=True):
            expect(checked, BOOL, one.start, f"What {node.operator} joins")
        return written(BOOL, "(", *between(operands, f" {node.operator} "), ")")

    def _ternary(self, node: Ternary) -> Checked:
        condition = self.check(node.condition)
        expect(condition, BOOL, node.condition.start, "The condition before ?")
        then, otherwise = self.check(node.then), self.check(node.otherwise)
        branches = [node.then, node.otherwise]
        of = _common("Both sides of the :", branches, [then, otherwise])
        size = either(then.size, otherwise.size)
        return written(of, "(", condition, " ? ", then, " : ", otherwise, ")", size=size)


def _afford(cost: int, node: Node) -> None:
    if cost > MOST_COST:
        raise Fault("This could take too long: it goes over too much, too often.", node.anchor)


def _inside(whole: Checked, found: Type) -> Size:
    known = whole.type.kind != "record" and whole.size.inside
    return known or assumed(found)


def _biggest(parts: list[Checked]) -> Size:
    return reduce(either, (part.size for part in parts), SMALL)


def _common(what: str, nodes: Collection[Node], parts: list[Checked]) -> Type:
    of = NOTHING
    for node, part in zip(nodes, parts, strict=True):
        both = common(of, part.type)
        if both is None:
            other = operators.why_not(of, part.type)
            raise Fault(f"{what} must have one type: {other}", node.start)
        of = both
    return of
