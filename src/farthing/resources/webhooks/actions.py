"""What can be done with webhooks."""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

from farthing.config import Settings, SettingsError
from farthing.core import addresses, ids, keys
from farthing.core.actors import Actor
from farthing.core.clock import say_time, system_clock
from farthing.core.errors import Fault, TooManyWebhooks, ValidationFailed
from farthing.core.ids import new_id
from farthing.db import objects
from farthing.db.calls import Call
from farthing.db.commands import Command, Need, Shown
from farthing.db.draft import Draft
from farthing.outgoing import Poster, Reply
from farthing.resources.events import model as events
from farthing.resources.events import store as events_store
from farthing.resources.events.model import EventTypes
from farthing.resources.webhooks import model
from farthing.resources.webhooks.model import (
    MACHINE,
    MOST_WEBHOOKS,
    NOUN,
    OVERLAP,
    Cursor,
    Tally,
    Try,
    Webhook,
)
from farthing.resources.webhooks.store import CURSORS, TALLIES, WEBHOOKS


class Courier:
    """Signs what is delivered and carries it; it alone opens secrets."""

    def __init__(self, settings: Settings, poster: Poster | None = None) -> None:
        live = settings.environment == "live"
        if live and settings.webhook_private:
            raise SettingsError("FARTHING_WEBHOOK_PRIVATE must be off in live.")
        self._key = keys.derive(settings.require_master_key(), "webhook secrets")
        self._poster = poster or Poster(private_ok=settings.webhook_private, https_only=live)

    def seal(self, tenant_id: UUID, webhook_id: UUID, secret: str) -> bytes:
        """Return what is kept of a secret."""
        return model.seal(self._key, tenant_id, webhook_id, secret)

    async def carry(self, webhook: Webhook, message_id: str, body: bytes, now: datetime) -> Reply:
        """Send a signed body to a webhook.

        The signature has the time of the world, whatever time it is for the tenant: receivers
        compare it with their own clocks.
        """
        secrets = model.current_secrets(self._key, webhook, now)
        headers = model.sign(secrets, message_id, system_clock(), body)
        return await self._poster.post(addresses.read_target(webhook.url), headers, body)

    async def close(self) -> None:
        """Close every connection."""
        await self._poster.close()


async def create(call: Call[Any]) -> Command:
    """Make a webhook that gets the events from now on."""
    body = call.body
    _refuse(call)
    courier, secret, webhook_id = call.part(Courier), model.make_secret(), new_id()
    tenant_id = call.principal.tenant_id
    head = await events_store.find_head(call.pool, tenant_id)

    def decide(draft: Draft) -> Struct:
        _count(draft, +1)
        webhook = Webhook(
            tenant_id=tenant_id,
            id=webhook_id,
            version=1,
            created_at=draft.now,
            updated_at=draft.now,
            state_id=MACHINE.initial,
            tags=body.tags or [],
            annotations=body.annotations or {},
            url=body.url,
            events=["*"] if body.events is None else body.events,
            description=body.description,
            secret=courier.seal(tenant_id, webhook_id, secret),
            old_secret=None,
            old_secret_until=None,
        )
        draft.insert(CURSORS, Cursor(tenant_id, webhook_id, 1, head, 0))
        draft.create(WEBHOOKS, webhook)
        return model.view_with_secret(webhook, secret)

    return Command(decide, needs=[Need(TALLIES, tenant_id)], status=201)


def update(call: Call[Any]) -> Command:
    """Change what a webhook says of itself."""
    _refuse(call)
    named = ("url", "events", "description", "tags", "annotations")

    def changes(old: Webhook) -> dict[str, Any]:
        model.require_present(old)
        return objects.replaced(call.body, *named)

    return objects.updating(call, WEBHOOKS, changes)


async def move(call: Call[Any]) -> Command:
    """Move a webhook to another state; one that is enabled again begins with the next event."""
    head = await events_store.find_head(call.pool, call.principal.tenant_id)
    moving = objects.moving(call, WEBHOOKS)

    def decide(draft: Draft) -> Shown:
        old = draft.require(WEBHOOKS, call.id)
        shown = moving.decide(draft)
        cursor = draft.find(CURSORS, call.id)
        if call.body.to_state_id == "DELETED":
            _count(draft, -1)
        elif old.state_id == "DISABLED" and cursor is not None:
            reached = max(cursor.position, head)
            draft.update(CURSORS, msgspec.structs.replace(cursor, position=reached))
        return shown

    tally = Need(TALLIES, call.principal.tenant_id)
    return Command(decide, needs=[*moving.needs, Need(CURSORS, call.id), tally])


