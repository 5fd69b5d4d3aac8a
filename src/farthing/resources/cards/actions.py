"""What can be done with cards."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

from farthing.core import ids
from farthing.core.actors import Actor
from farthing.core.errors import Fault, InstrumentNotUsable, Unavailable, ValidationFailed
from farthing.core.ids import new_id
from farthing.db import objects
from farthing.db.calls import Call
from farthing.db.commands import Command, Need, Shown
from farthing.db.draft import Draft
from farthing.db.hearings import FREE, Matter, Whereabouts
from farthing.rails.base import CardDetails, CardVerdict, Hidden, Rail, RailAway
from farthing.resources.cards import model, vault
from farthing.resources.cards.model import NOUN, WITHOUT_NUMBER, Card
from farthing.resources.cards.store import CARDS
from farthing.resources.cards.vault import NUMBERS, SIGHTINGS, NumberRow, Sighting, Vault
from farthing.resources.challenges.actions import open_challenge
from farthing.resources.challenges.model import Link, make_link
from farthing.resources.customers.actions import owner_of, prefer
from farthing.resources.customers.store import CUSTOMERS

_STATES = {"verified": "ENABLED", "declined": "FAILED", "challenge": "PROCESSING"}


@dataclass(frozen=True)
class _Checked:
    """What is known of a new card before it is written: nothing here shows its number."""

    card_id: UUID
    suffix: str
    scheme: str
    verdict: CardVerdict
    sealed: NumberRow
    fingerprint: bytes
    link: Link | None


async def create(call: Call[Any]) -> Command:
    """Register a card: ask the network first, then write what it said."""
    body = call.body
    checked = await _check(call)
    owner_id = ids.take(body.owner_id)

    def decide(draft: Draft) -> Struct:
        owner = owner_of(draft, owner_id)
        if body.set_as_preferred and _STATES[checked.verdict.outcome] not in WITHOUT_NUMBER:
            prefer(draft, owner.id, preferred_card_id=checked.card_id)
        _keep_number(draft, checked, owner.id)
        card = _new_card(draft, call, checked)
        # What the network declined is over, whatever rules would say.
        judged = FREE if card.state_id in WITHOUT_NUMBER else draft.judge(CARDS, card)
        if judged.approval_id is not None:
            wanted = {**card.requirements, **judged.requirements}
            card = msgspec.structs.replace(card, state_id="PROCESSING", requirements=wanted)
        return draft.create(CARDS, judged.label(card), judged.explain(_reason(checked.verdict)))

    needs = objects.needs_of(CUSTOMERS, owner_id)
    return Command(decide, needs=needs, status=201, matter=Matter(f"{NOUN}.create", owner_id))


def update(call: Call[Any]) -> Command:
    """Change a card's address or labels, or make it the preferred one."""
    given = objects.replaced(call.body, "tags", "annotations", "billing_address")
    if "billing_address" in given:
        given["billing_address"] = msgspec.to_builtins(given["billing_address"])
    preferred = call.body.set_as_preferred

    def decide(draft: Draft) -> Struct:
        old = draft.require(CARDS, call.id)
        _set_preferred(draft, old, preferred=preferred)
        return draft.change(CARDS, old, msgspec.structs.replace(old, **given), "updated")

    return Command(decide, needs=needs_of(call.id))


def move(call: Call[Any]) -> Command:
    """Move a card to another state; a card that is gone loses its number."""
    moving = objects.moving(call, CARDS, found_at=Whereabouts(CARDS, call.id))

    def decide(draft: Draft) -> Shown:
        # First, because the event shows the card as it is afterwards; a refusal undoes it all.
        put_away(draft, draft.require(CARDS, call.id), call.body.to_state_id)
        return moving.decide(draft)

    return Command(decide, needs=needs_of(call.id), matter=moving.matter)


def resolve(card_id: UUID, *, approved: bool, reason: str) -> Command:
    """End the challenge of a card: the cardholder approved, declined, or let the time pass."""

    def decide(draft: Draft) -> Struct:
        old = draft.require(CARDS, card_id)
        if approved:
            CARDS.machine.check(old.state_id, None, "ENABLED", Actor.PLATFORM)
            return _meet(draft, old, "threeDSecure", reason)
        if old.state_id in WITHOUT_NUMBER:
            # Somebody else has turned it down before.
            return CARDS.view(old, *draft.beside(CARDS, old))
        return turn_down(draft, old, reason)

    return Command(decide, needs=needs_of(card_id))


def let_go(draft: Draft, card: Card, reason: str) -> Struct:
    """Enable a card whose approval was given, unless a challenge is still open."""
    return _meet(draft, card, "approval", reason)


def turn_down(draft: Draft, card: Card, reason: str) -> Struct:
    """Fail a card that its holder, or whoever has to approve it, did not approve."""
    CARDS.machine.check(card.state_id, None, "FAILED", Actor.PLATFORM)
    put_away(draft, card, "FAILED")
    new = msgspec.structs.replace(card, state_id="FAILED", requirements={})
    return draft.step(CARDS, card, new, "failed", reason, Actor.PLATFORM)


