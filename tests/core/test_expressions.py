"""Rules that are right: what they need is known before, and one that fails fails alone."""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

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
    Combined,
    Expression,
    Failure,
    Window,
    describe,
    list_of,
    map_of,
    read_expression,
    record,
)

PERSON = record({"name": STRING}, optional={"age": INT})
NAMES = {
    "object": record(
        {
            "flow": STRING,
            "amount": INT,
            "urgent": BOOL,
            "rate": DOUBLE,
            "madeAt": TIMESTAMP,
            "tags": list_of(STRING),
            "annotations": map_of(STRING),
            "people": list_of(PERSON),
            "owner": PERSON,
            "nothing": NULL,
        },
        optional={"note": STRING},
    ),
    "now": TIMESTAMP,
    "age": DURATION,
}
FACTS: dict[str, Any] = {
    "object": {
        "flow": "OUTBOUND",
        "amount": 150_000,
        "urgent": True,
        "rate": 1.5,
        "madeAt": datetime(2026, 3, 3, 5, 6, 7, tzinfo=UTC),
        "tags": ["vip", "été"],
        "annotations": {"vat": "20", "empty": None},
        "people": [{"name": "Ada", "age": None}, {"name": "Bob", "age": 30}],
        "owner": {"name": "Zoë", "age": None},
        "nothing": None,
        "note": None,
    },
    "now": datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC),
    "age": timedelta(minutes=90),
}
MANY = Window("count", "outbound", 86_400, 100_000)


def read(source: str) -> Expression:
    return read_expression(source, NAMES, {"inbound", "outbound"})


def outcome(source: str, facts: dict[str, Any] = FACTS) -> bool | Failure:
    return Combined([read(source)]).evaluate(facts, {})[0]


def test_a_rule_asks_the_object_and_the_history() -> None:
    rule = read(
        'object.flow == "OUTBOUND" && object.amount >= 100000'
        ' && history.count("outbound", duration("24h"), 100000) >= 2'
    )
    assert rule.windows == (MANY,)
    assert rule.reads == {"object": {"flow", "amount"}}
    assert Combined([rule]).evaluate(FACTS, {MANY: 2}) == [True]
    assert Combined([rule]).evaluate(FACTS, {MANY: 1}) == [False]


@pytest.mark.parametrize(
    "source",
    [
        'object.annotations.vat == "20"',
        'object.annotations["vat"] == "20"',
        'int(object.annotations.vat) == 20 && "vat" in object.annotations',
        "now - object.madeAt == duration('24h') && object.madeAt + duration('24h') == now",
        "duration('24h') + object.madeAt == now",
        "age == duration('1h30m') && age.getMinutes() == 90 && age.getHours() == 1",
        "now.getHours() == 5 && now.getDate() == 4 && now.getDayOfMonth() == 3",
        "now.getMonth() == 2 && now.getDayOfWeek() == 3 && now.getFullYear() == 2026",
        "timestamp('2026-03-04T07:06:07+02:00') == now",
        "timestamp('2026-03-04T07:06:07+02:00').getHours() == 5",
        "timestamp('2026-03-04T07:06:07' + '+02:00') == now",
        "['2026-03-04T07:06:07+02:00'].all(t, timestamp(t).getHours() == 5)",
        "duration('-1.5s') < duration('20ms') && duration('1us') > duration('1ns')",
        "object.rate * 2.0 == 3.0 && double(object.amount) > object.rate",
        "object.flow.matches('^OUT') && !object.flow.matches('^BOUND')",
        "object.tags.exists(t, t.matches('v.p'))",
        "object.people.exists(p, has(p.age) && p.age >= 18)",
        "object.people.all(p, p.name.size() == 3)",
        "{'GBP': 100, 'EUR': 200}['GBP'] < object.amount",
        "object.amount in [1, 150000] && !(object.amount in [])",
        "(object.urgent ? object.amount : 0) > 1",
        "object.annotations.exists(k, object.annotations[k] == '20')",
        "object.tags.map(t, t.size()).exists(n, n == 3)",
        "object.tags.filter(t, t != 'vip') == ['été']",
        "object.nothing == null",
        "'OUTBOUND' == object.flow && object.flow != 'x' && !('x' == object.flow)",
        "object.flow in ['INBOUND', 'OUTBOUND'] && !(object.owner.name in ['x', 'y'])",
        "object.flow + 'x' == 'OUTBOUNDx' && object.flow == object.flow",
        "'OUTBOUND' in [object.flow] && object.flow in ['x', object.flow]",
        '"\\u00e9t\\u00e9" in object.tags // été',
        "object == object && object.owner == object.owner",
    ],
)
def test_a_rule_that_holds(source: str) -> None:
    assert outcome(source) is True


