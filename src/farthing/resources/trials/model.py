"""What trials are: a test of all rules on one object, and a backtest of one rule on many."""

import typing
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Literal
from uuid import UUID

import msgspec
from msgspec import Struct, field

from farthing.core import ids
from farthing.core.actors import Actor
from farthing.core.clock import say_time, whole
from farthing.core.errors import Fault
from farthing.core.expressions import Failure, Window
from farthing.core.machine import Machine, O, P, T, row
from farthing.core.rows import ObjectRow
from farthing.core.wire import ObjectView, View
from farthing.db.hearings import Step
from farthing.resources.moves.model import wait_of
from farthing.resources.rules import model as rules
from farthing.resources.rules.model import Action, Finding, Plan, Trigger

BacktestState = Literal["RUNNING", "DONE", "FAILED", "CANCELLED"]
Result = Literal["passes", "refused", "held", "awaitsApproval"]

NOUN: Final = "backtest"
# What alone is stored in such numbers that it is worth while.
REPLAYED: Final = "transaction.create"
# What can wait in the middle of its way, or not.
MOVES: Final = "transaction.transition"
LONGEST_PERIOD: Final = timedelta(days=366)
MOST_SAMPLES: Final = 20
# More than these do not wait at once, so that nobody keeps the worker from the others.
MOST_RUNNING: Final = 10


_RESULTS: Final[dict[str, Result]] = {
    "nowhere": "passes",
    "PROCESSING": "awaitsApproval",
    "HELD": "held",
    "cannot": "refused",
}


class RuleTrialView(View, frozen=True, kw_only=True):
    """What one rule says of an object."""

    rule_id: str
    name: str
    priority: int
    dry: bool
    # Absent if it failed.
    value: bool | None = None
    # Why it failed.
    error: str | None = None
    # What it does, or would do if it were not dry.
    outcome: list[Action]


class TestView(View, frozen=True, kw_only=True):
    """What all rules on a trigger say of an object, and what would become of it."""

    on: Trigger
    rules: list[RuleTrialView]
    result: Result
    # Of the rule that refuses it: which one, why, and its own word for that.
    rule_id: str | None = None
    message: str | None = None
    code: str | None = None
    # The labels that it would get.
    tags: list[str]
    annotations: dict[str, str]


def show_test(on: str, findings: Sequence[Finding], step: Step | None, actor: Actor) -> TestView:
    """Show what the rules say."""
    plan = rules.plan(findings)
    refusal, result = plan.first("refuse"), _result(on, plan, step, actor)
    if result == "refused":
        # By one that says so, or one that lets wait what cannot.
        refusal = refusal or plan.first("approve") or plan.first("hold")
    return TestView(
        on=on,  # type: ignore[arg-type]  # it is one of the triggers
        rules=[_show_finding(one) for one in findings],
        result=result,
        rule_id=None if refusal is None else ids.say(rules.NOUN, refusal.rule.id),
        message=None if refusal is None else refusal.action.message,
        code=None if refusal is None else refusal.action.code,
        tags=list(dict.fromkeys(plan.tags)),
        annotations=plan.annotations,
    )


def _result(on: str, plan: Plan, step: Step | None, actor: Actor) -> Result:
    approval, hold = plan.first("approve") is not None, plan.first("hold") is not None
    if plan.first("refuse") is not None:
        return "refused"
    if on != MOVES or step is None:
        return "awaitsApproval" if approval else "held" if hold else "passes"
    wants = {"approval": approval, "hold": hold, "failed": plan.failed}
    return _RESULTS[wait_of(step.source, step.target, actor, **wants)]


def _show_finding(finding: Finding) -> RuleTrialView:
    rule, value = finding.rule, finding.value
    return RuleTrialView(
        rule_id=ids.say(rules.NOUN, rule.id),
        name=rule.name,
        priority=rule.priority,
        dry=rule.dry,
        value=None if isinstance(value, Failure) else value,
        error=value.sentence if isinstance(value, Failure) else None,
        outcome=finding.wanted,
    )


class Backtest(ObjectRow, frozen=True):
    """A backtest as it is kept, with the rule as it was when somebody asked."""

    rule_id: UUID
    expression: str
    actions: list[dict[str, Any]]
    begin: datetime
    until: datetime
    # How many there are in the period, once somebody has counted them.
    total: int | None
    processed: int
    matched: int
    failed: int
    outcomes: dict[str, int]
    samples: list[str]
    # Whoever runs it now, and when somebody else may.
    claim: UUID | None
    due_at: datetime | None

    def owner(self) -> UUID:
        """Return the tenant's own customer."""
        return self.tenant_id

    @property
    def does(self) -> list[Action]:
        """What the rule does where its condition holds."""
        return msgspec.convert(self.actions, list[Action])


