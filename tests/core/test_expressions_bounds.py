"""A rule is bounded in size, depth and work, and whatever is beyond is a fault, never a crash."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from farthing.core.expressions import (
    BOOL,
    STRING,
    TIMESTAMP,
    BadExpression,
    Combined,
    Expression,
    list_of,
    map_of,
    read_expression,
    record,
)

NAMES = {
    "yes": BOOL,
    "text": STRING,
    "tags": list_of(STRING),
    "people": list_of(record({"name": STRING, "tags": list_of(STRING)})),
    "approvals": list_of(record({"by": STRING, "role": STRING, "at": TIMESTAMP})),
    "notes": map_of(STRING),
    "now": TIMESTAMP,
}


def read(source: str) -> Expression:
    return read_expression(source, NAMES, {"inbound"})


def fault_of(source: str) -> BadExpression | None:
    try:
        read(source)
    except BadExpression as fault:
        return fault
    return None


def accepts(source: str) -> bool:
    return fault_of(source) is None


def sentence(source: str) -> str:
    with pytest.raises(BadExpression) as found:
        read(source)
    return found.value.sentence


def test_2000_characters_are_the_most() -> None:
    assert accepts("yes" + " " * 1_997)
    assert "2000 characters" in sentence("yes" + " " * 1_998)


@pytest.mark.parametrize("bracket", ["()", "[]", "{}"])
def test_ten_thousand_brackets_are_a_fault_and_not_a_crash(bracket: str) -> None:
    opening, closing = bracket[0], bracket[1]
    assert "characters" in sentence(opening * 10_000 + "yes" + closing * 10_000)
    assert "too deep" in sentence(opening * 900 + "yes" + closing * 900)
    assert "too deep" in sentence(opening * 1_999)


@pytest.mark.parametrize(
    "source",
    [
        "!" * 1_900 + "yes",
        "-" * 1_900 + "yes",
        "yes ? yes : " * 150 + "yes",
        "text" + ".a" * 900,
        "tags" + "[0]" * 600,
        "text" + ".size()" * 250,
        "f(" * 900,
        "{'a': " * 300,
        "1 + " * 400 + "1 == 1",
        "1 == " * 300 + "1",
        "yes ? " * 300,
        "a(b.c[d{" * 240,
    ],
)
def test_nothing_can_be_deep(source: str) -> None:
    assert sentence(source)


def test_20_levels_are_the_most() -> None:
    assert accepts("(" * 20 + "yes" + ")" * 20)
    assert accepts("!" * 19 + "yes")
    assert "too deep" in sentence("(" * 21 + "yes" + ")" * 21)
    assert "too deep" in sentence("!" * 20 + "yes")


def test_a_chain_of_and_is_wide_not_deep() -> None:
    chain = read(" && ".join(["yes"] * 199))
    assert Combined([chain]).evaluate({"yes": True}, {}) == [True]
    assert "too big" in sentence(" && ".join(["yes"] * 200))


def test_200_nodes_are_the_most() -> None:
    assert accepts(f"text in [{', '.join(['text'] * 197)}]")
    assert "too big" in sentence(f"text in [{', '.join(['text'] * 198)}]")


def test_two_macros_inside_or_after_each_other_are_the_most() -> None:
    assert accepts("tags.all(a, tags.all(b, a == b))")
    assert accepts("tags.filter(a, a != '').all(b, b == '')")
    assert accepts("tags.all(a, true) && tags.all(a, true) && tags.all(a, true)")
    assert "2 macros" in sentence("tags.all(a, tags.all(b, tags.all(c, true)))")
    assert "2 macros" in sentence("tags.filter(a, true).filter(b, true).all(c, true)")
    assert "2 macros" in sentence("[tags.filter(a, true)][0].filter(b, true).all(c, true)")
    assert "2 macros" in sentence("tags.filter(a, true).all(b, tags.all(c, true))")


def test_five_windows_are_the_most() -> None:
    asked = [f"history.count('inbound', duration('{hours}h')) > 1" for hours in range(1, 7)]
    assert len(read(" && ".join(asked[:5])).windows) == 5
    assert len(read(" && ".join(asked[:5] + asked[:5])).windows) == 5
    assert "5 times" in sentence(" && ".join(asked))


@pytest.mark.parametrize(
    "source",
    [
        # A list is copied for each element that is added, so long ones are dear.
        f"({' + '.join(['tags'] * 10)}).map(t, t).size() > 1",
        "tags.map(a, tags.map(b, a + b)).size() > 1",
        "tags.all(a, tags.all(b, (a + b + a + b + a + b).contains(a + b + a + b + a + b)))",
        "people.all(p, people.all(q, p == q))",
        "tags.all(a, tags.all(b, a in tags && b in tags))",
        "tags.all(t, text.matches('(.{20}){20}'))",
    ],
)
def test_what_could_take_too_long_is_refused(source: str) -> None:
    assert "too long" in sentence(source)


@pytest.mark.parametrize(
    "source",
    [
        "tags.exists(t, t.startsWith('vip') && t.endsWith('!'))",
        "tags.all(a, tags.exists_one(b, a == b))",
        "approvals.exists(a, a.role == 'chief' && a.by != text && now - a.at < duration('1h'))",
        "tags.exists(t, approvals.exists(a, a.by == t))",
        "tags.filter(t, t.contains('x')).size() > 2",
        "tags.map(t, size(t)).exists(n, n > 10)",
        "tags.exists(t, t.matches('^[A-Z]{2}[0-9]{2}'))",
        "notes.exists(k, notes[k].contains('x'))",
        "text.matches('(?i)casino|betting|lottery')",
    ],
)
def test_what_people_write_is_not_refused(source: str) -> None:
    assert accepts(source)


@pytest.mark.parametrize("pattern", [r"\\pL{1000}", r"(\\pL{10}){10}", "(((a{99}){99}){9})"])
def test_a_pattern_that_grows_too_big_is_refused(pattern: str) -> None:
    assert "RE2" in sentence(f"text.matches('{pattern}')")


WORDS = [
    *["yes", "text", "tags", "notes", "history", "t", "0", "1.5", "9223372036854775807", "''"],
    *["true", "null", "in", "has", "size", "all", "map", "count", "duration", "'1h'", "matches"],
    *["(", ")", "[", "]", "{", "}", ".", ",", ":", "?", "!", "-", "+", "*", "/", "%", "&&", "||"],
    *["==", "!=", "<", ">=", "=", "&", "//", "\n", " ", "\\", "'''", "r'", "é", "\0", '"a'],
]


@given(st.lists(st.sampled_from(WORDS), max_size=60).map("".join) | st.text(max_size=80))
@example("\ud800")
def test_any_text_is_read_or_refused(source: str) -> None:
    fault = fault_of(source)
    if fault is not None:
        assert fault.line >= 1
        assert fault.column >= 1
        assert fault.sentence.endswith(".")
