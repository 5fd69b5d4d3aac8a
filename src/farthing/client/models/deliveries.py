# Written by `make client` from the operations of the service: do not edit.
"""Models of deliveries."""

from msgspec import field

from farthing.client._model import Model
from farthing.client.models.webhooks import Attempt
from farthing.client.models.words import Status


class Delivery(Model, frozen=True, kw_only=True):
    """A delivery of one event to one webhook, with every attempt."""

    id: str
    created_at: str
    webhook_id: str
    event_id: str
    event_type: str
    object_id: str
    status: Status
    next_attempt_at: str | None = None
    attempts: list[Attempt] = field(default_factory=list)


class DeliveryPage(Model, frozen=True, kw_only=True):
    """One page of deliveries."""

    next_cursor: str | None = None
    results: list[Delivery]


class Resend(Model, frozen=True, kw_only=True):
    """What is delivered once more: one delivery, or everything from an event on."""

    first_event_id: str | None = None
    delivery: Delivery | None = None
