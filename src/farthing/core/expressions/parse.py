"""From the text of an expression to its tree."""

from collections.abc import Iterator
from functools import cache
from typing import Any, Final, cast

from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedToken

from farthing.core.expressions.faults import Fault
from farthing.core.expressions.limits import MOST_CHARACTERS, MOST_DEPTH
from farthing.core.expressions.literals import read_double, read_int, read_string
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
    grow,
    too_deep,
)

_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}
_HINTS: Final = {
    "=": "To compare, write == here.",
    "&": "And is written && here.",
    "|": "Or is written || here.",
    '"': "This string is not closed.",
    "'": "This string is not closed.",
    "AND": "And is written && here.",
    "OR": "Or is written || here.",
    "NOT": "Not is written ! before what it denies.",
}

_TOO_EARLY: Final = "The expression ends too early."

Children = list[Any]


class _Brackets:
    """Watches brackets on the way from the lexer to the parser, before anything can be deep."""

    always_accept = ()

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        open_: list[Token] = []
        for token in stream:
            if token in _CLOSING:
                open_.append(token)
                if len(open_) > MOST_DEPTH:
                    raise too_deep(_at(token))
            elif token in _CLOSING.values():
                if not open_ or _CLOSING[open_[-1]] != token:
                    raise Fault(f"This {token} closes nothing.", _at(token))
                open_.pop()
            yield token
        if open_:
            raise Fault(f"This {open_[-1]} is never closed.", _at(open_[-1]))


class _Builder(Transformer[Token, Node]):
    """Makes the nodes while the parser reads, one per rule of the grammar."""

    def start(self, parts: Children) -> Node:
        return _node(parts[0])

    def inside(self, parts: Children) -> Node:
        return _node(parts[1])

    def name(self, parts: Children) -> Node:
        return Name(start=_at(parts[0]), name=str(parts[0]))

    def true(self, parts: Children) -> Node:
        return Value(start=_at(parts[0]), value=True)

    def false(self, parts: Children) -> Node:
        return Value(start=_at(parts[0]), value=False)

    def null(self, parts: Children) -> Node:
        return Value(start=_at(parts[0]), value=None)

    def int(self, parts: Children) -> Node:
        return Value(start=_at(parts[0]), value=read_int(parts[0], _at(parts[0])))

    def double(self, parts: Children) -> Node:
        return Value(start=_at(parts[0]), value=read_double(parts[0], _at(parts[0])))

    def string(self, parts: Children) -> Node:
        return Value(start=_at(parts[0]), value=read_string(parts[0], _at(parts[0])))

    def pair(self, parts: Children) -> tuple[Node, Node]:
        return _node(parts[0]), _node(parts[2])

    def list(self, parts: Children) -> Node:
        elements = tuple(_nodes(parts))
        return grow(ListOf, _at(parts[0]), elements, elements=elements)

    def map(self, parts: Children) -> Node:
        pairs = tuple(one for one in parts if isinstance(one, tuple))
        inside = [one for pair in pairs for one in pair]
        return grow(MapOf, _at(parts[0]), inside, pairs=pairs)

    def function(self, parts: Children) -> Node:
        inside = tuple(_nodes(parts))
        at = _at(parts[0])
        return grow(Call, at, inside, function=str(parts[0]), target=None, arguments=inside, at=at)

    def method(self, parts: Children) -> Node:
        target, *inside = _nodes(parts)
        name = parts[2]
        more = {"function": str(name), "target": target, "at": _at(name)}
        return grow(Call, target.start, [target, *inside], arguments=tuple(inside), **more)

    def select(self, parts: Children) -> Node:
        operand, _, field = parts
        start = operand.start
        return grow(Select, start, [operand], operand=operand, field=str(field), at=_at(field))

    def index(self, parts: Children) -> Node:
        operand, _, index, _ = parts
        return grow(Index, operand.start, [operand, index], operand=operand, index=index)

    def unary(self, parts: Children) -> Node:
        sign, operand = parts
        if sign == "-" and isinstance(operand, Value) and type(operand.value) in {int, float}:
            return Value(start=_at(sign), value=-operand.value)  # type: ignore[operator]  # it is a number
        return grow(Unary, _at(sign), [operand], operator=str(sign), operand=operand)

    def binary(self, parts: Children) -> Node:
        left, sign, right = parts
        more = {"operator": str(sign), "left": left, "right": right, "at": _at(sign)}
        return grow(Binary, left.start, [left, right], **more)

    def logic(self, parts: Children) -> Node:
        inside = tuple(_nodes(parts))
        return grow(Logic, inside[0].start, inside, operator=str(parts[1]), operands=inside)

    def ternary(self, parts: Children) -> Node:
        condition, then, otherwise = inside = _nodes(parts)
        more = {"condition": condition, "then": then, "otherwise": otherwise}
        return grow(Ternary, condition.start, inside, **more)


@cache
def _parser() -> Lark:
    # Its tables take a moment to make, which only whoever reads a rule should wait for.
    return Lark.open(
        "grammar.lark",
        rel_to=__file__,
        parser="lalr",
        lexer="basic",
        keep_all_tokens=True,
        maybe_placeholders=False,
        postlex=_Brackets(),
        transformer=_Builder(),
    )


def parse(source: str) -> Node:
    """Read an expression into its tree, or raise the Fault that it has."""
    if len(source) > MOST_CHARACTERS:
        raise Fault(f"An expression has {MOST_CHARACTERS} characters at most.", MOST_CHARACTERS)
    try:
        return _node(_parser().parse(source))
    except UnexpectedCharacters as found:
        at = cast("int", found.pos_in_stream)  # lark declares it as None.
        raise Fault(_HINTS.get(source[at], "This character has no meaning here."), at) from None
    except UnexpectedToken as found:
        raise _misplaced(source, found.token) from None


def _misplaced(source: str, token: Token) -> Fault:
    at, before = _at(token), source[: _at(token)][-1:]
    if token.type == "$END":
        empty = not source.strip()
        return Fault(*(("An expression is needed.", 0) if empty else (_TOO_EARLY, len(source))))
    if token.type == "STRING" and before in {"b", "B"}:
        return Fault("Bytes are not part of the language.", at - 1)
    if token in {"u", "U"} and before.isalnum():
        return Fault("Unsigned numbers are not part of the language: leave out the u.", at)
    what = {"IDENT": "A name", "STRING": "A value", "INT": "A value", "DOUBLE": "A value"}
    sentence = f"{what.get(token.type, str(token))} does not fit here."
    return Fault(_HINTS.get(token.upper(), sentence), at)


def _at(token: Token) -> int:
    return token.start_pos or 0


def _node(given: Any) -> Node:
    if not isinstance(given, Node):
        raise TypeError(given)
    return given


def _nodes(parts: Children) -> list[Node]:
    return [one for one in parts if isinstance(one, Node)]
