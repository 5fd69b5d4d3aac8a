"""The catalogue of events as data: every type, when it happens, and the JSON Schema of it."""

import functools
from typing import Any, Final

import msgspec

from farthing.catalog import OBJECTS
from farthing.core import schemas
from farthing.core.ids import UUID_PATTERN
from farthing.core.schemas import Schema
from farthing.core.wire import View
from farthing.db.tables import ObjectTable
from farthing.resources.events.model import NOUN, EventView

_MOST_CHOICES: Final = 50
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


class EventTypeView(View, frozen=True, kw_only=True):
    """One type of event."""

    type: str
    description: str
    schema: dict[str, Any]


class EventTypesView(View, frozen=True, kw_only=True):
    """Every type of event; there may be new ones at any time."""

    results: list[EventTypeView]


@functools.cache
def describe_events() -> EventTypesView:
    """List every type that the tables of objects know."""
    results = [
        EventTypeView(
            type=f"{table.noun}.{what}",
            description=sentence,
            schema=_schema(table, f"{table.noun}.{what}", sentence),
        )
        for table in OBJECTS.values()
        for what, sentence in table.events.items()
    ]
    return EventTypesView(results=results)


def _schema(table: ObjectTable[Any], type_: str, sentence: str) -> Schema:
    """Say what an event of a type looks like, with everything that it refers to."""
    definitions = _definitions(table)
    event = definitions.pop(EventView.__name__)
    event["properties"] |= {
        "id": {"type": "string", "pattern": f"^{NOUN}/{UUID_PATTERN}$"},
        "type": {"const": type_},
        "objectId": {"type": "string", "pattern": f"^{table.noun}/{UUID_PATTERN}$"},
        "data": {"$ref": f"#/$defs/{table.shown.__name__}"},
    }
    return {"$schema": _DIALECT, **event, "description": sentence, "$defs": definitions}


def _definitions(table: ObjectTable[Any]) -> dict[str, Schema]:
    components = schemas.build([], [EventView, table.shown]).components
    shown = components[table.shown.__name__]["properties"]
    shown["stateId"]["enum"] = list(table.machine.states)
    shown["id"]["pattern"] = f"^{table.noun}/{UUID_PATTERN}$"
    written = msgspec.json.encode(components)
    found: dict[str, Schema] = msgspec.json.decode(
        written.replace(schemas.REFERENCE.encode(), b"#/$defs/")
    )
    for one in found.values():
        for field in one.get("properties", {}).values():
            # Every country of the world would hide what else there is to read.
            if len(field.get("enum", ())) > _MOST_CHOICES:
                del field["enum"]
    return found
