"""The tree of an expression. Each node knows where it stands and how big it is."""

from collections.abc import Sequence
from typing import Any, TypeVar

from msgspec import Struct

from farthing.core.expressions.faults import Fault
from farthing.core.expressions.limits import MOST_DEPTH, MOST_NODES
from farthing.core.expressions.types import Scalar


class Node(Struct, frozen=True, kw_only=True):
    """A part of an expression, which starts at an offset of the source."""

    start: int
    depth: int = 1
    size: int = 1

    @property
    def anchor(self) -> int:
        """The offset that a fault of this node points at."""
        return self.start


class Value(Node, frozen=True):
    """A literal; its Python type says what it is."""

    value: Scalar


class Name(Node, frozen=True):
    """A name."""

    name: str


class Select(Node, frozen=True):
    """A field of something: `operand.field`."""

    operand: Node
    field: str
    at: int

    @property
    def anchor(self) -> int:
        """Point at the field, not at what it belongs to."""
        return self.at


class Index(Node, frozen=True):
    """An element of something: `operand[index]`."""

    operand: Node
    index: Node


class Call(Node, frozen=True):
    """A function, method or macro: `target.function(arguments)`."""

    function: str
    target: Node | None
    arguments: tuple[Node, ...]
    at: int

    @property
    def anchor(self) -> int:
        """Point at the name of the function."""
        return self.at


class ListOf(Node, frozen=True):
    """A list in brackets."""

    elements: tuple[Node, ...]


class MapOf(Node, frozen=True):
    """A map in braces: keys and values in turn."""

    pairs: tuple[tuple[Node, Node], ...]


class Unary(Node, frozen=True):
    """`!` or `-` before something."""

    operator: str
    operand: Node


class Binary(Node, frozen=True):
    """An operator between two."""

    operator: str
    left: Node
    right: Node
    at: int

    @property
    def anchor(self) -> int:
        """Point at the operator."""
        return self.at


class Logic(Node, frozen=True):
    """`&&` or `||` between two or more: a long chain is wide, not deep."""

    operator: str
    operands: tuple[Node, ...]


class Ternary(Node, frozen=True):
    """`condition ? then : otherwise`."""

    condition: Node
    then: Node
    otherwise: Node


N = TypeVar("N", bound=Node)


def grow(kind: type[N], start: int, inside: Sequence[Node], **more: Any) -> N:
    """Make a node around others, and refuse it if that is too much."""
    depth = 1 + max((one.depth for one in inside), default=0)
    size = 1 + sum(one.size for one in inside)
    made = kind(start=start, depth=depth, size=size, **more)
    if depth > MOST_DEPTH:
        raise too_deep(made.anchor)
    if size > MOST_NODES:
        raise Fault(
            f"The expression is too big: it may have {MOST_NODES} names, values and operators.",
            made.anchor,
        )
    return made


def too_deep(offset: int) -> Fault:
    """Say that something is too deep inside others."""
    return Fault(f"This is too deep: {MOST_DEPTH} levels inside each other are the most.", offset)
