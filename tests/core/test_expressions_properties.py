"""The checker and the library agree: what is well typed runs, and gives what the library gives."""

from datetime import UTC, datetime, timedelta
from typing import Any

import cel
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from farthing.core.expressions import (
    BOOL,
    DOUBLE,
    DURATION,
    INT,
    STRING,
    TIMESTAMP,
    BadExpression,
    Combined,
    Failure,
    Type,
    list_of,
    map_of,
    read_expression,
    record,
)
from farthing.core.expressions.sieve import sieve
from farthing.core.expressions.windows import Window

STRINGS = list_of(STRING)
INTS = list_of(INT)
NAMES = {
    "object": record(
        {
            "flag": BOOL,
            "amount": INT,
            "rate": DOUBLE,
            "name": STRING,
            "at": TIMESTAMP,
            "span": DURATION,
            "tags": STRINGS,
            "counts": INTS,
            "notes": map_of(STRING),
            "owner": record({"name": STRING, "tags": STRINGS}, optional={"age": INT}),
            "people": list_of(record({"name": STRING}, optional={"age": INT})),
        },
        optional={"note": STRING, "least": INT},
    ),
    "now": TIMESTAMP,
}
TYPES = [BOOL, INT, DOUBLE, STRING, TIMESTAMP, DURATION, STRINGS, INTS]
# What can go wrong with an expression that is well typed; a wrong type is not among it.
ALLOWED = (
    "is absent",
    "A field or key",
    "A list has no element",
    "It divides by zero",
    "leaves its range",
    "is no number",
)

# The library counts bytes where CEL counts characters, so both see only ASCII here.
words = st.text("ab-1 '\"\\", max_size=4)
times = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - the strategy adds UTC
whole = st.integers(-(2**63) + 1, 2**63 - 1) | st.integers(-3, 3)
people = st.fixed_dictionaries({"name": words}, optional={"age": st.integers(0, 99)})
facts = st.fixed_dictionaries(
    {
        "object": st.fixed_dictionaries(
            {
                "flag": st.booleans(),
                "amount": whole,
                "rate": st.floats(-1e9, 1e9),
                "name": words,
                "at": times,
                "span": st.timedeltas(timedelta(-99), timedelta(99)),
                "tags": st.lists(words, max_size=3),
                "counts": st.lists(whole, max_size=3),
                "notes": st.dictionaries(st.sampled_from(["a", "vat"]), words),
                "owner": st.fixed_dictionaries(
                    {"name": words, "tags": st.lists(words, max_size=2)},
                    optional={"age": st.integers(0, 99)},
                ),
                "people": st.lists(people, max_size=3),
            },
            optional={"note": words, "least": whole},
        ),
        "now": times,
    }
)


def quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