def period_faults(begin: Any, end: Any) -> Iterator[Fault]:
    """Say what is wrong with a period."""
    if begin and end and whole(begin) >= whole(end):
        yield Fault("/to", "wrong_order", "Must be later than from.")
    elif begin and end and end - begin > LONGEST_PERIOD:
        detail = f"Must be at most {LONGEST_PERIOD.days} days later than from."
        yield Fault("/to", "too_long", detail)


class Progress(View, frozen=True, kw_only=True):
    """How far a backtest has come."""

    processed: int
    total: int | None = None


class BacktestView(ObjectView, frozen=True, kw_only=True):
    """A backtest as the outside sees it."""

    rule_id: str
    from_: str = field(name="from")
    to: str
    progress: Progress
    matched: int
    failed: int
    outcomes: dict[str, int]
    samples: list[str]


def view(backtest: Backtest) -> BacktestView:
    """Show a backtest."""
    return BacktestView(
        id=ids.say(NOUN, backtest.id),
        created_at=say_time(backtest.created_at),
        updated_at=say_time(backtest.updated_at),
        state_id=backtest.state_id,
        tags=backtest.tags,
        annotations=backtest.annotations,
        rule_id=ids.say(rules.NOUN, backtest.rule_id),
        from_=say_time(backtest.begin),
        to=say_time(backtest.until),
        progress=Progress(processed=backtest.processed, total=backtest.total),
        matched=backtest.matched,
        failed=backtest.failed,
        outcomes=backtest.outcomes,
        samples=[ids.say("transaction", UUID(one)) for one in backtest.samples],
    )


def count(backtest: Backtest, values: Iterable[tuple[UUID, bool | Failure]]) -> Backtest:
    """Return a backtest with what the rule says of further transactions."""
    outcomes, samples = dict(backtest.outcomes), list(backtest.samples)
    processed, matched, failed = backtest.processed, backtest.matched, backtest.failed
    does = backtest.does
    for key, value in values:
        processed += 1
        matched += value is True
        failed += isinstance(value, Failure)
        if value is True and len(samples) < MOST_SAMPLES:
            samples.append(str(key))
        for one in rules.wanted(REPLAYED, does, value):
            outcomes[one.action] = outcomes.get(one.action, 0) + 1
    return msgspec.structs.replace(
        backtest,
        processed=processed,
        matched=matched,
        failed=failed,
        outcomes=outcomes,
        samples=samples,
    )


class Mark(Struct, frozen=True):
    """One thing that counts, as it was written down."""

    created_at: datetime
    what: str
    owner_id: UUID
    currency: str | None
    amount: int


class _Inside:
    """What is inside of one window of one owner."""

    def __init__(self) -> None:
        self.marks: deque[tuple[datetime, int]] = deque()
        self.total = 0

    def leave(self, until: datetime) -> None:
        """Let go of what is not later than a moment."""
        while self.marks and self.marks[0][0] <= until:
            self.total -= self.marks.popleft()[1]


class Replay:
    """The windows of a rule at each moment of a time that has passed, gone through in order."""

    def __init__(self, windows: Sequence[Window]) -> None:
        self._inside: dict[Window, dict[tuple[UUID, str | None], _Inside]] = {
            window: {} for window in windows
        }

    def count(self, mark: Mark) -> None:
        """Count one more."""
        for window, owners in self._inside.items():
            if window.what == mark.what and mark.amount >= window.at_least:
                inside = owners.setdefault((mark.owner_id, mark.currency), _Inside())
                inside.leave(mark.created_at - timedelta(seconds=window.seconds))
                inside.marks.append((mark.created_at, mark.amount))
                inside.total += mark.amount

    def measure(self, owner_id: UUID, currency: str, now: datetime) -> Mapping[Window, int]:
        """Return what is inside of each window of an owner at a moment."""
        measured = {}
        for window, owners in self._inside.items():
            # What is no payment has no currency.
            found = owners.get((owner_id, currency)) or owners.get((owner_id, None))
            if found is None:
                measured[window] = 0
                continue
            found.leave(now - timedelta(seconds=window.seconds))
            measured[window] = len(found.marks) if window.kind == "count" else found.total
        return measured


MACHINE: Final = Machine(
    NOUN,
    typing.get_args(BacktestState),
    "RUNNING",
    (
        row("RUNNING", "DONE", {P}, "Every transaction of the period was gone through."),
        row("RUNNING", "FAILED", {P}, "It could not be carried out."),
        row("RUNNING", "CANCELLED", {T, O}, "Nobody wants to know it any more."),
    ),
)
