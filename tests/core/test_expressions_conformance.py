"""Our checker and evaluation beside CEL's own conformance tests; the data says where it is from."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from farthing.core.expressions import (
    BOOL,
    DOUBLE,
    INT,
    NULL,
    STRING,
    BadExpression,
    Combined,
    Failure,
    Type,
    list_of,
    map_of,
    read_expression,
)
from farthing.core.expressions.check import Checker
from farthing.core.expressions.emit import write
from farthing.core.expressions.parse import parse

CASES = json.loads((Path(__file__).parent / "cel_conformance.json").read_text("utf-8"))["cases"]
PLAIN: dict[str, Callable[[Any], Any]] = {
    "int64Value": int,
    "doubleValue": float,
    "stringValue": str,
    "boolValue": bool,
    "nullValue": lambda _: None,
}
TYPES = {str: STRING, bool: BOOL, int: INT, float: DOUBLE, type(None): NULL}
# Where we knowingly answer otherwise: a rule that fails is refused anyway, and a span of time
# that CEL does not hold is a span like any other here.
STRICTER = {"[1, 2, 3].all(e, 6 / (2 - e) == 6)"}
LENIENT = {
    "timestamp('9999-12-31T23:59:59Z') - timestamp('0001-01-01T00:00:00Z')",
    "timestamp('0001-01-01T00:00:00Z') - timestamp('9999-12-31T23:59:59Z')",
}


def value_of(given: dict[str, Any]) -> Any:
    ((kind, value),) = given.items()
    if kind == "listValue":
        return [value_of(one) for one in value.get("values", [])]
    if kind == "mapValue":
        pairs = value.get("entries", [])
        return {value_of(one["key"]): value_of(one["value"]) for one in pairs}
    return PLAIN[kind](value)


def type_of(value: Any) -> Type:
    if isinstance(value, list):
        return list_of(type_of(value[0]))
    if isinstance(value, dict):
        return map_of(type_of(next(iter(value.values()))))
    return TYPES[type(value)]


def literal(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{literal(key)}: {literal(one)}' for key, one in value.items())}}}"
    return write(value)


def facts_of(case: dict[str, Any]) -> dict[str, Any]:
    return {name: value_of(one) for name, one in case.get("bindings", {}).items()}


def outcome(source: str, facts: dict[str, Any]) -> bool | Failure:
    names = {name: type_of(value) for name, value in facts.items()}
    return Combined([read_expression(source, names, ())]).evaluate(facts, {})[0]


def label(case: dict[str, Any]) -> str:
    return f"{case['section']}/{case['name']}"


@pytest.mark.parametrize("case", [one for one in CASES if "refused" in one], ids=label)
def test_what_the_checker_of_cel_refuses_we_refuse(case: dict[str, Any]) -> None:
    with pytest.raises(BadExpression):
        outcome(f"({case['expr']}\n) == ({case['expr']}\n)", facts_of(case))


@pytest.mark.parametrize("case", [one for one in CASES if "type" in one], ids=label)
def test_an_expression_has_the_type_that_the_checker_of_cel_gives_it(case: dict[str, Any]) -> None:
    names = {name: type_of(value) for name, value in facts_of(case).items()}
    found = str(Checker(names, ()).check(parse(case["expr"])).type)
    empty = {"list(dyn)": "list", "map(dyn, dyn)": "map"}
    assert found == empty.get(case["type"], case["type"].removeprefix("google.protobuf.").lower())


@pytest.mark.parametrize(
    "case", [one for one in CASES if "value" in one and "refused" not in one], ids=label
)
def test_an_expression_gives_what_cel_says(case: dict[str, Any]) -> None:
    source = f"({case['expr']}\n) == {literal(value_of(case['value']))}"
    found = outcome(source, facts_of(case))
    assert isinstance(found, Failure) if case["expr"] in STRICTER else found is True


@pytest.mark.parametrize(
    "case", [one for one in CASES if "fails" in one and "refused" not in one], ids=label
)
def test_what_fails_in_cel_fails_here(case: dict[str, Any]) -> None:
    found = outcome(f"({case['expr']}\n) == ({case['expr']}\n)", facts_of(case))
    assert found is True if case["expr"] in LENIENT else isinstance(found, Failure)