LITERALS: dict[str, st.SearchStrategy[str]] = {
    "bool": st.sampled_from(["true", "false", "object.flag", "has(object.note)"])
    | st.sampled_from(["has(object.owner.age)", '("vat" in object.notes)', "has(object.notes.a)"]),
    "int": whole.map(str) | st.sampled_from(["object.amount", "object.least", "object.owner.age"]),
    "double": st.floats(-1e9, 1e9).map(repr) | st.just("object.rate"),
    "string": words.map(quote)
    | st.sampled_from(["object.name", "object.note", "object.owner.name"])
    | st.sampled_from(["object.notes.vat", 'object.notes["a"]', "object.notes[object.name]"]),
    "timestamp": st.sampled_from(["now", "object.at", 'timestamp("2026-01-31T12:00:00.5+02:00")']),
    "duration": st.sampled_from(["object.span", 'duration("-1h30m")', 'duration("1.5s")']),
    "list(string)": st.sampled_from(["object.tags", "object.owner.tags"]),
    "list(int)": st.sampled_from(["object.counts", "[1, 2, 3]"]),
}
PARTS = ["getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear"]
CLOCK = ["getHours", "getMinutes", "getSeconds", "getMilliseconds"]
# Templates by the type that they give; each % is an expression of the type that follows.
TEMPLATES: dict[str, list[tuple[str, list[Type]]]] = {
    "bool": [
        *[(f"(% {sign} %)", [one, one]) for one in TYPES for sign in ("==", "!=")],
        *[(f"(% {sign} %)", [one, one]) for one in TYPES[:6] for sign in ("<", "<=", ">", ">=")],
        *[(f"%.{name}(%)", [STRING, STRING]) for name in ("contains", "startsWith", "endsWith")],
        ("(% && %)", [BOOL, BOOL]),
        ("(% || %)", [BOOL, BOOL]),
        ("!%", [BOOL]),
        ("(% == [])", [STRINGS]),
        ("(% in [])", [INT]),
        ("(% in %)", [STRING, STRINGS]),
        ("(% in %)", [INT, INTS]),
        ("(% in object.notes)", [STRING]),
        ("%.all(x, x == %)", [STRINGS, STRING]),
        ("%.exists(x, x > %)", [INTS, INT]),
        ("%.exists_one(x, x == %)", [INTS, INT]),
        ("object.people.exists(x, x.name == %)", [STRING]),
        ("object.people.exists(x, has(x.age) && x.age > %)", [INT]),
        ("object.notes.all(x, object.notes[x] != %)", [STRING]),
        ('({"a": %}.a == %)', [INT, INT]),
    ],
    "int": [
        *[(f"(% {sign} %)", [INT, INT]) for sign in ("+", "-", "*", "/", "%%")],
        *[(f"%.{name}()", [TIMESTAMP]) for name in PARTS + CLOCK],
        *[(f"%.{name}()", [DURATION]) for name in CLOCK],
        *[(text, [one]) for text in ("size(%)", "%.size()") for one in (STRING, STRINGS, INTS)],
        ("%[%]", [INTS, INT]),
        *[("int(%)", [one]) for one in (INT, DOUBLE, STRING)],
    ],
    "double": [
        *[(f"(% {sign} %)", [DOUBLE, DOUBLE]) for sign in ("+", "-", "*")],
        *[("double(%)", [one]) for one in (INT, DOUBLE, STRING)],
        ("-(%)", [DOUBLE]),
    ],
    "string": [
        ("(% + %)", [STRING, STRING]),
        ("%[0]", [STRINGS]),
        *[("string(%)", [one]) for one in (INT, DOUBLE, STRING)],
    ],
    "timestamp": [("(% + %)", [TIMESTAMP, DURATION]), ("(% - %)", [TIMESTAMP, DURATION])],
    "duration": [("(% - %)", [TIMESTAMP, TIMESTAMP]), ("(% + %)", [DURATION, DURATION])],
    "list(string)": [
        ("[%, %]", [STRING, STRING]),
        ("(% + %)", [STRINGS, STRINGS]),
        ("%.filter(x, x != %)", [STRINGS, STRING]),
        ("%.map(x, x + %)", [STRINGS, STRING]),
    ],
    "list(int)": [("[%]", [INT]), ("%.map(x, x > 0, x / %)", [INTS, INT])],
}


KNOWN = [one for several in TEMPLATES.values() for one in several]


def fill(template: str, parts: list[str]) -> str:
    first, *texts = template.replace("%%", "\0").split("%")
    filled = first + "".join(part + text for part, text in zip(parts, texts, strict=True))
    return filled.replace("\0", "%")


@st.composite
def expressions(draw: st.DrawFn, wanted: Type, depth: int = 3) -> str:
    """Write an expression of a type; macros have one variable, so they are not inside another."""
    kind = str(wanted)
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(LITERALS[kind])
    if draw(st.integers(0, 7)) == 0:
        parts = [draw(expressions(one, depth - 1)) for one in (BOOL, wanted, wanted)]
        return "({} ? {} : {})".format(*parts)
    template, takes = draw(st.sampled_from(TEMPLATES[kind]))
    inner = 0 if "(x, " in template else depth - 1
    return fill(template, [draw(expressions(one, inner)) for one in takes])


def beside(source: str, given: dict[str, Any]) -> bool | None:
    """Evaluate the source as it is with the library alone; None if that fails."""
    try:
        found: bool = cel.compile(source).execute(given)
    except Exception:  # noqa: BLE001 - whatever it is, it failed
        return None
    return found


@settings(max_examples=300)
@given(expressions(BOOL), facts)
@example(
    "(-9223372036854775808 % -1) == 0", {"object": {}, "now": datetime(2026, 1, 1, tzinfo=UTC)}
)
def test_what_is_well_typed_runs_as_in_the_library_alone(
    source: str, given: dict[str, Any]
) -> None:
    rule = read_expression(source, NAMES, ())
    found = Combined([rule]).evaluate(given, {})[0]
    if isinstance(found, Failure):
        assert any(one in found.sentence for one in ALLOWED), found
        assert beside(source, given) is None
    else:
        assert found is beside(source, given)


@settings(max_examples=200)
@given(st.data())
def test_an_expression_of_the_wrong_type_is_refused_wherever_it_stands(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(sorted(TEMPLATES)))
    concrete = [one for one in TEMPLATES[kind] if "[]" not in one[0]]
    template, takes = data.draw(st.sampled_from(concrete))
    place = data.draw(st.integers(0, len(takes) - 1))
    wrong = data.draw(
        st.sampled_from(TYPES)
        .map(lambda other: [*takes[:place], other, *takes[place + 1 :]])
        .filter(lambda changed: (template, changed) not in KNOWN)
    )
    parts = [data.draw(expressions(one, 1)) for one in wrong]
    # What some of them give depends on what they take, so the result must not fit either.
    result = data.draw(LITERALS[kind])
    with pytest.raises(BadExpression):
        read_expression(f"{fill(template, parts)} == {result}", NAMES, ())


