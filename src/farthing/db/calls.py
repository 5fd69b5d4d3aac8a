"""A call: one request of one principal, checked and typed, on its way to an action."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Generic, TypeVar, cast
from uuid import UUID

from msgspec import Struct, field

from farthing.config import Settings
from farthing.core.actors import Principal
from farthing.core.clock import system_clock
from farthing.db.pool import Pool

B = TypeVar("B")
P = TypeVar("P")

Parts = Mapping[Callable[..., Any], Any]


class Call(Struct, Generic[B], frozen=True):
    """What an action gets: who asks, for which object, with what body or query."""

    pool: Pool
    settings: Settings
    principal: Principal
    body: B
    object_id: UUID | None = None
    # What else the process has, such as the rail, by its type.
    parts: Parts = field(default_factory=dict)
    # Filters by annotation have names of the caller's choosing, so they stand apart.
    annotations: tuple[tuple[str, str], ...] = ()
    # The query of an operation that takes a body too.
    query: Any = None
    now: datetime = field(default_factory=system_clock)
    # What the reader of a stream has seen last, if it says so.
    last_event_id: str | None = None
    # The same for every repeat of this request; None if its caller gave no key.
    key: str | None = None

    def part(self, kind: Callable[..., P]) -> P:
        """Return the part of the process that has this type."""
        return cast("P", self.parts[kind])

    @property
    def id(self) -> UUID:
        """The identifier in the path."""
        if self.object_id is None:
            raise LookupError("this operation has no identifier in its path")
        return self.object_id
