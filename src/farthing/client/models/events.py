# Written by `make client` from the operations of the service: do not edit.
"""Models of events."""

from typing import Any

import msgspec

from farthing.client._model import Model
from farthing.client.models.objects import OBJECTS, Object


class Event(Model, frozen=True, kw_only=True):
    """One change of one object, with the object as it was right after, in `data`."""

    id: str
    type: str
    created_at: str
    object_id: str
    object_version: int
    data: dict[str, Any]

    @property
    def object(self) -> Object | None:
        """The object that it happened to, as it was right after; None for one of a later kind."""
        kind = OBJECTS.get(self.object_id.partition("/")[0])
        try:
            return None if kind is None else msgspec.convert(self.data, kind)
        except msgspec.ValidationError:
            return None


class EventPage(Model, frozen=True, kw_only=True):
    """One page of the log, the oldest event first.

    There is always a `nextCursor`: from there the log goes on, now if `hasMore` says so, or later.
    """

    results: list[Event]
    next_cursor: str
    has_more: bool
