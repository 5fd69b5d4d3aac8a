"""Macros: what is asked of every element, and whether something is there."""

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from farthing.core.expressions.checked import Checked, expect, written
from farthing.core.expressions.costs import SMALL, Size, assumed, of_collecting
from farthing.core.expressions.emit import Slot, write
from farthing.core.expressions.faults import Fault
from farthing.core.expressions.functions import MACROS
from farthing.core.expressions.limits import MOST_MACROS
from farthing.core.expressions.nodes import Call, Name, Node, Select
from farthing.core.expressions.types import BOOL, STRING, Type, list_of
from farthing.core.expressions.windows import HISTORY

if TYPE_CHECKING:
    from farthing.core.expressions.check import Checker

OVER_ELEMENTS: Final = tuple(name for name in MACROS if name != "has")
_USUAL_ARGUMENTS: Final = 2
_MOST_ARGUMENTS: Final = 3


def check_has(checker: "Checker", node: Call) -> Checked:
    """Check whether a field is there; the field must be one that could be."""
    if len(node.arguments) != 1 or not isinstance(node.arguments[0], Select):
        raise Fault("has asks for one field: has(object.field).", node.at)
    asked = node.arguments[0]
    operand, _ = checker.field_of(asked)
    if operand.path is not None:
        return written(BOOL, Slot((*operand.path, asked.field), asks=True))
    return written(BOOL, f"({write(asked.field)} in ", operand, ")")


def check_macro(checker: "Checker", node: Call, target: Checked) -> Checked:
    """Check a macro over the elements of a list, or the keys of a map."""
    if target.type.kind not in {"list", "map"}:
        raise Fault(
            f"{node.function} goes over lists and maps, and this is {target.type.said}.", node.at
        )
    element = target.type.element if target.type.kind == "list" else STRING
    variable, bodies = _arguments(checker, node)
    ours = f"x{len(checker.bound)}"
    each = (target.size.inside if target.type.kind == "list" else None) or assumed(element)
    checker.bound[variable] = Checked(element, (ours,), size=each, cost=each.total)
    parts = [checker.check(body) for body in bodies]
    del checker.bound[variable]
    inner = max(part.macros for part in parts)
    macros = 1 + target.macros + inner
    if macros > MOST_MACROS:
        raise Fault(f"{MOST_MACROS} macros inside or after each other are the most.", node.at)
    text = [piece for part in parts for piece in (", ", part)]
    gives = _gives(node, element, bodies, parts)
    made = written(gives, target, f".{node.function}({ours}", *text, ")")
    count = target.size.count
    cost = target.cost + count * (1 + sum(part.cost for part in parts))
    size = SMALL
    if gives.kind == "list":
        size = Size(count, each if node.function == "filter" else parts[-1].size)
        cost += of_collecting(size)
    return replace(made, macros=macros, cost=cost, size=size)


def _arguments(checker: "Checker", node: Call) -> tuple[str, list[Node]]:
    count = len(node.arguments)
    if count != _USUAL_ARGUMENTS and not (node.function == "map" and count == _MOST_ARGUMENTS):
        raise Fault(f"It is used so: {MACROS[node.function][0]}.", node.at)
    variable, *bodies = node.arguments
    if not isinstance(variable, Name):
        raise Fault("Here stands the name that each element gets.", variable.start)
    if variable.name in {*checker.bound, *checker.names, HISTORY}:
        raise Fault("This name is taken: choose another one for the elements.", variable.start)
    return variable.name, bodies


def _gives(node: Call, element: Type, bodies: list[Node], parts: list[Checked]) -> Type:
    if node.function == "map":
        for body, part in zip(bodies[:-1], parts, strict=False):
            expect(part, BOOL, body.start, "The condition of map")
        return list_of(parts[-1].type)
    expect(parts[0], BOOL, bodies[0].start, f"The condition of {node.function}")
    return list_of(element) if node.function == "filter" else BOOL
