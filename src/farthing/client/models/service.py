# Written by `make client` from the operations of the service: do not edit.
"""Models of service."""

from typing import Any

from farthing.client._model import Model
from farthing.client.models.words import Health


class Component(Model, frozen=True, kw_only=True):
    """The health of one part."""

    status: Health
    detail: str | None = None


class EventType(Model, frozen=True, kw_only=True):
    """One type of event."""

    type: str
    description: str
    schema: dict[str, Any]


class EventTypes(Model, frozen=True, kw_only=True):
    """Every type of event; there may be new ones at any time."""

    results: list[EventType]


class StepDescription(Model, frozen=True, kw_only=True):
    """One row of a state machine."""

    from_state_id: str
    to_state_id: str
    who: list[str]
    why: str
    condition: str | None = None
    effect: str | None = None


class Machine(Model, frozen=True, kw_only=True):
    """One state machine as data."""

    noun: str
    states: list[str]
    initial_state_id: str
    transitions: list[StepDescription]


class Machines(Model, frozen=True, kw_only=True):
    """Every state machine of the service."""

    results: list[Machine]


class ServiceStatus(Model, frozen=True, kw_only=True):
    """The health of the service, part by part."""

    status: Health
    environment: str
    version: str
    components: dict[str, Component]
