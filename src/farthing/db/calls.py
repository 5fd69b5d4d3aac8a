"""A call: one request of one principal, checked and typed, on its way to an action."""

from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

from farthing.config import Settings
from farthing.core.actors import Principal
from farthing.db.pool import Pool

B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class Call(Generic[B]):
    """What an action gets: who asks, for which object, with what body or query."""

    pool: Pool
    settings: Settings
    principal: Principal
    body: B
    object_id: UUID | None = None
    # Filters by annotation have names of the caller's choosing, so they stand apart.
    annotations: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> UUID:
        """The identifier in the path."""
        if self.object_id is None:
            raise LookupError("this operation has no identifier in its path")
        return self.object_id
