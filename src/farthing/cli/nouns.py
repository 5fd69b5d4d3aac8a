"""Which namespace of the client has the objects of a noun."""

from functools import cache
from typing import Any, Final

from farthing.cli.exits import Exit, Failure
from farthing.cli.table import commands

# What a noun is called in a path, and by people.
_OTHERWISE: Final = {"tx": "transaction"}


# What the client calls what commands abbreviate.
_CLIENT: Final = {"tx": "transactions"}


@cache
def namespaces() -> dict[str, str]:
    """Return the namespace of each noun that has states."""
    return {
        one.noun: _CLIENT.get(one.place[0], one.place[0]).replace("-", "_")
        for one in commands().values()
        if one.name == "transitions"
    }


def noun_of(identifier: str) -> str:
    """Return the noun of an identifier."""
    prefix = identifier.partition("/")[0]
    return _OTHERWISE.get(prefix, prefix)


def spoken(noun: str) -> str:
    """Return what people call a noun."""
    return next((short for short, long in _OTHERWISE.items() if long == noun), noun)


def canonical(identifier: str) -> str:
    """Return an identifier as objects say it."""
    return f"{noun_of(identifier)}/{identifier.partition('/')[2]}"


def namespace(client: Any, identifier: str) -> Any:
    """Return the operations on an object, by its identifier."""
    name = namespaces().get(noun_of(identifier))
    if name is None:
        raise Failure(
            f"Give an identifier as NOUN/UUID, of one of these nouns: {', '.join(namespaces())}.",
            Exit.USAGE,
        )
    return getattr(client, name)
