"""Identifiers: `<noun>/<uuid>` on the wire, a UUID inside."""

import re
from typing import Final
from uuid import UUID

import uuid_utils.compat

UUID_PATTERN: Final = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

# The operator belongs to no tenant; its credentials live under this one.
HOUSE: Final = UUID(int=0)

_UUID: Final = re.compile(UUID_PATTERN)


def new_id() -> UUID:
    """Make an identifier that sorts by the time of its making."""
    return uuid_utils.compat.uuid7()


def say(noun: str, identifier: UUID) -> str:
    """Write an identifier as it stands on the wire."""
    return f"{noun}/{identifier}"


def read(noun: str, text: str) -> UUID | None:
    """Read `<noun>/<uuid>`; None for anything else."""
    prefix, _, rest = text.partition("/")
    if prefix != noun or not _UUID.fullmatch(rest):
        return None
    return UUID(rest)
