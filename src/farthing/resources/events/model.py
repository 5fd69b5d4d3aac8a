"""What an event is: one change of one object, with the object as it was right after."""

import re
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec
from msgspec import Raw, Struct

from farthing.core import ids
from farthing.core.clock import say_time
from farthing.core.wire import View

NOUN: Final = "event"

# A UUID of version 8: 60 bits of the tenant's identifier, and 62 bits that say the position.
_POSITION_BITS: Final = 62
_MARKS: Final = (8 << 76) | (2 << _POSITION_BITS)
_POSITION: Final = (1 << _POSITION_BITS) - 1


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
    """An event as the outside sees it."""

    id: str
    type: str
    created_at: str
    object_id: str
    object_version: int
    data: Raw


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
    position = identifier.int & _POSITION
    return position if position and identify(tenant_id, position) == identifier else None


def matches(pattern: str, type_: str) -> bool:
    """Tell whether a pattern such as `transaction.*` names a type."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), type_) is not None


def _tenant_bits(tenant_id: UUID) -> int:
    # The last bits are the random ones.
    return tenant_id.int & ((1 << 60) - 1)
