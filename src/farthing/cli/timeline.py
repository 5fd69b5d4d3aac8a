"""`farthing timeline`: everything about one object in the order in which it happened."""

import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct
from rich.text import Text

from farthing.cli import amounts, asking, shown
from farthing.cli.connection import Caller, Reach, connect
from farthing.cli.failures import told
from farthing.cli.nouns import canonical, history_of, namespace, noun_of
from farthing.client.errors import Forbidden
from farthing.client.models import Delivery, Step

# Of what happened at the same time, the cause comes first.
_KINDS: Final = ("request", "transition", "entry", "event", "delivery")
# What a line with everything needs; an event and its identifier are the widest.
_ROOM: Final = 150


class Moment(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One thing that happened."""

    at: str
    kind: str
    what: str
    id: str = ""

    @property
    def order(self) -> tuple[str, int]:
        """Where it stands."""
        return self.at, _KINDS.index(self.kind)


def timeline(reach: Reach, identifier: str, *, as_json: bool) -> None:
    """Show requests, transitions, entries, events and deliveries of an object."""
    command = history_of(identifier)
    identifier = asking.identifier(command, identifier)
    waiting = shown.waiting("Looking for everything about it.")
    with connect(reach) as caller, told(command, caller, as_json=as_json), waiting:
        every = moments(caller, identifier, spells=not as_json)
        found = sorted(every, key=lambda one: one.order)
    if as_json:
        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
    else:
        _show(found)


def _show(found: list[Moment]) -> None:
    out = shown.console()
    if out.width >= _ROOM:
        table = shown.plain("at", "kind", "what", "id")
        for one in found:
            table.add_row(one.at, one.kind, shown.word(one.what), one.id)
    else:
        table = shown.plain("at", "kind", "what")
        table.columns[0].no_wrap = True
        for row in _narrow(found):
            table.add_row(*row)
    out.print(table)


def _narrow(found: list[Moment]) -> Iterator[tuple[str | Text, ...]]:
    """Yield rows for little room: each day and each identifier has a line of its own."""
    today = ""
    for one in found:
        day, _, time = one.at.partition("T")
        if day != today:
            today = day
            yield (Text(day, "bold"),)
        below = f"\n{one.id}" if one.id else ""
        yield time.rstrip("Z"), one.kind, Text.assemble(shown.word(one.what), (below, "dim"))


def moments(caller: Caller, identifier: str, *, spells: bool = False) -> Iterator[Moment]:
    """Yield everything that happened to an object, in no order."""
    operations = namespace(caller, identifier)
    history = operations.transitions(identifier).history
    yield from _requests(history)
    yield from map(_transition, history)
    if noun_of(identifier) == "transaction":
        detail = caller.transactions.get(identifier, include="entries,accounts")
        named = next((one.currency_iso for one in detail.accounts or ()), None)
        for entry in msgspec.to_builtins(detail.entries or []):
            yield _entry(entry, named if spells else None)
    for event in caller.events.list(object_id=canonical(identifier)):
        yield Moment(at=event.created_at, kind="event", what=event.type, id=event.id)
    began = min((one.created_at for one in history), default="")
    yield from _deliveries(caller, canonical(identifier), began)


def _requests(history: Iterable[Step]) -> Iterator[Moment]:
    seen: set[str] = set()
    for step in history:
        if step.request_id not in seen:
            seen.add(step.request_id)
            by = f"by {step.actor} {step.by}"
            yield Moment(at=step.created_at, kind="request", what=by, id=step.request_id)


def _transition(step: Step) -> Moment:
    way = f"{step.from_state_id or 'new'} -> {step.to_state_id}"
    why = f": {step.reason}" if step.reason else ""
    return Moment(at=step.created_at, kind="transition", what=way + why)


def _entry(entry: dict[str, Any], currency: str | None) -> Moment:
    what = f"{entry['effect']}: {amounts.changes(entry, currency)}"
    return Moment(at=entry["createdAt"], kind="entry", what=what, id=entry["accountId"])


def _deliveries(caller: Caller, identifier: str, began: str) -> Iterator[Moment]:
    """Yield every attempt to deliver an event of the object; whoever may not know gets none."""
    try:
        for webhook in caller.webhooks.list():
            for delivery in caller.webhooks.deliveries(webhook.id):
                # They come newest first, and none is older than the object.
                if delivery.created_at < began:
                    break
                if delivery.object_id == identifier:
                    yield from _attempts(delivery, webhook.url)
    except Forbidden:
        return


def _attempts(delivery: Delivery, url: str) -> Iterator[Moment]:
    if not delivery.attempts:
        what = f"{delivery.event_type} waits for {url}"
        yield Moment(at=delivery.created_at, kind="delivery", what=what, id=delivery.id)
    for attempt in delivery.attempts:
        came = attempt.error or f"{attempt.status_code} in {attempt.duration_ms} ms"
        what = f"{delivery.event_type} to {url}: {came}"
        yield Moment(at=attempt.attempted_at, kind="delivery", what=what, id=delivery.id)
