"""A difference breaks a caller when it takes something away, and only then."""

import copy
from typing import Any

import pytest

from farthing.http.openapi.compatibility import breaking

CARD = {
    "type": "object",
    "properties": {
        "number": {"type": "string", "maxLength": 19, "pattern": "^[0-9]+$"},
        "scheme": {"type": "string", "enum": ["VISA", "MASTERCARD"]},
        "tags": {"type": ["array", "null"], "items": {"type": "string"}, "maxItems": 5},
        "notes": {"type": "object", "additionalProperties": {"type": "string"}},
        "parent": {"anyOf": [{"$ref": "#/components/schemas/Sent"}, {"type": "null"}]},
    },
    "required": ["number"],
    "additionalProperties": False,
}
SHOWN = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "stateId": {"type": "string", "enum": ["PENDING", "ENABLED"]},
        "amount": {"type": "integer", "minimum": 0},
        "parent": {"$ref": "#/components/schemas/Shown"},
    },
    "required": ["id", "stateId"],
}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _problem(*codes: str) -> dict[str, Any]:
    schema = {"allOf": [{}, {"properties": {"code": {"enum": list(codes)}}}]}
    return {"content": {"application/problem+json": {"schema": schema}}}


def document() -> dict[str, Any]:
    """Return a small document."""
    operation = {
        "operationId": "cards.create",
        "security": [{"apiKey": []}, {"token": []}],
        "parameters": [
            {"$ref": "#/components/parameters/Key"},
            {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 100}},
        ],
        "requestBody": {
            "required": True,
            "content": _json({"$ref": "#/components/schemas/Sent"}),
        },
        "responses": {
            "201": {
                "headers": {"X-Request-Id": {}},
                "content": _json({"$ref": "#/components/schemas/Shown"}),
            },
            "409": _problem("state_mismatch", "in_progress"),
        },
    }
    status = {"operationId": "status.get", "responses": {"200": {}}}
    return copy.deepcopy(
        {
            "paths": {"/cards": {"post": operation}, "/status": {"get": status}},
            "components": {
                "schemas": {"Sent": CARD, "Shown": SHOWN},
                "parameters": {"Key": {"name": "Key", "in": "header", "schema": {}}},
            },
        }
    )


GONE = object()


def changed(**changes: Any) -> dict[str, Any]:
    """Return the document with something changed at each place, written as a__b__c."""
    made = document()
    made["Sent"] = made["components"]["schemas"]["Sent"]
    made["Shown"] = made["components"]["schemas"]["Shown"]
    made["create"] = made["paths"]["/cards"]["post"]
    made["status"] = made["paths"]["/status"]["get"]
    for path, value in changes.items():
        *way, last = path.split("__")
        place: Any = made
        for step in way:
            place = place[int(step) if step.isdigit() and isinstance(place, list) else step]
        if value is GONE:
            del place[last]
        else:
            place[last] = value
    return made


