"""What can be done with deliveries: they are planned, claimed, sent, recorded, and sent again."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

from farthing.core import ids
from farthing.core.errors import Fault, ValidationFailed
from farthing.core.ids import new_id
from farthing.db import objects
from farthing.db.calls import Call
from farthing.db.commands import Command, Need
from farthing.db.draft import Draft
from farthing.outgoing import Reply
from farthing.resources.deliveries import model, store
from farthing.resources.deliveries.model import CLAIM, Delivery, ResendView, pause_after
from farthing.resources.deliveries.store import DELIVERIES
from farthing.resources.events import model as events
from farthing.resources.events.model import Event
from farthing.resources.webhooks.actions import note_outcome
from farthing.resources.webhooks.model import Cursor, Try, Webhook, require_active
from farthing.resources.webhooks.store import CURSORS, WEBHOOKS

_GONE = 410


class Outcome(Struct, frozen=True):
    """What became of an attempt; without a reply it was not even begun."""

    delivery: Delivery
    at: datetime
    reply: Reply | None


def plan(
    webhook: Webhook,
    seen: Cursor,
    reached: int,
    wanted: Sequence[tuple[Event, bool]],
    machine: datetime,
    claimed: list[Delivery],
) -> Command:
    """Plan the deliveries of the next events, and claim those that need not wait.

    Whoever planned in between has moved the cursor, and then nothing of this happens, nor once the
    tenant was thrown away. What is claimed comes back in the list, for whoever sends it once this
    is durable.
    """

    def decide(draft: Draft) -> None:
        claimed.clear()
        cursor = draft.find(CURSORS, webhook.id)
        if cursor is None or cursor.version != seen.version:
            return
        for number, (event, now) in enumerate(wanted, cursor.deliveries + 1):
            planned = _delivery(draft, webhook.id, number, event)
            if now:
                planned = _claimed(planned, machine)
                claimed.append(planned)
            draft.insert(DELIVERIES, planned)
        count = cursor.deliveries + len(wanted)
        draft.update(CURSORS, msgspec.structs.replace(cursor, position=reached, deliveries=count))

    return Command(decide, needs=[Need(CURSORS, webhook.id)])


def claim(due: Sequence[Delivery], machine: datetime, claimed: list[Delivery]) -> Command:
    """Take deliveries to send them; each attempt is taken by nobody else."""

    def decide(draft: Draft) -> None:
        claimed.clear()
        for one in due:
            row = draft.find(DELIVERIES, one.id)
            if row is None or not (_is_due(row, draft.now) or _is_left(row, machine)):
                continue
            if row.attempts > _last_number(row):
                error = "The process that sent it ended before it heard the answer."
                lost = Reply(None, "", error, 0)
                tried = msgspec.to_builtins(Try.of(row.attempts, draft.now, lost))
                row = msgspec.structs.replace(row, tries=[*row.tries, tried])
            claimed.append(draft.update(DELIVERIES, _claimed(row, machine)))

    return Command(decide, needs=[Need(DELIVERIES, one.id) for one in due])


def record(webhook_id: UUID, outcomes: Sequence[Outcome]) -> Command:
    """Write down what became of attempts, and what follows for their webhook."""

    def decide(draft: Draft) -> None:
        statuses, gone = set(), False
        for one in outcomes:
            row = draft.find(DELIVERIES, one.delivery.id)
            if row is None or row.status != "waiting":
                continue
            # What was written down already, although nobody heard of it, is not written twice.
            current = row.attempts == one.delivery.attempts > _last_number(row)
            if one.reply is None:
                if current:
                    _give_back(draft, row)
            elif current or one.reply.succeeded:
                statuses.add(_conclude(draft, row, one.delivery.attempts, one))
                gone = gone or one.reply.status == _GONE
        webhook = draft.find(WEBHOOKS, webhook_id)
        if webhook is not None:
            note_outcome(
                draft,
                webhook,
                gone=gone,
                gave_up="failed" in statuses,
                delivered="delivered" in statuses,
            )

    needs = [Need(DELIVERIES, one.delivery.id) for one in outcomes]
    return Command(decide, needs=[*needs, Need(WEBHOOKS, webhook_id)])


def _conclude(draft: Draft, row: Delivery, number: int, outcome: Outcome) -> str:
    """Note an attempt, and return the status to which it leads."""
    reply = outcome.reply
    if reply is None:
        raise TypeError("an attempt without a reply")
    tried = msgspec.to_builtins(Try.of(number, outcome.at, reply))
    pause = pause_after(row.attempts)
    status, due_at = "waiting", None
    if reply.succeeded:
        status = "delivered"
    elif pause is None or reply.status == _GONE:
        status = "failed"
    else:
        due_at = draft.now + pause
    changed = msgspec.structs.replace(
        row,
        status=status,
        due_at=due_at,
        claimed_until=None,
        ended_at=None if status == "waiting" else draft.now,
        tries=[*row.tries, tried],
    )
    draft.update(DELIVERIES, changed)
    return status


def _give_back(draft: Draft, row: Delivery) -> None:
    """Undo a claim; whoever wakes the line lets the delivery fall due again."""
    free = msgspec.structs.replace(row, attempts=row.attempts - 1, claimed_until=None)
    draft.update(DELIVERIES, free)


def _claimed(row: Delivery, machine: datetime) -> Delivery:
    """Let the next attempt belong to whoever claims it; the machine's clock says how long."""
    until = machine + CLAIM
    return msgspec.structs.replace(row, attempts=row.attempts + 1, due_at=None, claimed_until=until)