def _meet(draft: Draft, old: Card, requirement: str, reason: str) -> Struct:
    """Drop a requirement that is met; the last one enables the card."""
    left = old.unresolved_beside(requirement)
    new = msgspec.structs.replace(old, requirements=left)
    if left:
        return draft.change(CARDS, old, new, "updated")
    enabled = msgspec.structs.replace(new, state_id="ENABLED")
    return draft.step(CARDS, old, enabled, "enabled", reason, Actor.PLATFORM)


def require_usable(draft: Draft, card: Card) -> None:
    """Refuse a card that cannot be charged now."""
    if card.state_id != "ENABLED" or card.used or card.expires_at <= draft.now:
        why = "was used" if card.used else "has expired" if card.expires_at <= draft.now else None
        raise InstrumentNotUsable(
            f"{ids.say(NOUN, card.id)} {why or f'is {card.state_id}, not ENABLED'}."
        )


def use(draft: Draft, card: Card) -> None:
    """Note that a card is about to be charged; one that is for one use is used thereby."""
    require_usable(draft, card)
    if card.storage_type == "ONE_TIME_USE":
        new = msgspec.structs.replace(card, state_id="INACTIVE", used=True)
        reason = "The card was for one use, and it is used."
        draft.step(CARDS, card, new, "inactive", reason, Actor.PLATFORM)


def expire(card_id: UUID) -> Command:
    """Put a card out of use whose time has passed."""

    def decide(draft: Draft) -> Struct | None:
        old = draft.require(CARDS, card_id)
        if old.state_id != "ENABLED" or old.expires_at > draft.now:
            return None
        new = msgspec.structs.replace(old, state_id="INACTIVE")
        return draft.change(CARDS, old, new, "inactive", "The card expired.")

    return Command(decide, needs=needs_of(card_id))


def put_away(draft: Draft, card: Card, target: str) -> None:
    """Erase the number of a card that nobody will charge again, and prefer it no longer."""
    if target in WITHOUT_NUMBER:
        draft.remove(NUMBERS, card.id)
        _set_preferred(draft, card, preferred=False)


async def _check(call: Call[Any]) -> _Checked:
    """Ask the network about a card, and seal its number."""
    safe, rail, body = call.part(Vault), call.part(Rail), call.body
    number, card_id = Hidden(body.card_number), new_id()
    details = CardDetails(number, body.expiry, Hidden(body.cvv))
    try:
        verdict = await rail.verify_card(details)
    except RailAway:
        raise Unavailable("The card network does not answer. Repeat in a moment.") from None
    await safe.refresh()
    tenant_id = call.principal.tenant_id
    return _Checked(
        card_id,
        vault.suffix_of(number),
        vault.scheme_of(number.reveal()) or "",
        verdict,
        safe.seal(tenant_id, card_id, number),
        safe.fingerprint(number),
        make_link(tenant_id) if verdict.outcome == "challenge" else None,
    )


def _new_card(draft: Draft, call: Call[Any], checked: _Checked) -> Card:
    body, requirements = call.body, {}
    if checked.link is not None:
        lifetime = timedelta(minutes=call.settings.challenge_minutes)
        open_challenge(draft, checked.link, NOUN, checked.card_id, lifetime)
        requirements = {"threeDSecure": call.settings.base_url + checked.link.path}
    return Card(
        tenant_id=draft.tenant_id,
        id=checked.card_id,
        version=1,
        created_at=draft.now,
        updated_at=draft.now,
        state_id=_STATES[checked.verdict.outcome],
        tags=body.tags or [],
        annotations=body.annotations or {},
        owner_id=ids.take(body.owner_id),
        suffix=checked.suffix,
        expiry=body.expiry,
        expires_at=model.end_of(body.expiry),
        scheme=checked.scheme,
        type=checked.verdict.type,
        storage_type=body.storage_type,
        used=False,
        billing_address=msgspec.to_builtins(body.billing_address),
        requirements=requirements,
    )


def _keep_number(draft: Draft, checked: _Checked, owner_id: UUID) -> None:
    sighting = Sighting(draft.tenant_id, checked.fingerprint, checked.card_id, owner_id, draft.now)
    draft.append(SIGHTINGS, sighting)
    if _STATES[checked.verdict.outcome] not in WITHOUT_NUMBER:
        draft.insert(NUMBERS, checked.sealed)


def _reason(verdict: CardVerdict) -> str:
    said = {"verified": "verified", "declined": "declined", "challenge": "approval wanted"}
    because = f" ({verdict.reason})" if verdict.reason else ""
    return f"The network said: {said[verdict.outcome]}{because}."


def _set_preferred(draft: Draft, card: Card, *, preferred: bool | None) -> None:
    (standing,) = draft.beside(CARDS, card)
    if preferred and card.state_id in WITHOUT_NUMBER:
        detail = f"A card that is {card.state_id} cannot be the preferred one."
        raise ValidationFailed([Fault("/setAsPreferred", "invalid_value", detail)])
    if preferred:
        prefer(draft, card.owner_id, preferred_card_id=card.id)
    elif preferred is False and standing.preferred_card_id == card.id:
        prefer(draft, card.owner_id, preferred_card_id=None)


def needs_of(card_id: UUID) -> list[Need]:
    """Name a card, its number, its owner and the owner's standing."""

    def follow(card: Card) -> list[Need]:
        return objects.needs_of(CUSTOMERS, card.owner_id)

    return [Need(NUMBERS, card_id), Need(CARDS, card_id, follow)]
