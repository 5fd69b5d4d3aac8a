"""Schemas as rows for people: the name, the kind, and the words for each field."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from farthing.core.schemas import REFERENCE, Schema
from farthing.http.docs.html import Html, element, inline, join, table

_SHORT_LIST: Final = 12
_DEEPEST: Final = 4
_IDENTIFIER: Final = re.compile(r"\^([a-z_]+)/\[0-9a-f\]\{8\}")


@dataclass(frozen=True)
class Field:
    """One row."""

    name: str
    schema: Schema
    required: bool


@dataclass(frozen=True)
class Reader:
    """Reads schemas of one document."""

    components: Mapping[str, Schema]

    def resolve(self, schema: Schema) -> Schema:
        """Follow a reference, and pass over the choice of null."""
        choices = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
        if len(choices) == 1:
            return self.resolve(choices[0])
        if "$ref" not in schema:
            return schema
        return self.components[schema["$ref"].removeprefix(REFERENCE)]

    def fields(self, schema: Schema, prefix: str = "", depth: int = 0) -> Iterator[Field]:
        """Yield every field, and those inside it under a longer name."""
        whole = self.resolve(schema)
        required = whole.get("required", ())
        for name, one in whole.get("properties", {}).items():
            yield Field(prefix + name, one, name in required)
            if depth < _DEEPEST:
                yield from self._inside(one, prefix + name, depth + 1)

    def _inside(self, schema: Schema, name: str, depth: int) -> Iterator[Field]:
        whole = self.resolve(schema)
        if "properties" in whole:
            yield from self.fields(whole, f"{name}.", depth)
        if isinstance(whole.get("items"), dict):
            yield from self._inside(whole["items"], f"{name}[]", depth)
        if isinstance(whole.get("additionalProperties"), dict):
            yield from self._inside(whole["additionalProperties"], f"{name}.*", depth)

    def table(self, schema: Schema, *, required: str = "", optional: str = "") -> Html:
        """Show the fields of a schema, those that must and those that may be there marked."""
        return self.rows(
            (one.name, required if one.required else optional, one.schema)
            for one in self.fields(schema)
        )

    def rows(self, rows: Iterable[tuple[str, str, Schema]]) -> Html:
        """Show names, each with a mark and what may stand there."""
        cells = [
            (join([element("code", name), " ", _mark(mark)]), self._meaning(schema))
            for name, mark, schema in rows
        ]
        return table(("name", "meaning"), cells, class_="fields")

    def _meaning(self, schema: Schema) -> Html:
        kind = join([self.kind(schema), _default(schema)])
        words = schema.get("description", "")
        said = [element("p", inline(words))] if words else []
        return join([element("div", kind, class_="kind"), *said])

    def kind(self, schema: Schema) -> Html:
        """Say in a few words what may stand in a field."""
        whole = self.resolve(schema)
        if "const" in whole:
            return element("code", str(whole["const"]))
        if "enum" in whole:
            return _choices([str(one) for one in whole["enum"] if one is not None])
        found = _IDENTIFIER.match(whole.get("pattern", ""))
        if found:
            return element("code", f"{found[1]}/<uuid>")
        return join([self._type(whole), _limits(whole)])

    def _type(self, schema: Schema) -> Html:
        kind = schema.get("type", "any")
        name = (
            next((one for one in kind if one != "null"), "any") if isinstance(kind, list) else kind
        )
        if schema.get("format") == "date-time":
            return Html("time")
        if name == "array":
            return join(["list of ", self.kind(schema.get("items", {}))])
        if name == "object" and isinstance(schema.get("additionalProperties"), dict):
            return join(["names with ", self.kind(schema["additionalProperties"])])
        return join([_NAMES.get(name, name)])


_NAMES: Final = {"string": "text", "integer": "whole number", "boolean": "true or false"}


def _choices(values: list[str]) -> Html:
    shown = [element("code", one) for one in values]
    listing = join(piece for one in shown for piece in (one, " "))
    if len(values) <= _SHORT_LIST:
        return join(["one of ", listing])
    summary = element("summary", f"one of {len(values)} values")
    return element("details", summary, listing)


def _limits(schema: Schema) -> str:
    low, high = _bounds(schema)
    if low is None and high is None:
        return ""
    unit = next((unit for unit, names in _UNITS.items() if names & schema.keys()), "")
    if high is None:
        return f", at least {low}{unit}"
    return f", at most {high}{unit}" if low is None else f", {low} to {high}{unit}"


_UNITS: Final = {
    " characters": {"minLength", "maxLength"},
    " items": {"minItems", "maxItems"},
    " names": {"minProperties", "maxProperties"},
}


def _bounds(schema: Mapping[str, Any]) -> tuple[Any, Any]:
    least = ("minLength", "minimum", "minItems", "minProperties")
    most = ("maxLength", "maximum", "maxItems", "maxProperties")
    low = next((schema[name] for name in least if name in schema), None)
    return low, next((schema[name] for name in most if name in schema), None)


def _default(schema: Schema) -> str:
    return f", {schema['default']} by default" if "default" in schema else ""


def _mark(mark: str) -> str:
    return element("span", mark, class_=f"mark {mark}") if mark else ""
