"""Reading a request: its body, its query, its key, each checked before anything happens."""

import functools
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, cast
from urllib.parse import parse_qsl

from msgspec import Struct
from msgspec import inspect as shape
from starlette.types import Receive, Scope

from farthing.core import ids, validation
from farthing.core.errors import (
    BodyTooLarge,
    Fault,
    MalformedId,
    MalformedJson,
    UnsupportedMediaType,
    ValidationFailed,
)
from farthing.core.fields import Annotations
from farthing.core.json import read_json
from farthing.core.operation import Operation
from farthing.core.wire import ListQuery, Request

# The names are in lower case, as the server gives them.
Headers = Mapping[str, str]

MOST_BYTES: Final = 64 * 1024
MOST_KEY: Final = 255
MOST_DIGITS: Final = 9

_ANNOTATION: Final = "annotation."
_ODD: Final = re.compile(rb"[\\\x7f]")
_BOOLEANS: Final = {"true": True, "false": False}


def read_headers(scope: Scope) -> Headers:
    """Return the headers of a request; of one that comes twice, the last."""
    return {str(name, "latin-1"): str(value, "latin-1") for name, value in scope["headers"]}


async def read_body(headers: Headers, receive: Receive) -> bytes:
    """Read a body of at most 64 KiB."""
    declared = headers.get("content-length", "0")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > MOST_BYTES:
        raise BodyTooLarge("The body is larger than 64 KiB.")
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            # What came so far could by chance be JSON too.
            raise MalformedJson("The connection ended before the body did.")
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MOST_BYTES:
            raise BodyTooLarge("The body is larger than 64 KiB.")
    return body


def parse_body(
    operation: Operation, headers: Headers, body: bytes, now: datetime
) -> tuple[Any, Any]:
    """Return the JSON value and the typed body that the operation takes."""
    if operation.body is None:
        return None, None
    if not body:
        raise MalformedJson("The body is empty. Send a JSON object.")
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise UnsupportedMediaType("Send the body with Content-Type: application/json.")
    value = read_json(body)
    # What has no escapes in it says what it shows.
    is_plain = body.isascii() and not _ODD.search(body)
    return value, validation.parse(operation.body, value, now, is_plain=is_plain)


class _NoQuery(Request, frozen=True):
    """The query of an operation that takes none."""


class _AnnotationFilter(Request, frozen=True):
    """The filters `annotation.<name>=<value>`, whose names are the caller's own."""

    annotation: Annotations


def parse_query(schema: type[Struct] | None, scope: Scope) -> tuple[Any, tuple[Any, ...]]:
    """Return the typed query and the filters by annotation, or all faults of both."""
    if schema is None and not scope["query_string"]:
        return None, ()
    given: dict[str, str] = {}
    annotations: dict[str, str] = {}
    faults: list[Fault] = []
    is_list = schema is not None and issubclass(schema, ListQuery)
    for name, value in parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True):
        by_annotation = is_list and name.startswith(_ANNOTATION)
        target = annotations if by_annotation else given
        short = name.removeprefix(_ANNOTATION) if by_annotation else name
        if short in target:
            faults.append(Fault(validation.point("", name), "duplicate", "Must be given once."))
        target[short] = value
    query = _parse(schema or _NoQuery, given, faults)
    _parse(_AnnotationFilter, {"annotation": annotations}, faults)
    if faults:
        raise ValidationFailed([Fault(_in_query(f.pointer), f.code, f.detail) for f in faults])
    return query if schema else None, tuple(annotations.items())


def _in_query(pointer: str) -> str:
    return "?" + pointer.removeprefix("/").replace("annotation/", _ANNOTATION, 1)


def _parse(schema: type[Struct], given: dict[str, Any], faults: list[Fault]) -> Struct | None:
    try:
        return validation.parse(schema, _typed(schema, given))
    except ValidationFailed as failed:
        faults.extend(failed.faults)
        return None


def _typed(schema: type[Struct], given: dict[str, Any]) -> dict[str, Any]:
    """Read as numbers, and as true or false, what the schema wants so: a query has only text."""
    kinds = _kinds(schema)
    return {name: _read(kinds.get(name), value) for name, value in given.items()}


def _read(kind: type[shape.Type] | None, text: str) -> Any:
    if kind is shape.IntType and text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS:
        return int(text)
    return _BOOLEANS.get(text, text) if kind is shape.BoolType else text


@functools.cache
def _kinds(schema: type[Struct]) -> dict[str, type[shape.Type]]:
    fields = cast("shape.StructType", shape.type_info(schema)).fields
    plain = {
        field.encode_name: field.type.type if isinstance(field.type, shape.Metadata) else field.type
        for field in fields
    }
    return {name: type(kind) for name, kind in plain.items()}


def parse_id(operation: Operation, text: str) -> Any:
    """Read the identifier in the path."""
    noun = ids.in_path(operation.noun or "")
    identifier = ids.read(noun, text)
    if identifier is None:
        raise MalformedId(
            f"The identifier in the path must be {noun}/<uuid> with the uuid in lower case, as in "
            f"{operation.path.replace('{id}', noun + '/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b')}"
        )
    return identifier


def parse_key(headers: Headers) -> str | None:
    """Read the Idempotency-Key of a request, if there is one."""
    key = headers.get("idempotency-key")
    if key is not None and not (0 < len(key) <= MOST_KEY and key.isascii() and key.isprintable()):
        detail = f"Must have 1 to {MOST_KEY} printable ASCII characters."
        raise ValidationFailed([Fault("Idempotency-Key", "invalid_format", detail)])
    return key
