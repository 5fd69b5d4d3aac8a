"""How deliveries are spoken of on the wire."""

import base64
from datetime import datetime
from typing import Annotated, Final

from msgspec import Meta

from farthing.core import errors, ids
from farthing.core.fields import identifier
from farthing.core.operation import KEY_ONLY, Operation
from farthing.core.wire import CURSOR_PATTERN, Page, Request
from farthing.db import objects
from farthing.db.calls import Call
from farthing.resources.deliveries import actions, model, store
from farthing.resources.deliveries.model import DeliveryView, ResendView, Status
from farthing.resources.events import model as events
from farthing.resources.webhooks import model as webhooks
from farthing.resources.webhooks.store import WEBHOOKS

ONE: Final = "/v1/webhooks/{id}"

# What a reader that does not look at formats can check too.
_TIME: Final = (
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?(Z|[+-][0-9:]{5})$"
)

DeliveryId = Annotated[str, identifier(model.NOUN)]
EventId = Annotated[str, identifier(events.NOUN)]


class DeliveryQuery(Request, frozen=True, kw_only=True):
    """Which deliveries to list."""

    limit: Annotated[int, Meta(ge=1, le=100, description="How many results at the most.")] = 20
    cursor: (
        Annotated[
            str,
            Meta(
                pattern=CURSOR_PATTERN,
                description="The `nextCursor` of the page before.",
                extra={"expected": "the nextCursor of the page before"},
            ),
        ]
        | None
    ) = None
    status: Status | None = None


class DeliveryPage(Page, frozen=True, kw_only=True):
    """One page of deliveries."""

    results: list[DeliveryView]


class Resend(Request, frozen=True, kw_only=True):
    """What to deliver once more: exactly one of the three."""

    delivery_id: Annotated[DeliveryId, Meta(description="The event of this delivery.")] | None = (
        None
    )
    event_id: Annotated[EventId, Meta(description="This event.")] | None = None
    since: (
        Annotated[
            datetime,
            Meta(
                tz=True,
                description="Every event of this time or later that the webhook wants.",
                extra_json_schema={"pattern": _TIME},
            ),
        ]
        | None
    ) = None


async def read_page(call: Call[DeliveryQuery]) -> DeliveryPage:
    """Read one page of the deliveries of a webhook, newest first."""
    webhook, _ = await objects.fetch(call, WEBHOOKS)
    query = call.body
    before = None
    if query.cursor is not None:
        before = ids.of_bytes(base64.urlsafe_b64decode(query.cursor + "=="))
    rows = await store.fetch_deliveries(call.pool, webhook, before, query.status, query.limit + 1)
    shown = rows[: query.limit]
    cursor = None
    if len(rows) > len(shown):
        cursor = base64.urlsafe_b64encode(shown[-1].id.bytes).decode().rstrip("=")
    return DeliveryPage(results=[model.view(row) for row in shown], next_cursor=cursor)


OPERATIONS: Final = (
    Operation(
        id="webhooks.deliveries",
        method="GET",
        path=f"{ONE}/deliveries",
        summary="List the deliveries to a webhook, newest first",
        who=KEY_ONLY,
        read=read_page,
        noun=webhooks.NOUN,
        query=DeliveryQuery,
        answer=DeliveryPage,
    ),
    Operation(
        id="webhooks.resend",
        method="POST",
        path=f"{ONE}/resend",
        summary="Deliver an event, or all since a time, once more",
        who=KEY_ONLY,
        prepare=actions.resend,
        noun=webhooks.NOUN,
        body=Resend,
        answer=ResendView,
        raises=(errors.WebhookNotActive,),
        body_example={"since": "2026-01-31T12:00:00Z"},
    ),
)
