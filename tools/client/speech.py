"""The types of the service, in the words of the client's source."""

import sys
import types
import typing
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

from msgspec import Raw, Struct

_PLAIN: Final = {str: "str", int: "int", bool: "bool", type(None): "None", datetime: "datetime"}
# Where the name without `View` would say too little, or pytest would take it for a test.
_NAMES: Final = {
    "TokenView": "AccessToken",
    "StatusView": "ServiceStatus",
    "TestView": "RuleTest",
    "TestStep": "RuleTestStep",
}


def name_of(kind: type[Struct]) -> str:
    """Return what the client calls a type."""
    return _NAMES.get(kind.__name__, kind.__name__.removesuffix("View"))


@dataclass
class Speech:
    """Says types, and remembers which models and lists of words it has spoken of."""

    models: dict[str, type[Struct]] = field(default_factory=dict)
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def say(self, hint: Any, home: type[Struct], *, is_argument: bool) -> str:
        """Say a type of a field of `home`; arguments may be any sequence or mapping."""
        origin, parts = typing.get_origin(hint), typing.get_args(hint)
        if origin is typing.Annotated:
            return self.say(parts[0], home, is_argument=is_argument)
        if origin is Literal:
            return self._literal(parts, home)
        inner = [self.say(one, home, is_argument=is_argument) for one in parts]
        if origin in {typing.Union, types.UnionType}:
            return " | ".join(inner)
        if origin is list:
            return f"Sequence[{inner[0]}]" if is_argument else f"list[{inner[0]}]"
        if origin is dict:
            return f"{'Mapping' if is_argument else 'dict'}[{', '.join(inner)}]"
        return self._leaf(hint)

    def _leaf(self, hint: Any) -> str:
        if hint in _PLAIN:
            return _PLAIN[hint]
        if hint is Any:
            return "Any"
        if hint is Raw:
            return "dict[str, Any]"
        if isinstance(hint, type) and issubclass(hint, Struct):
            return self.model(hint)
        raise TypeError(f"the client has no word for {hint}")

    def model(self, kind: type[Struct]) -> str:
        """Name a model, and remember to write it."""
        name = name_of(kind)
        if self.models.setdefault(name, kind) is not kind:
            raise TypeError(f"two models would be called {name}")
        return name

    def _literal(self, values: tuple[str, ...], home: type[Struct]) -> str:
        """Name a list of words as the service does, if it has a name there."""
        names = sorted(
            name
            for name, value in vars(sys.modules[home.__module__]).items()
            if typing.get_origin(value) is Literal and typing.get_args(value) == values
        )
        if not names or self.words.setdefault(names[0], values) != values:
            return f"Literal[{', '.join(repr(one) for one in values)}]"
        return names[0]
