"""What an event is: one change of one object, with the object as it was right after."""

import base64
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec import Raw, Struct

from farthing.core import ids
from farthing.core.clock import say_time
from farthing.core.errors import Fault, ValidationFailed
from farthing.core.wire import View
from farthing.db.tables import ObjectTable

NOUN: Final = "event"

# A UUID of version 8: 60 bits of the tenant's identifier, and 62 bits that say the position.
_POSITION_BITS: Final = 62
_MARKS: Final = (8 << 76) | (2 << _POSITION_BITS)
_POSITION: Final = (1 << _POSITION_BITS) - 1
_UNKNOWN_TYPE: Final = "Must name types that GET /v1/events/schemas lists, such as transaction.*."


class Event(Struct, frozen=True):
    """An event as it is kept."""

    tenant_id: UUID
    position: int
    type: str
    noun: str
    object_id: UUID
    object_version: int
    created_at: datetime
    data: bytes


class EventView(View, frozen=True, kw_only=True):
    """One change of one object, with the object as it was right after, in `data`."""

    id: str
    type: str
    created_at: str
    object_id: str
    object_version: int
    data: Raw


class EventPage(View, frozen=True, kw_only=True):
    """One page of the log, the oldest event first.

    There is always a `nextCursor`: from there the log goes on, now if `hasMore` says so, or later.
    """

    results: list[EventView]
    next_cursor: str
    has_more: bool


def view(event: Event) -> EventView:
    """Show an event."""
    return EventView(
        id=ids.say(NOUN, identify(event.tenant_id, event.position)),
        type=event.type,
        created_at=say_time(event.created_at),
        object_id=ids.say(event.noun, event.object_id),
        object_version=event.object_version,
        data=Raw(event.data),
    )


def write(event: Event) -> bytes:
    """Write an event as it is sent, wherever it is sent."""
    return msgspec.json.encode(view(event))


def identify(tenant_id: UUID, position: int) -> UUID:
    """Make the identifier of an event, which says its position in the tenant's log."""
    high, low = divmod(_tenant_bits(tenant_id), 1 << 12)
    return ids.of_bytes(((high << 80) | (low << 64) | _MARKS | position).to_bytes(16))


def position_of(tenant_id: UUID, identifier: UUID) -> int | None:
    """Return the position that an identifier says; None if it is no event of this tenant."""
    return place_of(tenant_id, identifier) or None


def place_of(tenant_id: UUID, identifier: UUID) -> int | None:
    """Return up to where in the log somebody has read: a position, or 0 before the first."""
    place = identifier.int & _POSITION
    return place if identify(tenant_id, place) == identifier else None


def say_cursor(tenant_id: UUID, place: int) -> str:
    """Write a place in the log as a cursor."""
    return base64.urlsafe_b64encode(identify(tenant_id, place).bytes).decode().rstrip("=")


def read_cursor(tenant_id: UUID, cursor: str) -> int | None:
    """Read a cursor whose form was checked before; None if it is of another log."""
    return place_of(tenant_id, ids.of_bytes(base64.urlsafe_b64decode(f"{cursor}==")))


def matches(pattern: str, type_: str) -> bool:
    """Tell whether a pattern such as `transaction.*` names a type."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), type_) is not None


class EventTypes:
    """The catalogue: everything that can happen, as the tables of objects say it."""

    def __init__(self, tables: Iterable[ObjectTable[Any]]) -> None:
        self.nouns: dict[str, ObjectTable[Any]] = {table.noun: table for table in tables}
        self.sentences: dict[str, str] = {
            f"{noun}.{what}": sentence
            for noun, table in self.nouns.items()
            for what, sentence in table.events.items()
        }

    def named_by(self, patterns: str) -> list[str]:
        """Return the types that a list of patterns names, or say which of them names none."""
        found = {one: self._named(one) for one in patterns.split(",")}
        if not all(found.values()):
            raise ValidationFailed([Fault("?type", "unknown_type", _UNKNOWN_TYPE)])
        return sorted({type_ for types in found.values() for type_ in types})

    def faults_of(self, patterns: Mapping[str, str]) -> list[Fault]:
        """Say of patterns, by their places, which of them name no type."""
        return [
            Fault(place, "unknown_type", _UNKNOWN_TYPE)
            for place, pattern in patterns.items()
            if not self._named(pattern)
        ]

    def _named(self, pattern: str) -> list[str]:
        return [type_ for type_ in self.sentences if matches(pattern, type_)]


def _tenant_bits(tenant_id: UUID) -> int:
    # The last bits are the random ones.
    return tenant_id.int & ((1 << 60) - 1)
