"""Rules: an expression that is wrong is refused with its place, one that is right is evaluated."""

from datetime import UTC, datetime
from typing import Any

from farthing.core.expressions import (
    INT,
    STRING,
    TIMESTAMP,
    Combined,
    Failure,
    Window,
    list_of,
    map_of,
    read_expression,
    record,
)

NAMES = {
    "object": record(
        {"flow": STRING, "amount": INT, "tags": list_of(STRING), "annotations": map_of(STRING)},
        optional={"note": STRING},
    ),
    "now": TIMESTAMP,
}
FACTS: dict[str, Any] = {
    "object": {"flow": "OUTBOUND", "amount": 150_000, "tags": ["a"], "annotations": {"vat": "20"}},
    "now": datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC),
}
MANY = Window("count", "outbound", 86_400, 100_000)


def test_a_rule_asks_the_object_and_the_history() -> None:
    rule = read_expression(
        'object.flow == "OUTBOUND" && object.amount >= 100000'
        ' && history.count("outbound", duration("24h"), 100000) >= 2',
        NAMES,
        {"outbound"},
    )
    assert rule.windows == (MANY,)
    assert rule.reads == {"object": {"flow", "amount"}}
    assert Combined([rule]).evaluate(FACTS, {MANY: 2}) == [True]
    assert Combined([rule]).evaluate(FACTS, {MANY: 1}) == [False]


def test_a_rule_that_fails_takes_no_other_with_it() -> None:
    sources = ['object.note == "x"', "object.amount > 1", "object.amount / 0 == 1"]
    rules = Combined([read_expression(one, NAMES, ()) for one in sources])
    assert rules.evaluate(FACTS, {}) == [
        Failure("object.note is absent; has(object.note) can ask before."),
        True,
        Failure("It divides by zero."),
    ]
