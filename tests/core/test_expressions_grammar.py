"""The grammar of rules: literals, precedence and blanks are read as CEL reads them."""

import pytest

from farthing.core.expressions.faults import Fault
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
from farthing.core.expressions.parse import parse


def shape(node: Node) -> str:  # noqa: C901, PLR0911 - one line per node
    """Write a tree with every bracket, so that precedence can be seen."""
    match node:
        case Value():
            return repr(node.value)
        case Name():
            return node.name
        case Select():
            return f"{shape(node.operand)}.{node.field}"
        case Index():
            return f"{shape(node.operand)}[{shape(node.index)}]"
        case Call():
            target = "" if node.target is None else f"{shape(node.target)}."
            return f"{target}{node.function}({', '.join(map(shape, node.arguments))})"
        case ListOf():
            return f"[{', '.join(map(shape, node.elements))}]"
        case MapOf():
            return f"{{{', '.join(f'{shape(key)}: {shape(one)}' for key, one in node.pairs)}}}"
        case Unary():
            return f"({node.operator}{shape(node.operand)})"
        case Binary():
            return f"({shape(node.left)} {node.operator} {shape(node.right)})"
        case Logic():
            return f"({f' {node.operator} '.join(map(shape, node.operands))})"
        case Ternary():
            parts = (node.condition, node.then, node.otherwise)
            return "({} ? {} : {})".format(*map(shape, parts))
        case _:
            raise TypeError(node)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("0", 0),
        ("007", 7),
        ("0x1F", 31),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("- 9223372036854775808", -(2**63)),
        ("-0x8000000000000000", -(2**63)),
        ("--5", 5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1.5E-3", 0.0015),
        ("-2.5", -2.5),
        ("true", True),
        ("false", False),
        ("null", None),
    ],
)
def test_a_number_or_word_is_its_value(source: str, value: object) -> None:
    found = parse(source)
    assert isinstance(found, Value)
    assert found.value == value
    assert type(found.value) is type(value)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ('""', ""),
        ("''", ""),
        ("'a\"b'", 'a"b'),
        ('"a\'b"', "a'b"),
        (r'"a\"b"', 'a"b'),
        (r"'a\'b'", "a'b"),
        (r'"\\"', "\\"),
        (r'"\a\b\f\n\r\t\v\?\`"', "\a\b\f\n\r\t\v?`"),
        (r'"\x41\X42\u00e9\U0001F600\101"', "ABé😀A"),
        ('"""a"b""c\nd"""', 'a"b""c\nd'),
        ("'''a'b''c\nd'''", "a'b''c\nd"),
        (r'"""a\"""b"""', 'a"""b'),
        ('""""""', ""),
        (r'r"\d+\"', r"\d+" + "\\"),
        (r"R'\n'", r"\n"),
        (r'r"""a"\n"""', r'a"\n'),
        ("r'''\n'''", "\n"),
        ('"// no comment"', "// no comment"),
        ('"£ 🪙"', "£ 🪙"),
    ],
)
def test_a_string_is_its_value_in_every_form(source: str, value: str) -> None:
    found = parse(source)
    assert isinstance(found, Value)
    assert found.value == value


@pytest.mark.parametrize(
    ("source", "tree"),
    [
        ("a || b && c", "(a || (b && c))"),
        ("a && b || c && d", "((a && b) || (c && d))"),
        ("a || b || c", "(a || b || c)"),
        ("!a && b", "((!a) && b)"),
        ("!a.b", "(!a.b)"),
        ("!!a", "(!(!a))"),
        ("a == b && c", "((a == b) && c)"),
        ("a + b < c * d", "((a + b) < (c * d))"),
        ("a < b == c", "((a < b) == c)"),
        ("a in b == c", "((a in b) == c)"),
        ("a - b - c", "((a - b) - c)"),
        ("a - -b", "(a - (-b))"),
        ("a-1", "(a - 1)"),
        ("-a.b", "(-a.b)"),
        ("-a * b", "((-a) * b)"),
        ("a * b / c % d", "(((a * b) / c) % d)"),
        ("a ? b : c ? d : e", "(a ? b : (c ? d : e))"),
        ("a ? (b ? c : d) : e", "(a ? (b ? c : d) : e)"),
        ("a || b ? c : d", "((a || b) ? c : d)"),
        ("(a || b) && c", "((a || b) && c)"),
        ("a.b.c[d].e(f)", "a.b.c[d].e(f)"),
        ("f(a, b)", "f(a, b)"),
        ("[]", "[]"),
        ("[a, b,]", "[a, b]"),
        ("{}", "{}"),
        ('{"a": b, "c": d,}', "{'a': b, 'c': d}"),
        ("a.all(x, x.exists(y, y > 1))", "a.all(x, x.exists(y, (y > 1)))"),
        ('"a"in["a"]', "('a' in ['a'])"),
        ("1in[1]", "(1 in [1])"),
        ("inside in trueish", "(inside in trueish)"),
        ("a.package.if", "a.package.if"),
        ("1.e3", "1.e3"),
    ],
)
def test_operators_bind_as_cel_says(source: str, tree: str) -> None:
    assert shape(parse(source)) == tree


@pytest.mark.parametrize(
    "source",
    ["a // why\n + b", "a + b // at the end", "// first\na + b", "\ta\f+\r\nb ", "a+b", "(a)+(b)"],
)
def test_comments_and_blanks_mean_nothing(source: str) -> None:
    assert shape(parse(source)) == "(a + b)"


@pytest.mark.parametrize(
    "source",
    [
        "5.",
        "0X1F",
        "a.b.",
        ".a",
        "a..b",
        "-!a",
        "a.in",
        "a.true",
        "[,]",
        "{,}",
        "f(a,)",
        "a{b: c}",
        "a ? b",
        "a ? b : ",
        "1 2",
        "a b",
        "in",
        "a !b",
        "a ! = b",
        "'''a'",
        "a\x0bb",
        "a\xa0b",
        "#",
    ],
)
def test_what_the_grammar_does_not_have_is_refused(source: str) -> None:
    with pytest.raises(Fault):
        parse(source)
