"""How the fields of an operation are called as options."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from farthing.cli.table import Command, Field

# Fields whose short name follows from nothing.
_SHORT: Final[Mapping[str, str]] = {"adjustmentAmount": "adjust", "targetStateId": "target"}
_SINGULAR: Final[Mapping[str, str]] = {
    "tags": "tag",
    "annotations": "annotation",
    "events": "event",
}
# `--to ADJUSTED` is what one says; the field is `toStateId`.
_ENDS: Final = ("-state-id", "-id", "-iso")
# Words that every command has for itself.
_TAKEN: Final = frozenset(
    {"as", "body", "format", "help", "home", "idempotency-key", "json", "key-file", "operator"}
    | {"tenant", "test-card"}
)
# A command without its option for what it is all about.
ARGUMENTS: Final[Mapping[str, str]] = {"clock.advance": "advance"}


def names(command: Command) -> dict[Field, tuple[str, ...]]:
    """Return every name of the option of each field: those that one types, and the long one."""
    long = {field: kebab("-".join(field.place)) for field in command.fields}
    used = {*long.values(), *_TAKEN}
    found: dict[Field, tuple[str, ...]] = {}
    for field, name in long.items():
        # A name that a command has for itself already is left to it.
        given = [f"{field.part}-{name}" if name in _TAKEN else name]
        for short in _shorter(field, name):
            if short not in used:
                used.add(short)
                given.append(short)
        # Help shows the first, and may have no room for others.
        found[field] = tuple(f"--{one}" for one in sorted(given, key=len))
    return found


def kebab(text: str) -> str:
    """Write a name as options are written."""
    return re.sub(r"(?<=[a-z0-9])([A-Z]+)", r"-\1", text).lower()


def _shorter(field: Field, name: str) -> Iterator[str]:
    last = field.place[-1]
    for one in (_SHORT.get(last), _SINGULAR.get(last)):
        if one is not None:
            yield one
    yield from _without_end(name)
    if len(field.place) > 1:
        own = kebab(last)
        yield own
        yield from _without_end(own)


def _without_end(name: str) -> Iterator[str]:
    if name == "state-id":
        yield "state"
    end = next((one for one in _ENDS if name.endswith(one)), None)
    if end is not None:
        yield name.removesuffix(end)
