"""What goes into a request beside its body: the path, the query and the headers."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Final

from farthing.catalog import OBJECTS
from farthing.core import ids
from farthing.core.actors import Grant
from farthing.core.ids import UUID_PATTERN
from farthing.core.operation import Operation
from farthing.core.schemas import Schema, properties
from farthing.http.openapi import words
from farthing.http.requests import MOST_KEY

_CUSTOMER: Final = f"^customer/{UUID_PATTERN}$"

HEADERS: Final[dict[str, Schema]] = {
    "Idempotency-Key": {
        "name": "Idempotency-Key",
        "in": "header",
        "description": words.IDEMPOTENCY_KEY,
        "schema": {
            "type": "string",
            "minLength": 1,
            "maxLength": MOST_KEY,
            "pattern": "^[!-~]([ -~]*[!-~])?$",
        },
    },
    "X-Request-Id": {
        "name": "X-Request-Id",
        "in": "header",
        "description": words.REQUEST_ID,
        "schema": {"type": "string"},
    },
    "Last-Event-ID": {
        "name": "Last-Event-ID",
        "in": "header",
        "description": words.LAST_EVENT_ID,
        "schema": {"type": "string", "pattern": f"^event/{UUID_PATTERN}$"},
    },
    "X-Tenant": {
        "name": "X-Tenant",
        "in": "header",
        "description": words.TENANT,
        "schema": {"type": "string", "pattern": _CUSTOMER},
    },
}


def parameters(operation: Operation, example_query: Mapping[str, Any]) -> list[Schema]:
    """Describe every parameter of an operation."""
    return [
        *_path(operation),
        *_query(operation, example_query),
        *({"$ref": f"#/components/parameters/{name}"} for name in _header_names(operation)),
    ]


def fictitious_id(noun: str) -> str:
    """Return the identifier that stands in the examples for the object of a noun."""
    # The customer of the examples is the one that the bodies speak of.
    tail = "0c1d2e3f4a5b" if noun == "customer" else sha256(noun.encode()).hexdigest()[:12]
    return f"{noun}/0190a1b2-c3d4-7e5f-8a9b-{tail}"


def _path(operation: Operation) -> Iterator[Schema]:
    if "{id}" not in operation.path:
        return
    named = operation.noun or ""
    noun = ids.in_path(named)
    yield {
        "name": "id",
        "in": "path",
        "required": True,
        "description": words.PATH_ID.format(noun=noun),
        "schema": {"type": "string", "pattern": f"^{noun}/{UUID_PATTERN}$"},
        "example": ids.say(noun, ids.take(fictitious_id(named))),
    }


def _query(operation: Operation, example_query: Mapping[str, Any]) -> Iterator[Schema]:
    if operation.query is None:
        return
    for name, schema, required in properties(operation.query):
        described = {"name": name, "in": "query", "required": required}
        described["description"] = schema.pop("description", "")
        described["schema"] = schema
        if name in example_query:
            described["example"] = example_query[name]
        yield {key: value for key, value in described.items() if value not in ("", False)}


def _header_names(operation: Operation) -> Iterator[str]:
    if operation.writes:
        yield "Idempotency-Key"
    yield "X-Request-Id"
    if operation.stream is not None:
        yield "Last-Event-ID"
    in_a_tenant = Grant.OPERATOR_KEY in operation.who and not operation.of_house
    if in_a_tenant and operation.noun not in OBJECTS:
        yield "X-Tenant"
