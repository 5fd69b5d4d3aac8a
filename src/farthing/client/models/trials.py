# Written by `make client` from the operations of the service: do not edit.
"""Models of trials."""

from farthing.client._model import Model
from farthing.client.models.rules import Action
from farthing.client.models.words import Result, Trigger


class Progress(Model, frozen=True, kw_only=True):
    """How far a backtest has come."""

    processed: int
    total: int | None = None


class Backtest(Model, frozen=True, kw_only=True):
    """A backtest as the outside sees it."""

    id: str
    created_at: str
    updated_at: str
    state_id: str
    tags: list[str]
    annotations: dict[str, str]
    rule_id: str
    from_: str
    to: str
    progress: Progress
    matched: int
    failed: int
    outcomes: dict[str, int]
    samples: list[str]


class BacktestPage(Model, frozen=True, kw_only=True):
    """One page of backtests."""

    next_cursor: str | None = None
    results: list[Backtest]


class RuleTrial(Model, frozen=True, kw_only=True):
    """What one rule says of an object."""

    rule_id: str
    name: str
    priority: int
    dry: bool
    value: bool | None = None
    error: str | None = None
    outcome: list[Action]


class RuleTest(Model, frozen=True, kw_only=True):
    """What all rules on a trigger say of an object, and what would become of it."""

    on: Trigger
    rules: list[RuleTrial]
    result: Result
    rule_id: str | None = None
    message: str | None = None
    code: str | None = None
    tags: list[str]
    annotations: dict[str, str]


class RuleTestStep(Model, frozen=True, kw_only=True):
    """The move that is tried."""

    to: str
    amount: str | None = None