def _is_due(row: Delivery, now: datetime) -> bool:
    return row.due_at is not None and row.due_at <= now


def _is_left(row: Delivery, machine: datetime) -> bool:
    """Tell whether somebody claimed it and has not come back in time."""
    return row.claimed_until is not None and row.claimed_until <= machine


async def resend(call: Call[Any]) -> Command:
    """Deliver once more: an event, that of a delivery, or every one since a time."""
    named = [one for one in call.body.__struct_fields__ if getattr(call.body, one) is not None]
    if len(named) != 1:
        detail = "Name exactly one of deliveryId, eventId and since."
        raise ValidationFailed([Fault("", "not_exactly_one", detail)])
    webhook, _ = await objects.fetch(call, WEBHOOKS)
    require_active(webhook)
    if call.body.since is not None:
        first = await store.find_first_since(call.pool, webhook.tenant_id, call.body.since)
        return _rewind(webhook, first)
    return _resend_one(webhook, await _named_event(call, webhook))


async def _named_event(call: Call[Any], webhook: Webhook) -> Event:
    """Find the event that a request names by itself or by one of its deliveries."""
    body, tenant_id = call.body, webhook.tenant_id
    if body.delivery_id is not None:
        what, key = model.NOUN, ids.take(body.delivery_id)
        delivery = await store.find_delivery(call.pool, tenant_id, webhook.id, key)
        position = None if delivery is None else delivery.position
    else:
        what, position = events.NOUN, events.position_of(tenant_id, ids.take(body.event_id))
    found = [] if position is None else [position]
    for event in (await store.fetch_events(call.pool, tenant_id, found)).values():
        return event
    detail = f"There is no such {what}."
    raise ValidationFailed([Fault(f"/{what}Id", f"unknown_{what}", detail)])


def _resend_one(webhook: Webhook, event: Event) -> Command:
    def decide(draft: Draft) -> Struct:
        require_active(draft.require(WEBHOOKS, webhook.id))
        cursor = _cursor(draft, webhook.id)
        number = cursor.deliveries + 1
        draft.update(CURSORS, msgspec.structs.replace(cursor, deliveries=number))
        # It is due, and yet not sent before whatever of its object waits already.
        again = _delivery(draft, webhook.id, number, event, draft.now)
        draft.insert(DELIVERIES, again)
        return ResendView(first_event_id=again.message_id, delivery=model.view(again))

    return Command(decide, needs=[Need(WEBHOOKS, webhook.id), Need(CURSORS, webhook.id)])


def _rewind(webhook: Webhook, first: int | None) -> Command:
    """Set a webhook back in the log; with no event since then there is nothing to do."""

    def decide(draft: Draft) -> Struct:
        require_active(draft.require(WEBHOOKS, webhook.id))
        cursor = _cursor(draft, webhook.id)
        if first is None:
            return ResendView()
        position = min(cursor.position, first - 1)
        draft.update(CURSORS, msgspec.structs.replace(cursor, position=position))
        identifier = events.identify(webhook.tenant_id, first)
        return ResendView(first_event_id=ids.say(events.NOUN, identifier))

    return Command(decide, needs=[Need(WEBHOOKS, webhook.id), Need(CURSORS, webhook.id)])


def _cursor(draft: Draft, webhook_id: UUID) -> Cursor:
    cursor = draft.find(CURSORS, webhook_id)
    if cursor is None:
        raise LookupError("a webhook without a cursor")
    return cursor


def _delivery(
    draft: Draft,
    webhook_id: UUID,
    number: int,
    event: Event,
    due_at: datetime | None = None,
) -> Delivery:
    return Delivery(
        tenant_id=draft.tenant_id,
        id=new_id(),
        version=1,
        webhook_id=webhook_id,
        number=number,
        position=event.position,
        type=event.type,
        noun=event.noun,
        object_id=event.object_id,
        status="waiting",
        attempts=0,
        due_at=due_at,
        tries=[],
        created_at=draft.now,
        claimed_until=None,
        ended_at=None,
    )


def _last_number(row: Delivery) -> int:
    return int(row.tries[-1]["number"]) if row.tries else 0