@settings(max_examples=100)
@given(st.lists(expressions(BOOL, 2), max_size=6), facts)
def test_together_they_give_what_each_gives_alone(
    sources: list[str], given: dict[str, Any]
) -> None:
    rules = [read_expression(one, NAMES, ()) for one in sources]
    alone = [Combined([one]).evaluate(given, {})[0] for one in rules]
    assert Combined(rules).evaluate(given, {}) == alone


@settings(max_examples=100)
@given(expressions(BOOL), facts)
def test_fields_that_are_not_read_can_be_left_out(source: str, given: dict[str, Any]) -> None:
    rule = Combined([read_expression(source, NAMES, ())])
    needed = {
        name: value
        if "*" in rule.reads[name]
        else {field: one for field, one in value.items() if field in rule.reads[name]}
        for name, value in given.items()
        if name in rule.reads
    }
    assert rule.evaluate(needed, {}) == rule.evaluate(given, {})


READERS = {"object": {field: f"row.get('{field}')" for field in NAMES["object"].fields}}
DAY = Window("sum", "outbound", 24 * 60 * 60, 0)


def passes(source: str, given: dict[str, Any], inside: int = 0, readers: Any = READERS) -> bool:
    read_expression(source, NAMES, ("outbound",))
    return sieve([source], readers)(given, given["object"], lambda _: (0, inside)) == [0]


@settings(max_examples=300)
@given(expressions(BOOL), facts)
def test_what_the_sieve_holds_back_would_not_have_held(source: str, given: dict[str, Any]) -> None:
    held = Combined([read_expression(source, NAMES, ())]).evaluate(given, {})[0]
    if not passes(source, given):
        # What is false whatever its other parts are is not asked whether these fail.
        assert held is not True


@settings(max_examples=300)
@given(whole, whole, whole, st.sampled_from("+-"), st.sampled_from(["<", "<=", "==", "!=", ">"]))
def test_the_sieve_knows_sums_of_windows(
    amount: int, inside: int, limit: int, sign: str, comparison: str
) -> None:
    asked = f'history.sum("outbound", duration("24h")) {sign} object.amount {comparison} {limit}'
    given = {"object": {"amount": amount}}
    (held,) = Combined([read_expression(asked, NAMES, ("outbound",))]).evaluate(
        given, {DAY: inside}
    )
    # What leaves the range fails, and so it is not false.
    assert passes(asked, given, inside) is (held is not False)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("object.amount > 5 && object.notes.vat == 'x'", False),
        ("object.amount > 4 && object.notes.vat == 'x'", True),
        ("5 < object.amount", False),
        ("5 > object.amount || object.name == 'other'", False),
        ("4 < object.amount || object.name == 'other'", True),
        ("object.amount + 1 > 6", False),
        ("object.amount - 1 < object.amount", True),
        ("object.amount < object.amount - 1", False),
        ("'c' in object.tags", False),
        ("has(object.notes.vat)", False),
        ("!has(object.notes.vat)", True),
        ("object.notes['vat'] == 'x'", True),
        ("object.notes.a != 'b'", False),
        ("object.least > 3", True),
    ],
)
def test_the_sieve_holds_back_what_is_surely_false(source: str, *, expected: bool) -> None:
    given = {"object": {"amount": 5, "name": "n", "tags": ["a"], "notes": {"a": "b"}, "flag": True}}
    assert passes(source, given) is expected


def test_the_sieve_leaves_alone_what_it_does_not_know() -> None:
    given = {"object": {"amount": 5, "tags": ["a"], "name": "n"}}
    for source in (
        "object.amount * 2 > 50",
        "object.tags.exists(t, t == 'b')",
        "!('a' in object.tags)",
        "object.name + 'x' == 'y'",
    ):
        assert passes(source, given)
    assert passes("object.amount > 5", given, readers={})


def test_the_sieve_tells_which_of_many_may_hold() -> None:
    given = {"object": {"amount": 5}}
    sources = ["object.amount > 5", "object.amount > 4", "now == now", "object.amount < 5"]
    assert sieve(sources, READERS)(given, given["object"], lambda _: (0, 0)) == [1, 2]


@given(words)
def test_nothing_that_somebody_wrote_gets_into_the_text_of_the_sieve(text: str) -> None:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    given = {"object": {"name": text, "notes": {text: text}}}
    assert passes(f'object.name == "{quoted}"', given)
    assert passes(f'object.notes["{quoted}"] == "{quoted}"', given)
    assert not passes(f'object.name != "{quoted}"', given)
    assert not passes(f'object.notes["{quoted}"] != "{quoted}"', given)
