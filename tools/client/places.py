"""Where operations stand in the clients, and what the clients know of them."""

import keyword
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from farthing.core.actors import Grant
from farthing.core.ids import in_path
from farthing.core.operation import Operation

Place = tuple[str, ...]

# What the client calls what the paths abbreviate.
_NAMES: Final = {"tx": "transactions"}


@dataclass(frozen=True)
class Flavour:
    """One of the two clients."""

    folder: str
    prefix: str
    define: str
    wait: str


SYNC: Final = Flavour("_sync", "", "def", "")
ASYNC: Final = Flavour("_async", "Async", "async def", "await ")


def namespace_of(operation: Operation) -> Place:
    """Return where an operation stands: its namespaces, and its name in the last of them."""
    parts = [_NAMES.get(one, one).replace("-", "_") for one in operation.id.split(".")]
    if operation.sandbox_only and parts[0] != "sandbox":
        parts.insert(0, "sandbox")
    if keyword.iskeyword(parts[-1]):
        parts[-1] += "_"
    return tuple(parts)


def constant_of(operation: Operation) -> str:
    """Return the name of an operation in the table of operations."""
    return "_".join(namespace_of(operation)).rstrip("_").upper()


def write_operations(operations: Iterable[Operation]) -> str:
    """Write the table of operations."""
    lines = ['"""What the client knows of each operation."""\n']
    lines += ["from typing import Final\n", "from farthing.client._asks import Operation\n"]
    for one in operations:
        said = [repr(one.method), repr(one.path)]
        if one.noun is not None and "{id}" in one.path:
            said += [repr(one.noun), repr(in_path(one.noun))]
        said += ["takes_key=True"] if Grant.API_KEY in one.who else []
        said += [] if one.who else ["is_open=True"]
        said += ["is_of_house=True"] if one.of_house else []
        lines.append(f"{constant_of(one)}: Final = Operation({', '.join(said)})")
    return "\n".join(lines) + "\n"
