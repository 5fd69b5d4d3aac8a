# Written by `make client` from the operations of the service: do not edit.
"""Models of rules."""

from farthing.client._model import Model
from farthing.client.models.words import Does, Trigger


class Action(Model, frozen=True, kw_only=True):
    """One thing that a rule does, and what it says thereby."""

    action: Does
    message: str | None = None
    code: str | None = None
    tag: str | None = None
    name: str | None = None
    value: str | None = None
    four_eyes: bool | None = None
    expires_in: str | None = None


class Rule(Model, frozen=True, kw_only=True):
    """A rule as the outside sees it."""

    id: str
    created_at: str
    updated_at: str
    state_id: str
    tags: list[str]
    annotations: dict[str, str]
    name: str
    on: Trigger
    when: str
    then: list[Action]
    priority: int
    enabled: bool
    dry: bool


class RulePage(Model, frozen=True, kw_only=True):
    """One page of rules."""

    next_cursor: str | None = None
    results: list[Rule]
