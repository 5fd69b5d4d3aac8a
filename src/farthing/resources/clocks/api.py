"""How a clock is spoken of on the wire; in live there is none."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Final

from msgspec import Meta

from farthing.core.clock import whole
from farthing.core.durations import Duration
from farthing.core.errors import Fault
from farthing.core.fields import Moment
from farthing.core.operation import TENANT, Operation
from farthing.core.wire import Request
from farthing.resources.clocks import actions
from farthing.resources.clocks.model import AdvanceView, ClockView

PATH: Final = "/v1/sandbox/clock"


class ClockChange(Request, frozen=True, kw_only=True):
    """How far to move a clock; with neither, only what is due already happens."""

    advance: (
        Annotated[Duration, Meta(description="By how much, as a duration of ISO 8601.")] | None
    ) = None
    to: Annotated[Moment, Meta(description="To which time; the clock never goes back.")] | None = (
        None
    )

    @staticmethod
    def crossed(given: dict[str, Any], now: datetime) -> Iterator[Fault]:
        """Refuse two goals at once, and the past."""
        to = given.get("to")
        if to and given.get("advance"):
            yield Fault("/to", "not_applicable", "Give advance or to, but not both.")
        elif to and whole(to) < now:
            yield Fault("/to", "wrong_order", "Must not be before the time of the clock.")


OPERATIONS: Final = (
    Operation(
        id="clock.get",
        method="GET",
        path=PATH,
        summary="Read the clock of the tenant",
        who=TENANT,
        read=actions.read,
        answer=ClockView,
        sandbox_only=True,
    ),
    Operation(
        id="clock.advance",
        method="POST",
        path=PATH,
        summary="Move the clock of the tenant forward, and do everything that falls due on the way",
        who=TENANT,
        prepare=actions.advance,
        body=ClockChange,
        answer=AdvanceView,
        body_example={"advance": "PT15M"},
        sandbox_only=True,
    ),
)
