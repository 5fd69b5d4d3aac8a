"""Which namespace of the client has the objects of a noun."""

from typing import Any, Final

from farthing.cli.exits import Exit, Failure

NAMESPACES: Final = {
    "account": "accounts",
    "bank_account": "bank_accounts",
    "card": "cards",
    "customer": "customers",
    "reference": "references",
    "transaction": "transactions",
    "webhook": "webhooks",
}
# What a noun is called in a path, and by people.
_OTHERWISE: Final = {"tx": "transaction"}


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
    name = NAMESPACES.get(noun_of(identifier))
    if name is None:
        raise Failure(f"Give an identifier such as {', '.join(NAMESPACES)}/UUID.", Exit.USAGE)
    return getattr(client, name)
