"""Operators: which go with which types."""

from farthing.core.expressions.checked import Checked, expect, written
from farthing.core.expressions.costs import SMALL, together
from farthing.core.expressions.emit import Slot, Word
from farthing.core.expressions.faults import Fault
from farthing.core.expressions.functions import OPERATORS
from farthing.core.expressions.nodes import Binary, ListOf, Unary, Value
from farthing.core.expressions.types import (
    BOOL,
    DOUBLE,
    DURATION,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    Type,
    common,
)


def check_unary(node: Unary, operand: Checked) -> Checked:
    """Check `!` and `-`."""
    if node.operator == "!":
        expect(operand, BOOL, node.start, "What ! denies")
        return written(BOOL, "!(", operand, ")")
    if operand.type == INT:
        # The library's minus wraps around at the least number; its subtraction fails as it should.
        return written(INT, "(0 - ", operand, ")")
    if operand.type == DOUBLE:
        return written(DOUBLE, "-(", operand, ")")
    raise Fault(f"{operand.type.said.capitalize()} has no negative.", node.start)


def check_binary(node: Binary, left: Checked, right: Checked) -> Checked:
    """Check an operator between two."""
    if node.operator == "in":
        return _check_in(node, left, right)
    if (node.operator, left.type, right.type) == ("+", DURATION, TIMESTAMP):
        # CEL has both orders, the library only the other one.
        left, right = right, left
    given = _result(node.operator, left.type, right.type)
    if given is None:
        reason = why_not(left.type, right.type)
        raise Fault(f"{node.operator} does not fit: {reason}", node.at)
    coded = _coded(node, left, right)
    if coded is not None:
        return coded
    size, work = SMALL, min(left.size.total, right.size.total)
    if given.kind in {"list", "string"}:
        size = together(left.size, right.size)
        work = size.count
    return written(given, "(", left, f" {node.operator} ", right, ")", size=size, work=work)


def _result(operator: str, left: Type, right: Type) -> Type | None:
    both = common(left, right)
    if operator in {"==", "!="}:
        return None if both is None else BOOL
    if operator == "+" and both is not None and both.kind == "list":
        return both
    for one in OPERATORS[operator]:
        if one.takes == (left, right):
            return one.gives
    return None


def _check_in(node: Binary, left: Checked, right: Checked) -> Checked:
    if right.type.kind == "list":
        if common(left.type, right.type.element) is None:
            reason = why_not(left.type, right.type.element)
            raise Fault(f"This list cannot have that in it: {reason}", node.at)
        coded = _coded(node, left, right)
        if coded is not None:
            return coded
        return written(BOOL, "(", left, " in ", right, ")", work=right.size.total)
    if right.type.kind == "map":
        expect(left, STRING, node.left.start, "The key of a map")
        if isinstance(node.left, Value) and right.path is not None:
            return written(BOOL, Slot((*right.path, str(node.left.value)), asks=True))
        return written(BOOL, "(", left, " in ", right, ")")
    hint = " Ask has(...) for a field." if right.type.kind == "record" else ""
    hint = " Use contains for a part of a string." if right.type == STRING else hint
    raise Fault(f"in looks into lists and maps, and this is {right.type.said}.{hint}", node.at)


def _coded(node: Binary, left: Checked, right: Checked) -> Checked | None:
    """Compare a given string with written ones by their numbers, if that is all there is to do."""
    given, other = (right, node.left) if isinstance(node.left, Value) else (left, node.right)
    written_out = other.elements if isinstance(other, ListOf) else (other,)
    texts = [one.value for one in written_out if isinstance(one, Value)]
    words = [Word(text) for text in texts if isinstance(text, str)]
    if given.path is None or given.type != STRING or len(words) != len(written_out) or not words:
        return None
    slot = Slot(given.path, coded=True)
    if node.operator == "in":
        listed = [piece for word in words for piece in (", ", word)][1:]
        return written(BOOL, "(", slot, " in [", *listed, "])", work=len(words))
    if node.operator in {"==", "!="}:
        return written(BOOL, "(", slot, f" {node.operator} ", words[0], ")")
    return None


def why_not(left: Type, right: Type) -> str:
    """Say why two types do not go together."""
    kinds = {left.kind, right.kind}
    if kinds == {"int", "double"}:
        return "int and double do not mix; write 1.0 instead of 1, or convert with double(...)."
    if "null" in kinds and len(kinds) > 1:
        other = right if left == NULL else left
        return f"{other.said} is never null; ask has(...) whether it is there."
    if left == right:
        return f"{left.said} has no such operator."
    return f"{left} and {right} do not go together."
