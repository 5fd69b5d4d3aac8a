# Written by `make client` from the operations of the service: do not edit.
"""Models of clocks."""

from farthing.client._model import Model
from farthing.client.models.events import Event


class Advance(Model, frozen=True, kw_only=True):
    """What happened while the clock moved.

    A clock that had too much to do on its way stands before its goal; repeat with the same `to`.
    """

    now: str
    to: str
    complete: bool
    events: list[Event]


class Clock(Model, frozen=True, kw_only=True):
    """The time of a tenant, and by how much it is ahead of the real one."""

    now: str
    ahead: str
