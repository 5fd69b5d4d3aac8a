"""Rows: frozen data as the database keeps it, field for column."""

from datetime import datetime
from typing import NewType
from uuid import UUID

from msgspec import Struct

# A whole number without a limit, because many large ones may add up to it.
Sum = NewType("Sum", int)


class Row(Struct, frozen=True):
    """One row of one tenant; the fields are the table's columns, in order."""

    tenant_id: UUID
    id: UUID


class VersionedRow(Row, frozen=True):
    """A row that changes; each change counts its version up by one."""

    version: int


class ObjectRow(VersionedRow, frozen=True):
    """A row that the outside knows as an object."""

    created_at: datetime
    updated_at: datetime
    state_id: str
    tags: list[str]
    annotations: dict[str, str]

    def owner(self) -> UUID:
        """Return the customer whose object this is."""
        raise NotImplementedError

    def owners(self) -> tuple[UUID, ...]:
        """Return every customer for whom the object exists."""
        return (self.owner(),)

    def unresolved(self) -> dict[str, str]:
        """Return what has to be resolved before anybody can move the object."""
        return {}

    def unresolved_beside(self, met: str) -> dict[str, str]:
        """Return what is left to be resolved once one of it is met."""
        return {name: one for name, one in self.unresolved().items() if name != met}

    @property
    def awaits_approval(self) -> bool:
        """Tell whether somebody has to approve it before anything happens to it."""
        return "approval" in self.unresolved()
