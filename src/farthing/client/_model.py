"""What every model of the client has in common."""

from typing import Any

from msgspec import Struct


class Model(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Something that the service takes or answers; what it does not know yet is passed over."""


class Secret(Model, frozen=True, kw_only=True):
    """An answer with a credential in it, which its repr does not show."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, not shown>"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        # What prints prettily does not ask for the repr of a struct.
        return [("not", "shown")]


class Body(dict[str, Any]):
    """The fields of a request; its repr does not show them, because one could be a card number."""

    def __repr__(self) -> str:
        return f"<{len(self)} fields, not shown>"
