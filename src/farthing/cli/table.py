"""What the command line knows of each operation; `make client` writes it from the operations."""

from functools import cache
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct

FILE: Final = Path(__file__).with_name("operations.json")

Kind = Literal["text", "number", "flag", "list", "map", "json"]
Part = Literal["body", "query"]


class Field(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Something that an operation takes: where it stands in the request, and what it may be."""

    place: tuple[str, ...]
    part: Part
    kind: Kind
    help: str = ""
    choices: tuple[str, ...] = ()
    is_required: bool = False
    is_secret: bool = False

    @property
    def pointer(self) -> str:
        """Return how the service calls it when it is wrong."""
        return "/" + "/".join(self.place)


class Command(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One operation as a command."""

    id: str
    place: tuple[str, ...]
    constant: str
    summary: str
    noun: str = ""
    fields: list[Field] = []
    formats: list[str] = []
    is_stream: bool = False
    is_reading: bool = False

    @property
    def name(self) -> str:
        """The last word of the command."""
        return self.place[-1]

    @property
    def is_listing(self) -> bool:
        """Tell whether it reads a collection page by page."""
        return any(one.place == ("cursor",) for one in self.fields)

    @property
    def destroys(self) -> bool:
        """Tell whether there is no way back from it."""
        return self.name in {"delete", "reset", "restore"}


@cache
def commands() -> dict[str, Command]:
    """Return every command by the id of its operation."""
    found = msgspec.json.decode(FILE.read_bytes(), type=list[Command])
    return {one.id: one for one in found}