BREAKS = [
    ("POST /cards is gone", {"paths": {}}),
    ("the operationId changed", {"create__operationId": "cards.add"}),
    ("it no longer takes token", {"create__security": [{"apiKey": []}]}),
    ("GET /status: it now needs a credential", {"status__security": [{"apiKey": []}]}),
    ("the header parameter Key is gone", {"create__parameters": []}),
    (
        "query parameter limit has another maximum",
        {"create__parameters__1__schema__maximum": 9},
    ),
    (
        "the query parameter owner is now required",
        {"create__parameters": [
            *document()["paths"]["/cards"]["post"]["parameters"],
            {"name": "owner", "in": "query", "required": True, "schema": {}},
        ]},
    ),
    ("it no longer takes a body", {"create__requestBody": GONE}),
    ("it now needs a body", {"status__requestBody": {"required": True, "content": _json({})}}),
    ("body/number has another maxLength", {"Sent__properties__number__maxLength": 16}),
    ("body/number has another pattern", {"Sent__properties__number__pattern": "^[0-9]{16}$"}),
    ("body/number can no longer be string", {"Sent__properties__number__type": "integer"}),
    ("body/scheme can no longer be MASTERCARD", {"Sent__properties__scheme__enum": ["VISA"]}),
    ("body/tags can no longer be null", {"Sent__properties__tags__type": "array"}),
    ("body/tags[] has another minLength", {
        "Sent__properties__tags__items": {"type": "string", "minLength": 1}}),
    ("body/tags is gone", {"Sent__properties__tags": GONE}),
    ("body/scheme is now required", {"Sent__required": ["number", "scheme"]}),
    ("body/notes/* has another maxLength", {
        "Sent__properties__notes__additionalProperties": {"type": "string", "maxLength": 9}}),
    ("body/notes can no longer have names that are not listed", {
        "Sent__properties__notes__additionalProperties": False}),
    ("body/parent can no longer be null", {
        "Sent__properties__parent": {"$ref": "#/components/schemas/Sent"}}),
    ("answer/amount is gone", {"Shown__properties__amount": GONE}),
    ("answer/stateId may now be missing", {"Shown__required": ["id"]}),
    ("answer/stateId can now be CLOSED", {
        "Shown__properties__stateId__enum": ["PENDING", "ENABLED", "CLOSED"]}),
    ("answer/stateId can now be something that is not listed", {
        "Shown__properties__stateId": {"type": "string"}}),
    ("answer/amount can now be string", {"Shown__properties__amount__type": "string"}),
    ("answer/amount has another minimum", {"Shown__properties__amount__minimum": GONE}),
    ("the answer lost the header X-Request-Id", {"create__responses__201__headers": {}}),
    ("the answer can no longer be had as application/json", {"create__responses__201__content": {
        "text/csv": {"schema": {"type": "string"}}}}),
    ("it no longer answers 201", {"create__responses": {"200": {}}}),
    ("the error in_progress moved from 409 to 425", {
        "create__responses__409": _problem("state_mismatch"),
        "create__responses__425": _problem("in_progress")}),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "changes"), BREAKS, ids=[one[0] for one in BREAKS])
def test_what_takes_something_away_breaks(sentence: str, changes: dict[str, Any]) -> None:
    found = breaking(document(), changed(**changes))
    assert any(sentence in one for one in found), found


HARMLESS = {
    "nothing": {},
    "another operation": {"paths__/new": {"post": {"operationId": "new", "responses": {}}}},
    "another credential": {"create__security": [{"apiKey": []}, {"token": []}, {"operator": []}]},
    "no credential at all": {"create__security": []},
    "an optional field": {"Sent__properties__colour": {"type": "string"}},
    "a field that is no longer required": {"Sent__required": []},
    "a longer text": {"Sent__properties__number__maxLength": 99},
    "any text": {"Sent__properties__number": {"type": "string"}},
    "another choice to send": {"Sent__properties__scheme__enum": ["VISA", "MASTERCARD", "AMEX"]},
    "null to send": {"Sent__properties__scheme__type": ["string", "null"]},
    "another field to read": {"Shown__properties__colour": {"type": "string"}},
    "a field that is always there now": {"Shown__required": ["id", "stateId", "amount"]},
    "a state that never comes": {"Shown__properties__stateId__enum": ["ENABLED"]},
    "a pattern of what is read": {"Shown__properties__id__pattern": "^card/"},
    "another error": {"create__responses__409": _problem("state_mismatch", "in_progress", "new")},
    "an error that never comes": {"create__responses__409": _problem("state_mismatch")},
    "another form": {"create__responses__201__content__text/csv": {"schema": {"type": "string"}}},
    "another header": {"create__responses__201__headers": {"X-Request-Id": {}, "X-New": {}}},
}


@pytest.mark.parametrize("changes", HARMLESS.values(), ids=HARMLESS.keys())
def test_what_only_adds_breaks_nobody(changes: dict[str, Any]) -> None:
    assert breaking(document(), changed(**changes)) == []


# Either the scheme is VISA, or there are no tags: what stands beside the choices holds for each.
EITHER = [
    {"properties": {"scheme": {"const": "VISA"}}},
    {"properties": {"tags": {"type": "null"}}},
]


def test_a_choice_between_rules_for_the_same_fields_can_be_given_up() -> None:
    assert breaking(changed(Sent__anyOf=EITHER), document()) == []


def test_a_choice_between_rules_for_the_same_fields_takes_something_away() -> None:
    found = breaking(document(), changed(Sent__anyOf=EITHER))
    assert any("body/scheme can no longer be MASTERCARD" in one for one in found), found