def test_a_string_is_as_long_as_it_has_characters() -> None:
    assert outcome("size(object.owner.name) == 3 && object.tags[1].size() == 3") is True


def test_what_is_null_is_absent() -> None:
    assert outcome("has(object.note) || has(object.owner.age)") is False
    assert outcome("has(object.annotations.empty) || 'empty' in object.annotations") is False
    assert outcome("object.people.filter(p, has(p.age)).size() == 1") is True
    assert outcome("object.annotations.size() == 1") is True


def test_asking_below_something_that_is_absent_fails() -> None:
    for source in ("object.owner.name == 'x'", "has(object.owner.age)"):
        assert isinstance(outcome(source, {"object": {}}), Failure)


def test_times_are_shown_in_utc() -> None:
    there = timezone(timedelta(hours=9))
    facts = {"now": FACTS["now"].astimezone(there), "object": {"madeAt": FACTS["now"]}}
    assert outcome("now.getHours() == 5 && now == object.madeAt", facts) is True


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("object.note == 'x'", "object.note is absent; has(object.note) can ask before."),
        ("object.owner.age > 1", "object.owner.age is absent; has(object.owner.age) can ask"),
        ("object.annotations.x == ''", "object.annotations.x is absent"),
        ("object.annotations[object.flow] == ''", "A field or key that it reads is absent"),
        ("object.people.all(p, p.age > 1)", "A field or key that it reads is absent"),
        ("object.tags[2] == ''", "A list has no element at that index."),
        ("object.tags[-1] == ''", "A list has no element at that index."),
        ("object.amount / 0 == 1", "It divides by zero."),
        ("object.amount % 0 == 1", "It divides by zero."),
        ("object.amount * 9223372036854775807 > 1", "leaves its range"),
        ("-(object.amount - 9223372036854775807 - 150001) > 1", "leaves its range"),
        ("int(1e300) > 1", "leaves its range"),
        ("timestamp('9999-12-31T00:00:00Z') + duration('48h') > now", "leaves its range"),
        ("int(object.flow) > 1", "int(...) got a string that is no number."),
        ("double(object.flow) > 1.0", "double(...) got a string that is no number."),
        ("timestamp(object.flow) > now", "timestamp(...) got a string that is no time."),
        ("timestamp(object.note) > now", "object.note is absent"),
    ],
)
def test_a_rule_that_fails_says_why(source: str, sentence: str) -> None:
    found = outcome(source)
    assert isinstance(found, Failure)
    assert sentence in found.sentence


def test_a_failure_shows_no_value_of_the_object() -> None:
    facts = {"object": {**FACTS["object"], "flow": "SECRET", "amount": 99_887_766}}
    for source in (
        "object.annotations[object.flow] == ''",
        "int(object.flow) > 1",
        "object.amount * 9223372036854775807 > 1",
        "object.tags[object.amount] == ''",
        "object.amount / 0 == 1",
    ):
        found = outcome(source, facts)
        assert isinstance(found, Failure)
        assert not re.search("SECRET|99887766", found.sentence)


