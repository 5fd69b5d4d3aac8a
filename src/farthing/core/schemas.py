"""JSON Schemas from the types: what may be sent is strict, what is answered may grow.

The same type can stand on both sides, such as an address, so each side has components of its
own: a request admits null for whatever is optional and nothing that it does not know; an answer
leaves out what is absent and promises nothing about fields to come.
"""

import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct
from msgspec import inspect as shape

Schema = dict[str, Any]

REFERENCE: Final = "#/components/schemas/"
# Control characters are refused in every text; JSON itself has no lone surrogates.
PLAIN_TEXT: Final = r"^[^\u0000-\u001F\u007F-\u009F]*$"

_NULL: Final[Schema] = {"type": "null"}
_RULES_OF_TEXT: Final = ("enum", "pattern", "format")


@dataclass(frozen=True)
class Schemas:
    """The components, and the names under which each type stands among them."""

    components: Mapping[str, Schema]
    _answers: Mapping[str, str]

    def request(self, kind: type[Struct]) -> Schema:
        """Refer to what may be sent."""
        return {"$ref": REFERENCE + kind.__name__}

    def answer(self, kind: type[Struct]) -> Schema:
        """Refer to what is answered."""
        return {"$ref": REFERENCE + self._answers[kind.__name__]}

    def resolve(self, schema: Schema) -> Schema:
        """Follow a reference."""
        return self.components[schema["$ref"].removeprefix(REFERENCE)]


def build(requests: Iterable[type[Struct]], answers: Iterable[type[Struct]]) -> Schemas:
    """Make the components of all types."""
    sent = _components(requests, _as_request)
    said = _components(answers, _as_answer)
    names = {name: f"{name}View" if name in sent else name for name in said}
    renamed = {names[name]: _rename(schema, names) for name, schema in said.items()}
    return Schemas(dict(sorted({**sent, **renamed}.items())), names)


def properties(kind: type[Struct]) -> Iterator[tuple[str, Schema, bool]]:
    """Yield the name and the schema of each field of a query, and whether it must be given."""
    schema = _components([kind], _as_answer)[kind.__name__]
    for name, one in schema.get("properties", {}).items():
        yield name, _plain(one), name in schema.get("required", ())


def _components(
    kinds: Iterable[type[Struct]], finish: Callable[[Schema], Schema]
) -> dict[str, Schema]:
    unique = list(dict.fromkeys(kinds))
    _, components = msgspec.json.schema_components(unique, ref_template=REFERENCE + "{name}")
    for info in _structs(unique):
        _add_words(components[info.cls.__name__], info)
        # What a type says of its fields together, which msgspec cannot know.
        components[info.cls.__name__].update(getattr(info.cls, "PUBLISHED", {}))
    return {name: finish(schema) for name, schema in components.items()}


def _structs(kinds: Iterable[type[Struct]]) -> Iterator[shape.StructType]:
    """Yield every struct that the types are made of, once each."""
    seen: set[type] = set()
    waiting: list[Any] = [shape.type_info(kind) for kind in kinds]
    while waiting:
        one = waiting.pop()
        if isinstance(one, shape.StructType):
            if one.cls in seen:
                continue
            seen.add(one.cls)
            yield one
        waiting += _parts(one)


def _parts(kind: Any) -> list[Any]:
    if isinstance(kind, shape.StructType):
        return [field.type for field in kind.fields]
    if isinstance(kind, shape.UnionType):
        return list(kind.types)
    inner = ("type", "item_type", "value_type")
    return [getattr(kind, name) for name in inner if hasattr(kind, name)]


def _add_words(schema: Schema, info: shape.StructType) -> None:
    """Describe each field that has a rule in words and no description yet."""
    hints = typing.get_type_hints(info.cls)
    for field in info.fields:
        expected = _expected(field.type)
        place = _without_null(schema["properties"][field.encode_name])
        if "enum" in place:
            # As they are written, because msgspec sorts them, and states have an order.
            place["enum"] = _choices(hints[field.name]) or place["enum"]
        if expected and "description" not in place:
            place["description"] = f"Must be {expected}."
        schema["properties"][field.encode_name] = place


