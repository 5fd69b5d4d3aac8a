"""Identifiers: `<noun>/<uuid>` on the wire, a UUID inside."""

import re
from typing import Final
from uuid import UUID

import uuid_utils

# A uuid.UUID like any other, but read, hashed and written in C: a payment has some forty of them.
from asyncpg.pgproto import pgproto

UUID_PATTERN: Final = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

# The operator belongs to no tenant; its credentials live under this one.
HOUSE: Final = UUID(int=0)

# What an object is called in a path, where that is another word than in its identifier.
_PATH_NAMES: Final = {"transaction": "tx"}

_UUID: Final = re.compile(UUID_PATTERN)


def new_id() -> UUID:
    """Make an identifier that sorts by the time of its making."""
    return pgproto.UUID(uuid_utils.uuid7().bytes)


def say(noun: str, identifier: UUID) -> str:
    """Write an identifier as it stands on the wire."""
    return f"{noun}/{identifier}"


def in_path(noun: str) -> str:
    """Return the word before the slash of an identifier that stands in a path."""
    return _PATH_NAMES.get(noun, noun)


def take(text: str) -> UUID:
    """Return the UUID of an identifier whose form was checked before."""
    return pgproto.UUID(text.partition("/")[2])


def of_bytes(value: bytes) -> UUID:
    """Return the UUID of these sixteen bytes."""
    return pgproto.UUID(value)


def read(noun: str, text: str) -> UUID | None:
    """Read `<noun>/<uuid>`; None for anything else."""
    prefix, _, rest = text.partition("/")
    if prefix != noun or not _UUID.fullmatch(rest):
        return None
    return pgproto.UUID(rest)