def test_facts_that_are_not_what_was_declared_fail_closed() -> None:
    for source in ("object.urgent", "!object.urgent", "object.urgent && true"):
        assert isinstance(outcome(source, {"object": {"urgent": "yes"}}), Failure)
    assert isinstance(outcome("object.amount > 1", {"object": {"amount": "2"}}), Failure)
    assert isinstance(outcome("object.amount > 1", {}), Failure)
    assert isinstance(outcome("object.flow == 'x'", {"object": {"flow": ["x"]}}), Failure)
    assert isinstance(outcome("object.flow != 'x'", {"object": "x"}), Failure)
    assert isinstance(outcome("object.amount != 1", {"object": {"amount": object()}}), Failure)
    assert isinstance(outcome("object.flow.size() > 1", {"object": {"flow": "\ud800"}}), Failure)


def test_an_answer_of_the_history_that_is_missing_fails_closed() -> None:
    rule = Combined([read("history.sum('inbound', duration('1h')) > 1")])
    assert rule.evaluate(FACTS, {}) == [Failure("An answer of the history is missing.")]


def test_a_rule_that_fails_takes_no_other_with_it() -> None:
    sources = ['object.note == "x"', "object.amount > 1", "object.amount / 0 == 1"]
    rules = Combined([read(one) for one in sources])
    for _ in range(2):
        assert rules.evaluate(FACTS, {}) == [
            Failure("object.note is absent; has(object.note) can ask before."),
            True,
            Failure("It divides by zero."),
        ]


def test_what_decides_needs_no_other_side() -> None:
    assert outcome("object.note == 'x' || true") is True
    assert outcome("object.amount / 0 == 1 && false") is False


def test_together_they_know_what_all_of_them_need() -> None:
    asked = "history.sum('inbound', duration('1h')) > 5"
    sources = [asked, "object.amount > 1", "object.owner.name == 'Ada'", "now > object.madeAt"]
    rules = Combined([read(one) for one in [*sources, asked]])
    window = Window("sum", "inbound", 3_600, 0)
    assert rules.windows == (window,)
    assert rules.reads == {"object": {"amount", "owner", "madeAt"}, "now": {"*"}}
    assert rules.evaluate(FACTS, {window: 6}) == [True, True, False, True, True]
    assert Combined([]).evaluate(FACTS, {}) == []


def test_a_sum_beyond_64_bits_still_compares() -> None:
    rule = read("history.sum('inbound', duration('1h')) > 5")
    assert Combined([rule]).evaluate({}, {rule.windows[0]: 2**70}) == [True]


def test_whoever_needs_the_whole_of_it_says_so() -> None:
    assert read("object == object").reads == {"object": {"*"}}
    assert read("object == object && object.amount > 1").reads == {"object": {"*"}}


def test_windows_can_be_compared_and_kept_in_sets() -> None:
    short = Window("count", "outbound", 60, 0)
    assert sorted({MANY, short, Window("count", "outbound", 60, 0)}) == [short, MANY]


def test_what_the_library_sees_is_written_by_us() -> None:
    strange = "object.flow == '\\\"' + r'\\' + '''\n// , ] \u2028''' // ] , true"
    rules = Combined([read(strange), read("object.amount > 1"), read("true // , [")])
    assert rules.evaluate(FACTS, {}) == [False, True, True]


def test_a_panic_of_the_library_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        """Named as the library's own, which cannot be imported."""

    class Panicked:
        def execute(self, _: object) -> None:
            raise PanicException

    monkeypatch.setattr(cel, "compile", lambda _: Panicked())
    assert outcome("object.amount > 1") == Failure("It could not be evaluated.")


def test_ctrl_c_is_not_taken_for_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        def execute(self, _: object) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr(cel, "compile", lambda _: Interrupted())
    with pytest.raises(KeyboardInterrupt):
        outcome("object.amount > 1")


def test_the_reference_tells_every_name_and_limit() -> None:
    found = describe(NAMES, {"inbound"})
    names = {entry.written: entry for entry in found.names}
    assert names["object.amount"].gives == "int"
    assert names["object.owner.age"].why == "Optional: ask has(object.owner.age) before."
    assert {limit.name for limit in found.limits} >= {"characters", "nodes", "depth", "windows"}
    assert any("int + int" in entry.written for entry in found.operators)
    assert any(entry.written == "string.matches(string)" for entry in found.functions)
    assert len(found.history) == 2
    assert describe(NAMES, ()).history == ()