def delete(call: Call[Any]) -> Command:
    """Delete a webhook; what was to be delivered is not any more."""

    def decide(draft: Draft) -> Struct:
        old = draft.require(WEBHOOKS, call.id)
        MACHINE.check(old.state_id, None, "DELETED", draft.principal.actor)
        _count(draft, -1)
        new = msgspec.structs.replace(old, state_id="DELETED")
        return draft.change(WEBHOOKS, old, new, "deleted")

    needs = [*objects.needs_of(WEBHOOKS, call.id), Need(TALLIES, call.principal.tenant_id)]
    return Command(decide, needs=needs)


def rotate(call: Call[Any]) -> Command:
    """Give a webhook a new secret; the old one signs too for a day."""
    courier, secret = call.part(Courier), model.make_secret()

    def decide(draft: Draft) -> Struct:
        old = draft.require(WEBHOOKS, call.id)
        model.require_present(old)
        new = msgspec.structs.replace(
            old,
            secret=courier.seal(old.tenant_id, old.id, secret),
            old_secret=old.secret,
            old_secret_until=draft.now + OVERLAP,
        )
        draft.change(WEBHOOKS, old, new, "rotated")
        changed = draft.require(WEBHOOKS, call.id)
        return model.view_with_secret(changed, secret)

    return Command(decide, needs=objects.needs_of(WEBHOOKS, call.id))


async def test(call: Call[Any]) -> Command:
    """Send a signed event of no object at once, and tell what the endpoint answered."""
    webhook, shown = await objects.fetch(call, WEBHOOKS)
    model.require_present(webhook)
    identifier = new_id()
    event = events.EventView(
        id=ids.say(events.NOUN, identifier),
        type=f"{NOUN}.test",
        created_at=say_time(call.now),
        object_id=ids.say(NOUN, webhook.id),
        object_version=webhook.version,
        data=msgspec.Raw(msgspec.json.encode(shown)),
    )
    courier = call.part(Courier)
    reply = await courier.carry(webhook, event.id, msgspec.json.encode(event), call.now)
    attempt = model.view_attempt(Try.of(1, call.now, reply))
    return Command(lambda _: attempt)


def note_outcome(
    draft: Draft, webhook: Webhook, *, gone: bool, gave_up: bool, delivered: bool
) -> None:
    """Let the state of a webhook follow from what became of its deliveries."""
    target, reason = webhook.state_id, ""
    if gone:
        target, reason = "DISABLED", "The endpoint answered 410: it is gone."
    elif gave_up:
        target, reason = "FAILING", "The last try of a delivery failed."
    elif delivered:
        target, reason = "ENABLED", "The endpoint takes deliveries again."
    if MACHINE.find(webhook.state_id, target, Actor.PLATFORM) is not None:
        new = msgspec.structs.replace(webhook, state_id=target)
        draft.step(WEBHOOKS, webhook, new, target.lower(), reason, Actor.PLATFORM)


def _refuse(call: Call[Any]) -> None:
    """Refuse an address to which nothing would ever be sent, and events that never happen."""
    body, types = call.body, call.part(EventTypes)
    patterns = {f"/events/{place}": one for place, one in enumerate(body.events or ())}
    faults = [] if body.url is None else faults_of_target(body.url, call.settings)
    if faults := [*faults, *types.faults_of(patterns)]:
        raise ValidationFailed(faults)


def faults_of_target(url: str, settings: Settings) -> list[Fault]:
    """Say why nothing would ever be sent to an address."""
    target = addresses.read_target(url)
    if settings.environment == "live" and target.scheme != "https":
        return [Fault("/url", "https_required", "Must begin with https:// in live.")]
    address, private_ok = target.address, settings.webhook_private
    if address is not None and not addresses.is_allowed(address, private_ok=private_ok):
        detail = "Must not name an address that is private, local or reserved."
        return [Fault("/url", "forbidden_address", detail)]
    return []


def _count(draft: Draft, change: int) -> None:
    tally = draft.find(TALLIES, draft.tenant_id)
    if tally is None:
        draft.insert(TALLIES, Tally(draft.tenant_id, draft.tenant_id, 1, change))
        return
    if tally.webhooks + change > MOST_WEBHOOKS:
        raise TooManyWebhooks(f"There are {MOST_WEBHOOKS} webhooks already. Delete one first.")
    draft.update(TALLIES, msgspec.structs.replace(tally, webhooks=tally.webhooks + change))
