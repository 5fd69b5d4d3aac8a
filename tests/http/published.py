"""The published document, ready to check values against."""

import copy
from typing import Any

from jsonschema import Draft202012Validator

from farthing.http import openapi, system
from farthing.http.openapi.sections import Section, sections

# The operations are only described, never called, so they need no service.
SECTIONS: tuple[Section, ...] = sections(system.operations(None))  # type: ignore[arg-type]  # only described, never called
OPERATIONS = tuple(one for section in SECTIONS for one in section.operations)
DOCUMENT: dict[str, Any] = openapi.describe(SECTIONS)
DESCRIBED: dict[str, dict[str, Any]] = {
    operation["operationId"]: operation
    for item in DOCUMENT["paths"].values()
    for operation in item.values()
}


def _without_undocumented(components: dict[str, Any]) -> dict[str, Any]:
    strict = copy.deepcopy(components)
    for schema in strict["schemas"].values():
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return strict


_STRICT = _without_undocumented(DOCUMENT["components"])


def faults(schema: dict[str, Any], value: object, *, strict: bool = False) -> list[str]:
    """List what is wrong with a value; strictly, fields that are not documented are wrong too."""
    components = _STRICT if strict else DOCUMENT["components"]
    validator = Draft202012Validator({**schema, "components": components})
    return [f"{one.json_path}: {one.message}" for one in validator.iter_errors(value)]


def body_schema(operation_id: str) -> dict[str, Any]:
    """Return the schema of what may be sent."""
    media = DESCRIBED[operation_id]["requestBody"]["content"]["application/json"]
    schema: dict[str, Any] = media["schema"]
    return schema


def answer_schema(operation_id: str, status: int) -> dict[str, Any]:
    """Return the schema of what comes back as JSON."""
    content = DESCRIBED[operation_id]["responses"][str(status)]["content"]
    (media,) = (media for name, media in content.items() if name.endswith("json"))
    schema: dict[str, Any] = media["schema"]
    return schema
