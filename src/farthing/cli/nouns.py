"""Which namespace of the client has the objects of a noun."""

from functools import cache
from typing import Any, Final

from farthing.cli.exits import Exit, Failure
from farthing.cli.table import Command, commands

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


def listing(noun: str) -> str | None:
    """Return the command that lists the objects of a noun, if there is one."""
    every = commands().values()
    places = [one.place for one in every if one.is_listing]
    homes = (one.place[:-1] for one in every if one.noun == noun and one.name == "get")
    return next((" ".join((*one, "list")) for one in homes if (*one, "list") in places), None)


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


def history_of(identifier: str) -> Command:
    """Return the command that reads the history of an object, by its identifier."""
    noun = noun_of(identifier)
    for one in commands().values():
        if one.name == "transitions" and one.noun == noun:
            return one
    words = ", ".join(spoken(one) for one in namespaces())
    raise Failure(f"Give an identifier as NOUN/UUID, of one of these nouns: {words}.", Exit.USAGE)


def namespace(client: Any, identifier: str) -> Any:
    """Return the operations on an object, by its identifier."""
    return getattr(client, namespaces()[history_of(identifier).noun])
