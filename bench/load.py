"""How hard and how long a load drives the service."""

from msgspec import Struct


class BenchError(Exception):
    """The bench cannot go on; the sentence says why and what to do."""


class Load(Struct, frozen=True):
    """So many callers at once, each with its next request right after its last answer."""

    seconds: int
    connections: int = 64
