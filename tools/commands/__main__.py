"""`python -m tools.commands` writes the table of commands; `--check` compares it.

The command line reads this file instead of the operations themselves, because these bring the whole
service along, and a command or a completion must not wait for that.
"""

import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from farthing.cli.table import FILE, Command, Field, Kind
from farthing.core.operation import Operation
from farthing.core.schemas import REFERENCE, Schemas, build, properties
from farthing.core.wire import ListQuery
from tools.client.__main__ import operations
from tools.client.places import constant_of, namespace_of

Schema = dict[str, Any]

# What must not be in the history of a shell.
_SECRETS: Final = frozenset({"cardNumber", "cvv"})
# More words than this are no choice that one wants to read, such as all currencies.
_MOST_CHOICES: Final = 40
_SHORT: Final = {"transactions": "tx"}
_KINDS: Final[dict[str, Kind]] = {"integer": "number", "boolean": "flag", "string": "text"}
_ANNOTATION: Final = Field(
    place=("annotation",), part="query", kind="map", help="Only objects with this annotation."
)


def text() -> str:
    """Write the table."""
    every = operations()
    schemas = build([one.body for one in every if one.body is not None], ())
    table = [_command(one, schemas) for one in every]
    return msgspec.json.format(msgspec.json.encode(table), indent=1).decode() + "\n"


def _command(operation: Operation, schemas: Schemas) -> Command:
    namespace = namespace_of(operation)[:-1]
    # The client must avoid the words of Python, and we need not.
    place = (*namespace, operation.id.rpartition(".")[2])
    return Command(
        id=operation.id,
        place=tuple(_SHORT.get(one, one).replace("_", "-") for one in place),
        constant=constant_of(operation),
        summary=f"{operation.summary}.",
        noun=(operation.noun or "") if "{id}" in operation.path else "",
        fields=[*_body(operation, schemas), *_query(operation)],
        formats=list(operation.formats),
        is_stream=operation.stream is not None,
        is_reading=operation.method == "GET",
    )


def _body(operation: Operation, schemas: Schemas) -> Iterator[Field]:
    if operation.body is not None:
        schema = schemas.components[operation.body.__name__]
        yield from _fields(schema, schemas, (), is_required=True)


def _query(operation: Operation) -> Iterator[Field]:
    if operation.query is None:
        return
    for name, schema, is_required in properties(operation.query):
        yield _field((name,), schema, "query", is_required=is_required)
    if issubclass(operation.query, ListQuery):
        yield _ANNOTATION


def _fields(
    schema: Schema, schemas: Schemas, above: tuple[str, ...], *, is_required: bool
) -> Iterator[Field]:
    """Find a field for everything that can be said in one word, however deep it stands."""
    for name, one in schema.get("properties", {}).items():
        place = (*above, name)
        needed = is_required and name in schema.get("required", ())
        found = _without_null(one)
        inner = _follow(found, schemas)
        if inner is not None and "properties" in inner:
            yield from _fields(inner, schemas, place, is_required=needed)
        else:
            yield _field(place, inner or found, "body", is_required=needed)


def _field(place: tuple[str, ...], schema: Schema, part: Any, *, is_required: bool) -> Field:
    choices = schema.get("enum") or schema.get("items", {}).get("enum", ())
    return Field(
        place=place,
        part=part,
        kind=_kind(schema),
        help=schema.get("description", ""),
        choices=tuple(map(str, choices)) if len(choices) <= _MOST_CHOICES else (),
        is_required=is_required,
        is_secret=place[-1] in _SECRETS,
    )


def _kind(schema: Schema) -> Kind:
    kind = schema.get("type")
    if kind == "array" and schema["items"].get("type") == "string":
        return "list"
    extra = schema.get("additionalProperties")
    if kind == "object" and isinstance(extra, dict) and extra.get("type") == "string":
        return "map"
    return _KINDS.get(str(kind), "json")


def _without_null(schema: Schema) -> Schema:
    choices = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    if len(choices) == 1:
        return {**{name: one for name, one in schema.items() if name != "anyOf"}, **choices[0]}
    if isinstance(schema.get("type"), list):
        enum = [one for one in schema.get("enum", ()) if one is not None]
        return {**schema, "type": schema["type"][0], **({"enum": enum} if enum else {})}
    return schema


def _follow(schema: Schema, schemas: Schemas) -> Schema | None:
    reference = str(schema.get("$ref", ""))
    return schemas.components[reference.removeprefix(REFERENCE)] if reference else None


def main(arguments: Iterable[str]) -> None:
    """Write the table, or only compare it."""
    made = text()
    is_fresh = FILE.exists() and FILE.read_text("utf-8") == made
    if "--check" in arguments and not is_fresh:
        sys.exit(f"Stale: {FILE.name}. Run `make client`.")
    if not is_fresh:
        FILE.write_text(made, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
