"""What a tenant's clock is: the real time, and how far it was moved ahead of it."""

from datetime import timedelta
from typing import Final

from farthing.core.wire import View
from farthing.resources.events.model import EventView

# Ahead of the real time.
MOST_AHEAD: Final = timedelta(days=3653)


class ClockView(View, frozen=True, kw_only=True):
    """The time of a tenant, and by how much it is ahead of the real one."""

    now: str
    ahead: str


class AdvanceView(View, frozen=True, kw_only=True):
    """What happened while the clock moved.

    A clock that had too much to do on its way stands before its goal; repeat with the same `to`.
    """

    now: str
    to: str
    complete: bool
    events: list[EventView]
