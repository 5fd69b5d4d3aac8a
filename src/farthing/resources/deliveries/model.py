"""What a delivery is: one event on its way to one webhook.

Deliveries of one object to one webhook stand in a line, and only the first of a line is sent. A
delivery is sent by whoever claims it, and a claim runs out, so that another takes over from a
process that died.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Literal
from uuid import UUID

from msgspec import field

from farthing.core import ids
from farthing.core.clock import say_time
from farthing.core.rows import VersionedRow
from farthing.core.wire import View
from farthing.resources.events import model as events
from farthing.resources.events.model import Event
from farthing.resources.webhooks import model as webhooks
from farthing.resources.webhooks.model import AttemptView, Try, view_attempt

Status = Literal["waiting", "delivered", "failed"]

NOUN: Final = "delivery"

# How long whoever claimed a delivery has for it, in which others to the same endpoint come first;
# by the machine's clock, because that of the tenant may be moved meanwhile.
CLAIM: Final = timedelta(minutes=2)
PAUSES: Final = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=20),
    timedelta(hours=24),
)
MOST_JITTER: Final = 0.1


class Delivery(VersionedRow, frozen=True):
    """A delivery as it is kept.

    While it waits it has a time, or somebody has claimed it, or another of its line comes first.
    """

    webhook_id: UUID
    number: int
    position: int
    type: str
    noun: str
    object_id: UUID
    status: str
    attempts: int
    due_at: datetime | None
    tries: list[dict[str, Any]]
    created_at: datetime
    claimed_until: datetime | None
    ended_at: datetime | None

    @property
    def line(self) -> tuple[UUID, UUID]:
        """The line in which it stands."""
        return self.webhook_id, self.object_id

    @property
    def message_id(self) -> str:
        """The identifier by which a receiver knows an event that it gets twice."""
        return ids.say(events.NOUN, events.identify(self.tenant_id, self.position))


class DeliveryView(View, frozen=True, kw_only=True):
    """A delivery of one event to one webhook, with every attempt."""

    id: str
    created_at: str
    webhook_id: str
    event_id: str
    event_type: str
    object_id: str
    status: Status
    next_attempt_at: str | None = None
    attempts: list[AttemptView] = field(default_factory=list)


class ResendView(View, frozen=True, kw_only=True):
    """What is delivered once more: one delivery, or everything from an event on."""

    first_event_id: str | None = None
    delivery: DeliveryView | None = None


def view(delivery: Delivery) -> DeliveryView:
    """Show a delivery."""
    return DeliveryView(
        id=ids.say(NOUN, delivery.id),
        created_at=say_time(delivery.created_at),
        webhook_id=ids.say(webhooks.NOUN, delivery.webhook_id),
        event_id=delivery.message_id,
        event_type=delivery.type,
        object_id=ids.say(delivery.noun, delivery.object_id),
        status=delivery.status,  # type: ignore[arg-type]  # the table admits no other
        next_attempt_at=None if delivery.due_at is None else say_time(delivery.due_at),
        attempts=[view_attempt(Try(**one)) for one in delivery.tries],
    )


def pause_after(attempts: int) -> timedelta | None:
    """Return how long to wait after so many attempts have failed; None after the last."""
    if attempts > len(PAUSES):
        return None
    jitter = random.uniform(1, 1 + MOST_JITTER)  # noqa: S311 - jitter, no secret
    return PAUSES[attempts - 1] * jitter


def choose(
    wanted: Sequence[Event], in_line: set[UUID], room: int, last: int
) -> tuple[list[tuple[Event, bool]], int]:
    """Tell of each event whether it goes at once, and which position is reached thereby.

    What has to wait for an earlier one of its object takes no room. The first event that would
    need room that is not there ends it.
    """
    chosen: list[tuple[Event, bool]] = []
    for event in wanted:
        now = event.object_id not in in_line
        if now and not room:
            return chosen, event.position - 1
        room -= now
        chosen.append((event, now))
    return chosen, last


def by_line(claimed: Iterable[Delivery]) -> list[list[Delivery]]:
    """Put together what is of one object, in its order."""
    lines: defaultdict[UUID, list[Delivery]] = defaultdict(list)
    for one in claimed:
        lines[one.object_id].append(one)
    return list(lines.values())
