"""How trials are spoken of on the wire."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal

from msgspec import Meta, field

from farthing.core import errors
from farthing.core.errors import Fault
from farthing.core.fields import Amount, AnnotationKey, CustomerId, Moment, identifier
from farthing.core.operation import KEY_ONLY, Operation
from farthing.core.wire import ListQuery, Page, Request, StateChange
from farthing.db.patterns import reading
from farthing.resources.rules.api import ONE, PATH
from farthing.resources.rules.model import NOUN as RULE
from farthing.resources.rules.model import TRIGGERS, Trigger
from farthing.resources.rules.store import TABLES
from farthing.resources.trials import actions
from farthing.resources.trials.model import (
    NOUN,
    BacktestState,
    BacktestView,
    TestView,
    period_faults,
)
from farthing.resources.trials.store import BACKTESTS

BACKTESTS_PATH: Final = "/v1/backtests"
# No object has more fields that rules see.
MOST_FIELDS: Final = 100

RuleId = Annotated[str, identifier(RULE)]
ObjectId = Annotated[str, identifier(f"({'|'.join(TABLES)})")]
_STATES: Final = frozenset(state for table in TABLES.values() for state in table.machine.states)
State = Annotated[
    str,
    Meta(
        description="The state to which it would move.",
        extra={"one_of": _STATES, "expected": "a state of such an object, such as ENABLED"},
        extra_json_schema={"enum": sorted(_STATES)},
    ),
]
Given = Annotated[
    dict[AnnotationKey, Any],
    Meta(
        max_length=MOST_FIELDS,
        description="An object that is not there: what rules see of it, as far as it matters. "
        "Amounts are numbers, or strings of digits.",
    ),
]


_NOTHING: Final = {"type": "null"}
_CREATES: Final = [one for one in TRIGGERS if one.endswith(".create")]
_TRANSITIONS: Final = [one for one in TRIGGERS if one not in _CREATES]
# Either an object that is there or a description, and a step for a transition alone.
TOGETHER: Final = {
    "allOf": [
        {
            "anyOf": [
                {
                    "required": ["objectId"],
                    "properties": {
                        "objectId": {"type": "string"},
                        "object": _NOTHING,
                        "ownerId": _NOTHING,
                    },
                },
                {
                    "required": ["object"],
                    "properties": {"object": {"type": "object"}, "objectId": _NOTHING},
                },
            ]
        },
        {
            "anyOf": [
                {"properties": {"on": {"enum": _CREATES}, "step": _NOTHING}},
                {
                    "required": ["step"],
                    "properties": {"on": {"enum": _TRANSITIONS}, "step": {"type": "object"}},
                },
            ]
        },
    ]
}


class TestStep(Request, frozen=True, kw_only=True):
    """The move that is tried."""

    to: State
    amount: Amount | None = None


class TestRules(Request, frozen=True, kw_only=True):
    """An object on which rules are tried, and the occasion."""

    PUBLISHED: ClassVar[dict[str, Any]] = TOGETHER
    on: Annotated[Trigger, Meta(description="Which rules are tried.")]
    object_id: Annotated[ObjectId, Meta(description="An object that is there.")] | None = None
    object: Given | None = None
    owner_id: (
        Annotated[
            CustomerId,
            Meta(description="With object: whose history counts, unless the object says it."),
        ]
        | None
    ) = None
    step: Annotated[TestStep, Meta(description="The move, on a transition.")] | None = None

    @staticmethod
    def crossed(given: dict[str, Any], __: datetime) -> Iterator[Fault]:
        """Refuse what does not fit together, or not the occasion."""
        if ("objectId" in given) == ("object" in given):
            yield Fault("/object", "not_exactly_one", "Give objectId or object, and not both.")
        elif "objectId" in given and "ownerId" in given:
            detail = "Is not for objectId: the object says whose it is."
            yield Fault("/ownerId", "not_applicable", detail)
        if given.get("on") is not None:
            noun, _, occasion = given["on"].partition(".")
            yield from _trigger_faults(noun, occasion, given)


def _trigger_faults(noun: str, occasion: str, given: dict[str, Any]) -> Iterator[Fault]:
    named, step = given.get("objectId"), given.get("step")
    if named is not None and not named.startswith(f"{noun}/"):
        yield Fault("/objectId", "wrong_noun", f"Must be a {noun.replace('_', ' ')}.")
    if occasion == "create" and step is not None:
        yield Fault("/step", "not_applicable", "Is for a transition, and for nothing else.")
    if occasion == "transition" and "step" not in given:
        yield Fault("/step", "required", "Must be given on a transition.")
    if occasion == "transition" and step is not None:
        states = TABLES[noun].machine.states
        if step.get("to") not in states:
            detail = f"Is no state of it; these are: {', '.join(states)}."
            yield Fault("/step/to", "not_applicable", detail)


class CreateBacktest(Request, frozen=True, kw_only=True):
    """The period over which a rule is run."""

    from_: Annotated[Moment, Meta(description="The first moment of the period.")] = field(
        name="from"
    )
    to: Annotated[
        Moment, Meta(description="The first moment after it, at most 366 days later than from.")
    ]

    @staticmethod
    def crossed(given: dict[str, Any], _: datetime) -> Iterator[Fault]:
        """Refuse a period that ends before it begins, or is too long."""
        yield from period_faults(given.get("from"), given.get("to"))


class MoveBacktest(StateChange, frozen=True, kw_only=True):
    """A move of a backtest to another state."""

    from_state_id: BacktestState | None = None
    to_state_id: Literal["CANCELLED"]


class BacktestQuery(ListQuery, frozen=True, kw_only=True):
    """Which backtests to list."""

    rule_id: RuleId | None = None
    state_id: BacktestState | None = None


class BacktestPage(Page, frozen=True, kw_only=True):
    """One page of backtests."""

    results: list[BacktestView]


OPERATIONS: Final = (
    Operation(
        id="rules.test",
        method="POST",
        path=f"{PATH}/test",
        summary="Ask what the rules would do about an object, of which nothing comes",
        who=KEY_ONLY,
        prepare=actions.rehearse,
        rehearses=True,
        body=TestRules,
        answer=TestView,
        body_example={
            "on": "transaction.create",
            "object": {"flow": "OUTBOUND", "amount": "900", "currencyISO": "GBP"},
            "ownerId": "customer/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
        },
    ),
    Operation(
        id="rules.backtest",
        method="POST",
        path=f"{ONE}/backtest",
        summary="Run a rule over the stored transactions of a period",
        who=KEY_ONLY,
        prepare=actions.create,
        status=202,
        noun=RULE,
        body=CreateBacktest,
        answer=BacktestView,
        raises=(errors.NotReplayable, errors.TooManyBacktests),
        body_example={"from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z"},
    ),
    Operation(
        id="backtests.move",
        method="PATCH",
        path=f"{BACKTESTS_PATH}/{{id}}/state",
        summary="Cancel a backtest; what it has found so far remains",
        who=KEY_ONLY,
        command=actions.move,
        noun=NOUN,
        body=MoveBacktest,
        answer=BacktestView,
        raises=(errors.StateMismatch, errors.TransitionNotAllowed),
        body_example={"toStateId": "CANCELLED"},
    ),
    *reading(
        BACKTESTS,
        path=BACKTESTS_PATH,
        who=KEY_ONLY,
        query=BacktestQuery,
        page=BacktestPage,
        view=BacktestView,
    ),
)
