"""How events are spoken of on the wire."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Final

from msgspec import Meta, field

from farthing.core.errors import Fault
from farthing.core.ids import UUID_PATTERN
from farthing.core.operation import TENANT, Operation
from farthing.core.wire import CURSOR_PATTERN, Request
from farthing.resources.events import actions
from farthing.resources.events.model import NOUN, EventPage, EventView

PATH: Final = "/v1/events"

_TYPE: Final = r"[a-z_*]+\.[a-z_*]+"

Types = Annotated[
    str,
    Meta(
        pattern=f"^{_TYPE}(,{_TYPE})*$",
        max_length=1000,
        description="Only events of this type; `*` stands for any text, and commas separate "
        "several, such as `transaction.*,card.created`.",
        extra={"expected": "types such as transaction.effected or card.*, separated by commas"},
    ),
]
Cursor = Annotated[
    str, Meta(pattern=CURSOR_PATTERN, extra={"expected": "the nextCursor of the page before"})
]
ObjectId = Annotated[
    str,
    Meta(
        pattern=f"^[a-z_]+/{UUID_PATTERN}$",
        description="Only events of this object.",
        extra={"expected": "<noun>/<uuid>, with the uuid in lower case"},
    ),
]


class EventQuery(Request, frozen=True, kw_only=True):
    """Which events to read."""

    limit: Annotated[int, Meta(ge=1, le=100, description="How many results at the most.")] = 20
    cursor: (
        Annotated[
            Cursor,
            Meta(
                description="The `nextCursor` of the page before. Keep it and ask again later: "
                "every event comes once."
            ),
        ]
        | None
    ) = None
    type: Types | None = None
    object_id: ObjectId | None = None
    from_: (
        Annotated[datetime, Meta(tz=True, description="Only events of this time or later.")] | None
    ) = field(name="from", default=None)
    to: Annotated[datetime, Meta(tz=True, description="Only events before this time.")] | None = (
        None
    )

    @staticmethod
    def crossed(given: dict[str, Any], _: datetime) -> Iterator[Fault]:
        """Refuse a period that ends before it begins."""
        begin, end = given.get("from"), given.get("to")
        if begin and end and begin >= end:
            yield Fault("/to", "wrong_order", "Must be later than from.")


class StreamQuery(Request, frozen=True, kw_only=True):
    """What to be told of, and from where on."""

    type: Types | None = None
    after: (
        Annotated[
            Cursor,
            Meta(
                description="A `nextCursor` of `GET /v1/events`, to go on from there. "
                "`Last-Event-ID`, if it is sent, counts instead."
            ),
        ]
        | None
    ) = None


OPERATIONS: Final = (
    Operation(
        id="events.list",
        method="GET",
        path=PATH,
        summary="Read the log of events, oldest first",
        who=TENANT,
        read=actions.list_page,
        query=EventQuery,
        answer=EventPage,
        query_example={"limit": 1},
    ),
    Operation(
        id="events.stream",
        method="GET",
        path=f"{PATH}/stream",
        summary="Be told of events as they happen",
        who=TENANT,
        stream=actions.follow,
        query=StreamQuery,
    ),
    Operation(
        id="events.get",
        method="GET",
        path=f"{PATH}/{{id}}",
        summary="Read one event",
        who=TENANT,
        read=actions.read_one,
        noun=NOUN,
        answer=EventView,
    ),
)
