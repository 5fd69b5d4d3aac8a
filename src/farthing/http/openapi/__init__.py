"""OpenAPI 3.1 from the operations, the errors and the machines, so that nothing is said twice."""

import json
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from typing import Any, Final

from msgspec import Struct

from farthing import __version__
from farthing.catalog import OBJECTS, OPERATIONS
from farthing.config import Settings
from farthing.core import schemas
from farthing.core.actors import Grant
from farthing.core.ids import UUID_PATTERN
from farthing.core.machine import Machine
from farthing.core.operation import Operation
from farthing.core.schemas import Schema, Schemas
from farthing.core.wire import ListQuery, ObjectView
from farthing.http.openapi import parameters, responses, words
from farthing.http.openapi.sections import Section
from farthing.http.system import describe as describe_machine

# What the operations answered when their examples were last sent to a real service.
RECORDED: Final[dict[str, dict[str, Any]]] = json.loads(
    files(__name__).joinpath("examples.json").read_text("utf-8")
)
# How the address ends of the operation with which the machine of a noun is shown.
_ENDS: Final[dict[str | None, str]] = {
    **dict.fromkeys(OBJECTS, "/transitions"),
    **{one.noun: "/state" for one in OPERATIONS if one.path.endswith("/state")},
}


def server(settings: Settings) -> Schema:
    """Say where this service is, and which of the two environments it is."""
    return {
        # What is not set is where the document itself was found.
        "url": settings.public_url.rstrip("/") or "/",
        "description": words.ENVIRONMENTS[settings.environment],
    }


def describe(sections: Sequence[Section], at: Schema | None = None) -> dict[str, Any]:
    """Make the document of a service; by default that of a sandbox."""
    known = _schemas(sections)
    return {
        "openapi": "3.1.0",
        "info": _info(),
        "servers": [at or server(Settings())],
        "tags": [{"name": one.name, "description": one.sentence} for one in sections],
        "paths": _paths(sections, known),
        "components": {
            "schemas": known.components,
            "parameters": parameters.HEADERS,
            "headers": responses.HEADERS,
            "securitySchemes": _credentials(),
        },
    }


def _info() -> Schema:
    return {
        "title": "Farthing",
        "version": __version__,
        "summary": "An open payments core.",
        "description": words.INTRODUCTION,
        "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
    }


def _credentials() -> dict[str, Schema]:
    return {
        grant.value: {
            "type": "apiKey",
            "in": "header",
            "name": "X-Token",
            "description": f"{name}. {sentence}",
        }
        for grant, (name, sentence) in words.CREDENTIALS.items()
    }


def _schemas(sections: Sequence[Section]) -> Schemas:
    operations = [operation for section in sections for operation in section.operations]
    known = schemas.build(
        [one.body for one in operations if one.body],
        [responses.Problem, *_answers(operations)],
    )
    for section in sections:
        _add_states(section, known)
    return known


def _answers(operations: Iterable[Operation]) -> Iterator[type[Struct]]:
    for one in operations:
        yield from (kind for kind in (one.answer, one.other_answer) if kind is not None)


def _add_states(section: Section, known: Schemas) -> None:
    """Say of the objects of a section which states they can be in, and how they are named."""
    for operation in section.operations:
        view, machine = operation.answer, section.machine
        if machine is None or view is None or not issubclass(view, ObjectView):
            continue
        shown = known.resolve(known.answer(view))["properties"]
        shown["stateId"]["enum"] = list(machine.states)
        shown["id"]["pattern"] = f"^{machine.noun}/{UUID_PATTERN}$"


def _paths(sections: Sequence[Section], known: Schemas) -> dict[str, Schema]:
    paths: dict[str, Schema] = {}
    for section in sections:
        for operation in section.operations:
            item = paths.setdefault(operation.path, {})
            item[operation.method.lower()] = _operation(section, operation, known)
    return paths


def _operation(section: Section, operation: Operation, known: Schemas) -> Schema:
    recorded = RECORDED.get(operation.id, {})
    described: Schema = {
        "operationId": operation.id,
        "tags": [section.name],
        "summary": operation.summary,
        "description": "\n\n".join(_description(operation)),
        "security": [{grant.value: []} for grant in _grants(operation)],
        "parameters": parameters.parameters(operation, recorded.get("query", {})),
    }
    if operation.body is not None:
        described["requestBody"] = _body(operation, known)
    described["responses"] = responses.responses(operation, known, recorded.get("answer"))
    return described


def _description(operation: Operation) -> Iterator[str]:
    yield f"Who may: {words.who_may(operation.who)}."
    if operation.sandbox_only:
        yield words.SANDBOX_ONLY
    if operation.query is not None and issubclass(operation.query, ListQuery):
        yield words.LIST_FILTER
    if machine := _machine_shown_with(operation):
        yield words.machine_table(describe_machine(machine))


def _machine_shown_with(operation: Operation) -> Machine | None:
    """Return the machine of an object with what moves it, or else with its history."""
    table = OBJECTS.get(operation.noun or "")
    return (
        None if table is None or not operation.path.endswith(_ENDS[table.noun]) else table.machine
    )


def _grants(operation: Operation) -> list[Grant]:
    return [grant for grant in words.CREDENTIALS if grant in operation.who]


def _body(operation: Operation, known: Schemas) -> Schema:
    media: Schema = {"schema": known.request(operation.body)} if operation.body else {}
    if operation.body_example is not None:
        media["example"] = dict(operation.body_example)
    return {"required": True, "content": {"application/json": media}}