def _choices(hint: Any) -> list[Any]:
    """Return the values of a literal type, or of the one beside None, in their order."""
    if typing.get_origin(hint) is Literal:
        return list(typing.get_args(hint))
    is_union = typing.get_origin(hint) in {typing.Union, types.UnionType}
    parts = typing.get_args(hint) if is_union else ()
    return next((found for found in map(_choices, parts) if found), [])


def _expected(kind: shape.Type) -> str:
    """Return the words for the outermost rule of a field."""
    if isinstance(kind, shape.Metadata):
        own = (kind.extra or {}).get("expected", "")
        return str(own) or _expected(kind.type)
    if isinstance(kind, shape.UnionType):
        return next((words for words in map(_expected, kind.types) if words), "")
    return ""


def _as_request(schema: Schema) -> Schema:
    finished = _plain(_finish(schema, _as_request))
    if "properties" in finished:
        finished["additionalProperties"] = False
        required = finished.get("required", ())
        for name, one in finished["properties"].items():
            if name not in required:
                finished["properties"][name] = _or_null(one)
    return finished


def _plain(schema: Schema) -> Schema:
    """Say of a text without a rule of its own which characters it may have."""
    if schema.get("type") != "string" or any(rule in schema for rule in _RULES_OF_TEXT):
        return schema
    return {**schema, "pattern": PLAIN_TEXT}


def _as_answer(schema: Schema) -> Schema:
    finished = _finish(schema, _as_answer)
    if "properties" in finished:
        finished.pop("additionalProperties", None)
        for name, one in finished["properties"].items():
            if name.endswith("At") and one.get("type") == "string":
                one.setdefault("format", "date-time")
    return finished


def _finish(schema: Schema, finish: Callable[[Schema], Schema]) -> Schema:
    """Return a tidy copy whose parts are finished."""
    tidy = _without_null(schema)
    tidy.pop("title", None)
    if not tidy.get("required", True):
        del tidy["required"]
    if "enum" in tidy:
        tidy.setdefault("type", "string")
    for name in ("items", "additionalProperties", "propertyNames"):
        if isinstance(tidy.get(name), dict):
            tidy[name] = finish(tidy[name])
    if "propertyNames" in tidy:
        # A name is a text, although the type of it goes without saying.
        tidy["propertyNames"] = finish({"type": "string", **tidy["propertyNames"]})
    if "properties" in tidy:
        tidy["properties"] = {name: finish(one) for name, one in tidy["properties"].items()}
    elif tidy.get("type") == "object":
        # Said aloud, because tools that write clients take an object without names for empty.
        tidy.setdefault("additionalProperties", True)
    return tidy


def _without_null(schema: Schema) -> Schema:
    """Return a copy that does not speak of null: absent is absent."""
    kept = {name: value for name, value in schema.items() if (name, value) != ("default", None)}
    choices = [one for one in kept.pop("anyOf", ()) if one != _NULL]
    if len(choices) > 1:
        return {**kept, "anyOf": choices}
    return {**kept, **(choices[0] if choices else {})}


def _or_null(schema: Schema) -> Schema:
    """Admit null beside what there is."""
    if "type" not in schema:
        return {"anyOf": [schema, _NULL]}
    admitted = {**schema, "type": [schema["type"], "null"]}
    if "enum" in schema:
        admitted["enum"] = [*schema["enum"], None]
    return admitted


def _rename(schema: Any, names: Mapping[str, str]) -> Any:
    """Rewrite the references to components that have another name on this side."""
    if isinstance(schema, list):
        return [_rename(one, names) for one in schema]
    if not isinstance(schema, dict):
        return schema
    renamed = {name: _rename(one, names) for name, one in schema.items()}
    if "$ref" in renamed:
        renamed["$ref"] = REFERENCE + names[renamed["$ref"].removeprefix(REFERENCE)]
    return renamed
