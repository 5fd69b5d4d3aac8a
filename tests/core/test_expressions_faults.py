"""A rule that is wrong is refused with the reason, the line and the column, and nothing else."""

import re

import cel
import pytest

from farthing.core.expressions import (
    BOOL,
    DOUBLE,
    DURATION,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    BadExpression,
    list_of,
    map_of,
    read_expression,
    record,
)

NAMES = {
    "object": record(
        {
            "flow": STRING,
            "amount": INT,
            "rate": DOUBLE,
            "urgent": BOOL,
            "madeAt": TIMESTAMP,
            "tags": list_of(STRING),
            "annotations": map_of(STRING),
            "nothing": NULL,
        },
        optional={"note": STRING},
    ),
    "now": TIMESTAMP,
    "age": DURATION,
}
WORDS = {"inbound", "outbound"}


def refused(source: str) -> BadExpression:
    with pytest.raises(BadExpression) as found:
        read_expression(source, NAMES, WORDS)
    assert str(found.value) == found.value.sentence
    return found.value


@pytest.mark.parametrize(
    ("source", "line", "column", "sentence"),
    [
        # What cannot be read.
        ("", 1, 1, "An expression is needed."),
        (" // why\n ", 2, 2, "The expression ends too early."),
        ("true &&", 1, 8, "The expression ends too early."),
        ("true &&\n  ", 2, 3, "The expression ends too early."),
        ("(true", 1, 1, "This ( is never closed."),
        ("f([1, 2)", 1, 8, "This ) closes nothing."),
        ("true)", 1, 5, "This ) closes nothing."),
        ('object.flow = "X"', 1, 13, "To compare, write == here."),
        ("true & false", 1, 6, "And is written && here."),
        ("true | false", 1, 6, "Or is written || here."),
        ("true and false", 1, 6, "And is written && here."),
        ("true\n OR false", 2, 2, "Or is written || here."),
        ("object.urgent not true", 1, 15, "Not is written ! before what it denies."),
        ('object.flow == "X', 1, 16, "This string is not closed."),
        ("object.flow == 'X\n'", 1, 16, "This string is not closed."),
        (r'object.flow == "a\q"', 1, 18, "No such escape"),
        (r'object.flow == "\ud800"', 1, 17, "No such escape"),
        (r'object.flow == """a\400"""', 1, 20, "No such escape"),
        ('b"x" == b"x"', 1, 1, "Bytes are not part of the language."),
        ("1u == 1u", 1, 2, "Unsigned numbers are not part of the language"),
        ("1 == 9223372036854775808", 1, 6, "This number does not fit into 64 bits."),
        ("1 == --9223372036854775808", 1, 6, "This number does not fit into 64 bits."),
        ("1 == 99999999999999999999", 1, 6, "This number does not fit into 64 bits."),
        ("1.0 == 1e400", 1, 8, "This number is too big for a double."),
        ("true false", 1, 6, "false does not fit here."),
        ("true\r\n&& true true", 2, 9, "true does not fit here."),
        ("1 2", 1, 3, "A value does not fit here."),
        ("now now", 1, 5, "A name does not fit here."),
        ("true && 'a\ud800' == 'b'", 1, 11, "Half of a surrogate pair is no character."),
        ("true && # false", 1, 9, "This character has no meaning here."),
        # Names and fields.
        ("objekt.amount > 1", 1, 1, "Did you mean object? There is: age, history, now, object."),
        ("true &&\n  objekt.amount > 1", 2, 3, "There is no such name."),
        ("object.amont > 1", 1, 8, "There is no such field. Did you mean amount?"),
        ("object\n.\nzzz", 3, 1, "There is: amount, annotations, flow, madeAt, note, nothing,"),
        ("object.flow.size", 1, 13, "A string has no fields."),
        ("object.amount.x == 1", 1, 15, "An int has no fields."),
        ('object["flow"] == "X"', 1, 1, "A field of a record is written with a dot"),
        ("history > 1", 1, 1, "The history is asked: history.count("),
        # Types.
        ("object.amount", 1, 1, "A rule must be a bool, and this is an int."),
        ("object.tags", 1, 1, "A rule must be a bool, and this is a list(string)."),
        ("object.annotations", 1, 1, "this is a map(string, string)."),
        ("object.amount > 1.5", 1, 15, "int and double do not mix"),
        ("object.rate == 1", 1, 13, "int and double do not mix"),
        ("object.amount + object.rate > 1.0", 1, 15, "int and double do not mix"),
        ("object.flow == null", 1, 13, "a string is never null; ask has(...)"),
        ("object.flow > 1", 1, 13, "> does not fit: string and int do not go together."),
        ("object.tags < object.tags", 1, 13, "a list(string) has no such operator."),
        ("object.flow - object.flow == ''", 1, 13, "a string has no such operator."),
        ("object.rate % 2.0 == 1.0", 1, 13, "a double has no such operator."),
        ("now + now == now", 1, 5, "a timestamp has no such operator."),
        ("object.urgent && object.amount", 1, 18, "What && joins must be a bool"),
        ("true || 'x' || false", 1, 9, "What || joins must be a bool, and this is a string."),
        ("!object.amount", 1, 1, "What ! denies must be a bool, and this is an int."),
        ("-object.flow == ''", 1, 1, "A string has no negative."),
        ("-true", 1, 1, "A bool has no negative."),
        ("object.amount ? true : false", 1, 1, "The condition before ? must be a bool"),
        ("(true ? 1 : 'x') == 1", 1, 13, "Both sides of the : must have one type"),
        ("object.amount in [1, 'x']", 1, 22, "The elements of a list must have one type"),
        ("{'a': 1, 'b': 1.0}.a == 1", 1, 15, "The values of a map must have one type"),
        ("{1: 1} == {1: 1}", 1, 2, "The key of a map must be a string, and this is an int."),
        ("1 in object.tags", 1, 3, "This list cannot have that in it"),
        ("1 in object.annotations", 1, 1, "The key of a map must be a string"),
        ("'a' in object.flow", 1, 5, "Use contains for a part of a string."),
        ("'flow' in object", 1, 8, "Ask has(...) for a field."),
        ("object.tags['a'] == ''", 1, 13, "The index of a list must be an int"),
        ("object.annotations[1] == ''", 1, 20, "The key of a map must be a string"),
        ("object.flow[0] == 'O'", 1, 1, "A string has no elements."),
        # Functions and methods.
        ("sise(object.tags) > 1", 1, 1, "There is no such function. Did you mean size?"),
        ("size(object.amount) > 1", 1, 1, "It is used so: size(string), size(list), size(map)."),
        ("size() > 1", 1, 1, "It is used so: size(string)"),
        ("matches(object.flow, 'x')", 1, 1, "This is written after a dot"),
        ("object.flow.startWith('x')", 1, 13, "Did you mean startsWith?"),
        ("object.flow.startsWith(1)", 1, 13, "It is used so: string.startsWith(string)."),
        ("object.amount.contains('x')", 1, 15, "It is used so: string.contains(string)."),
        ("now.getHours('UTC') > 1", 1, 5, "It is used so: timestamp.getHours(), duration"),
        ("object.flow.matches(object.flow)", 1, 21, "The pattern is written out"),
        ("object.flow.matches(1)", 1, 13, "It is used so: string.matches(string)."),
        ("object.flow.matches('(')", 1, 21, "This is not a regular expression of RE2."),
        ("object.flow.matches('(?=a)')", 1, 21, "This is not a regular expression of RE2."),
        (f"object.flow.matches('{'a' * 101}')", 1, 21, "has 100 characters at most."),
        ("duration(object.flow) > age", 1, 10, "What duration takes is written out"),
        ("duration('1d') > age", 1, 10, "A duration is numbers with units"),
        ("duration('') > age", 1, 10, "A duration is numbers with units"),
        ("duration('876001h') > age", 1, 10, "A duration has 876000 hours at most."),
        ("duration() > age", 1, 1, "It is used so: duration(string)."),
        (
            "timestamp(now) > now",
            1,
            11,
            "What timestamp takes must be a string, and this is a time",
        ),
        ("timestamp('2026-01-01') > now", 1, 11, 'A timestamp is written "2026-01-31T12:00:00Z".'),
        ("timestamp('2026-02-30T00:00:00Z') > now", 1, 11, "A timestamp is written"),
        ("timestamp('0001-01-01T00:00:00+23:00') > now", 1, 11, "A timestamp is written"),
        # Macros.
        ("has(object)", 1, 1, "has asks for one field: has(object.field)."),
        ("has(object.annotations['a'])", 1, 1, "has asks for one field"),
        ("has(object.x)", 1, 12, "There is no such field."),
        ("has(object.flow.x)", 1, 17, "A string has no fields."),
        ("object.tags.all(t, t)", 1, 20, "The condition of all must be a bool"),
        ("object.tags.filter(t, 1) == []", 1, 23, "The condition of filter must be a bool"),
        ("object.tags.map(t, 1, t) == []", 1, 20, "The condition of map must be a bool"),
        ("object.tags.all(t)", 1, 13, "It is used so: list.all(x, condition)."),
        ("object.tags.all('t', true)", 1, 17, "Here stands the name that each element gets."),
        ("object.tags.all(now, true)", 1, 17, "This name is taken"),
        ("object.tags.all(history, true)", 1, 17, "This name is taken"),
        ("object.tags.all(t, object.tags.all(t, true))", 1, 36, "This name is taken"),
        ("object.tags.all(t, true) && t == ''", 1, 29, "There is no such name."),
        ("object.flow.all(c, true)", 1, 13, "all goes over lists and maps, and this is a string."),
        ("all(object.tags, true)", 1, 1, "This is written after a dot"),
        # The history.
        ("history.max('inbound', duration('1h')) > 1", 1, 9, "The history has no such question"),
        ("history.count('inbound') > 1", 1, 9, "has two or three arguments"),
        ("history.count('inbund', duration('1h')) > 1", 1, 15, "Did you mean inbound?"),
        ("history.count(object.flow, duration('1h')) > 1", 1, 15, "What is counted is written out"),
        ("history.count('inbound', age) > 1", 1, 26, "How long is written out"),
        ("history.count('inbound', '1h') > 1", 1, 26, "How long is written out"),
        ("history.count('inbound', duration('0s')) > 1", 1, 35, "from 1s to 744h (31 days)"),
        ("history.count('inbound', duration('-1h')) > 1", 1, 35, "from 1s to 744h (31 days)"),
        ("history.count('inbound', duration('1.5s')) > 1", 1, 35, "whole seconds"),
        ("history.sum('inbound', duration('745h')) > 1", 1, 33, "from 1s to 744h (31 days)"),
        ("history.sum('inbound', duration('1h'), -1) > 1", 1, 40, "a whole number from 0"),
        ("history.sum('inbound', duration('1h'), object.amount) > 1", 1, 40, "is written out"),
        ("history.sum('inbound', duration('1h'), 1.0) > 1", 1, 40, "a whole number from 0"),
        ("history.sum('inbound', duration('1h')) > 1.0", 1, 40, "int and double do not mix"),
    ],
)
def test_a_fault_says_what_and_where(source: str, line: int, column: int, sentence: str) -> None:
    found = refused(source)
    assert sentence in found.sentence
    assert (found.line, found.column) == (line, column)


@pytest.mark.parametrize(
    "source",
    [
        "secret",
        "object.secret",
        "secret(1)",
        "now.secret()",
        "'secret'",
        "now secret",
        "'\\secret'",
        "history.count('secret', duration('1h')) > 1",
        "duration('secret') > age",
        "object.flow.matches('(secret')",
        "timestamp('secret') > now",
        "'secret",
    ],
)
def test_a_fault_repeats_nothing_that_was_sent(source: str) -> None:
    assert "secret" not in refused(source).sentence


def test_what_only_the_library_refuses_is_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: str) -> None:
        raise ValueError

    monkeypatch.setattr(cel, "compile", refuse)
    assert refused("object.urgent").sentence == "The library cannot compile this expression."


def test_without_history_there_is_no_such_name() -> None:
    with pytest.raises(BadExpression, match=re.escape("There is no such name. There is: age.")):
        read_expression("history.count('x', duration('1h')) > 1", {"age": DURATION}, ())
