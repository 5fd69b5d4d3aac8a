"""The types of the rule language: what a name is, and what an expression gives."""

from collections.abc import Collection, Mapping
from typing import Final

from msgspec import Struct

# What a literal can be.
Scalar = str | int | float | bool | None


class Type(Struct, frozen=True):
    """A type: a plain one, or a list, map or record of others."""

    kind: str
    of: "Type | None" = None
    fields: Mapping[str, "Type"] = {}
    optional: frozenset[str] = frozenset()

    def __str__(self) -> str:
        if self.kind == "list" and self.of is not None:
            return "list" if self.of == NOTHING else f"list({self.of})"
        if self.kind == "map" and self.of is not None:
            return "map" if self.of == NOTHING else f"map(string, {self.of})"
        return self.kind

    @property
    def said(self) -> str:
        """The type with its article."""
        return f"{'an' if self.kind == 'int' else 'a'} {self}"

    @property
    def element(self) -> "Type":
        """The type of what is inside a list or map."""
        return self.of or NOTHING


BOOL: Final = Type("bool")
INT: Final = Type("int")
DOUBLE: Final = Type("double")
STRING: Final = Type("string")
TIMESTAMP: Final = Type("timestamp")
DURATION: Final = Type("duration")
NULL: Final = Type("null")
# What is inside an empty list or map: it fits every type.
NOTHING: Final = Type("nothing")
NUMBERS: Final = (INT, DOUBLE)


def list_of(of: Type) -> Type:
    """Make the type of a list."""
    return Type("list", of)


def map_of(of: Type) -> Type:
    """Make the type of a map from strings."""
    return Type("map", of)


def record(fields: Mapping[str, Type], optional: Mapping[str, Type] | Collection[str] = ()) -> Type:
    """Make the type of a record; optional fields are given with their types, or named only."""
    more = optional if isinstance(optional, Mapping) else {}
    return Type("record", None, {**fields, **more}, frozenset(optional))


def common(one: Type, other: Type) -> Type | None:
    """Return the type that both are, if there is one."""
    if other in (one, NOTHING):
        return one
    if one == NOTHING:
        return other
    if one.kind == other.kind and one.kind in {"list", "map"}:
        of = common(one.element, other.element)
        return None if of is None else Type(one.kind, of)
    return None


def holds_objects(given: Type) -> bool:
    """Tell whether values of this type can hold maps, records or times inside."""
    return given.kind in {"map", "record", "timestamp"} or (
        given.kind == "list" and holds_objects(given.element)
    )
