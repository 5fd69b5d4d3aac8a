"""The OpenAPI document says what the service does: all of it, and nothing else."""

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import pytest_asyncio
from openapi_spec_validator import OpenAPIV31SpecValidator
from tests import payments
from tests.cases import for_each
from tests.http.published import (
    DESCRIBED,
    DOCUMENT,
    OPERATIONS,
    SECTIONS,
    answer_schema,
    body_schema,
    faults,
)

from farthing.catalog import OBJECTS
from farthing.core import validation
from farthing.core.errors import ValidationFailed
from farthing.core.ids import in_path, new_id
from farthing.core.operation import Operation
from farthing.http import openapi
from farthing.http.service import Service

if TYPE_CHECKING:
    from tests.conftest import Tenant

every_operation = for_each(OPERATIONS, lambda one: one.id)
with_a_body = for_each([one for one in OPERATIONS if one.body is not None], lambda one: one.id)


async def test_the_service_publishes_a_valid_document(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == DOCUMENT
    errors = list(OpenAPIV31SpecValidator(answer.json()).iter_errors())
    assert errors == []


def test_the_document_is_the_same_each_time() -> None:
    assert json.dumps(openapi.describe(SECTIONS)) == json.dumps(DOCUMENT)


@pytest.mark.parametrize("name", DOCUMENT["components"]["schemas"])
def test_a_component_is_one_type_for_tools_that_write_clients(name: str) -> None:
    component = DOCUMENT["components"]["schemas"][name]
    # Beside properties such tools take choices for other types, which then admit anything.
    assert component.keys() & {"properties", "additionalProperties"}
    assert not component.keys() & {"anyOf", "oneOf"}
    for one in component.get("properties", {}).values():
        if one.get("type") == "object":
            assert one.keys() & {"properties", "additionalProperties"}, one


def test_every_operation_is_in_the_document_and_no_other() -> None:
    published = {
        (method.upper(), path, operation["operationId"])
        for path, item in DOCUMENT["paths"].items()
        for method, operation in item.items()
    }
    assert published == {(one.method, one.path, one.id) for one in OPERATIONS}


@every_operation
def test_the_declared_errors_are_the_published_ones(operation: Operation) -> None:
    responses = DESCRIBED[operation.id]["responses"]
    published = {
        (int(status), code)
        for status, response in responses.items()
        if status != str(operation.status)
        for code in _published_codes(response)
    }
    assert published == {(one.status, one.code) for one in operation.errors}


def _published_codes(response: dict[str, Any]) -> list[str]:
    _, narrowed = response["content"]["application/problem+json"]["schema"]["allOf"]
    codes: list[str] = narrowed["properties"]["code"]["enum"]
    return codes


@every_operation
def test_who_may_is_published(operation: Operation) -> None:
    taken = [name for one in DESCRIBED[operation.id]["security"] for name in one]
    assert set(taken) == {grant.value for grant in operation.who}
    assert set(taken) <= DOCUMENT["components"]["securitySchemes"].keys()


@every_operation
def test_the_parameters_are_published(operation: Operation) -> None:
    known = DOCUMENT["components"]["parameters"]
    listed = [
        known[one["$ref"].rpartition("/")[2]] if "$ref" in one else one
        for one in DESCRIBED[operation.id]["parameters"]
    ]
    names = {one["name"] for one in listed}
    assert ("id" in names) == ("{id}" in operation.path)
    assert ("Idempotency-Key" in names) == operation.writes
    in_query = {one["name"] for one in listed if one["in"] == "query"}
    assert len(in_query) == len(operation.query.__struct_fields__ if operation.query else ())
    for one in listed:
        assert "description" in one or one["in"] == "query"
        assert "example" not in one or faults(one["schema"], one["example"]) == []


@every_operation
def test_every_operation_shows_an_example_that_fits(operation: Operation) -> None:
    described = DESCRIBED[operation.id]
    kind = "text/event-stream" if operation.stream else "application/json"
    media = described["responses"][str(operation.status)]["content"][kind]
    assert faults(media["schema"], media["example"], strict=True) == []


@with_a_body
def test_a_request_example_is_accepted_by_the_schema_and_by_the_service(
    operation: Operation,
) -> None:
    example = DESCRIBED[operation.id]["requestBody"]["content"]["application/json"]["example"]
    assert faults(body_schema(operation.id), example) == []
    assert _accepts(operation, example)


def _accepts(operation: Operation, body: object) -> bool:
    assert operation.body is not None
    try:
        validation.parse(operation.body, body)
    except ValidationFailed:
        return False
    return True


@with_a_body
def test_the_schema_and_the_service_agree_on_what_is_accepted(operation: Operation) -> None:
    assert operation.body_example is not None
    for variant in _variants(dict(operation.body_example), body_schema(operation.id)):
        by_schema = faults(body_schema(operation.id), variant) == []
        assert by_schema == _accepts(operation, variant), variant


def _variants(example: dict[str, Any], schema: dict[str, Any]) -> Iterator[object]:
    """Yield bodies that are almost right: something missing, null, unknown or of another type."""
    properties = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]["properties"]
    yield from ([], "text", None, 7)
    for name in properties:
        yield {key: one for key, one in example.items() if key != name}
        for other in (None, 7, True, "", "\u0007", "x" * 600, [], ["tag"], [""], {}, {"a": 1}):
            yield {**example, name: other}
    for other in (None, 1, "anything"):
        yield {**example, "unheardOf": other}
    for name, inner in example.items():
        if isinstance(inner, dict):
            yield from ({**example, name: {**inner, "street": other}} for other in (None, 7, "x"))
            yield {**example, name: {"countryISO": "gb"}}
    if "options" in properties:
        # What they are for, a schema cannot say; with an adjustment, both are there.
        adjusting = {**example, "toStateId": "ADJUSTED"}
        yield from ({**adjusting, "options": one} for one in _OPTIONS)


_AMOUNTS: tuple[Any, ...] = (
    None,
    "1",
    "0",
    "01",
    "-1",
    "1.5",
    "",
    7,
    "9" * 18,
    "9" * 19,
    "٣",
    [],
    {},
)
_ADJUSTMENTS: tuple[Any, ...] = (None, 7, "x", [], {}, {"unheardOf": 1}, {"amount": "1"})
_OPTIONS: list[dict[str, Any]] = [
    {"unheardOf": 1},
    *({"amount": one} for one in _AMOUNTS),
    *({"adjustment": one} for one in _ADJUSTMENTS),
    *({"adjustment": {"adjustmentAmount": one}} for one in _AMOUNTS),
]


def _named_in(schema: object) -> set[str]:
    """Return the names of all components that a schema refers to, at any depth."""
    known = DOCUMENT["components"]["schemas"]
    waiting, found = re.findall(r'"#/components/schemas/(\w+)"', json.dumps(schema)), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += re.findall(r'"#/components/schemas/(\w+)"', json.dumps(known[name]))
    return found


def test_an_answer_leaves_out_what_is_absent_instead_of_saying_null() -> None:
    components = DOCUMENT["components"]["schemas"]
    sent = _named_in([body_schema(one.id) for one in OPERATIONS if one.body])
    said = _named_in([one["responses"] for one in DESCRIBED.values()])
    assert sent | said == components.keys()
    assert sent & said == set()
    answers = {name: components[name] for name in said}
    assert "null" not in json.dumps(answers)
    assert all("additionalProperties" not in one for one in answers.values())


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)
async def test_problems_come_as_they_are_published(operation: Operation, tenant: "Tenant") -> None:
    for answer in [one async for one in _provoked(operation, tenant)]:
        assert answer.status_code >= 400, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        schema = answer_schema(operation.id, answer.status_code)
        assert faults(schema, answer.json()) == [], answer.text


async def _provoked(operation: Operation, tenant: "Tenant") -> Any:
    path = operation.path.replace("{id}", f"{in_path(operation.noun or '')}/{new_id()}")
    if operation.who:
        yield await tenant.call(operation.method, path, token="none of ours")  # noqa: S106 - it opens nothing
        yield await tenant.call(operation.method, path, {}, token=tenant.operator)
        yield await tenant.call(operation.method, f"{path}?unheardOf=1", {}, token=tenant.key)
    if "{id}" in operation.path:
        bare = operation.path.replace("{id}", str(new_id()))
        yield await tenant.call(operation.method, bare, token=tenant.operator)
    if operation.body is not None:
        yield await tenant.call(operation.method, path, {"unheardOf": 1}, token=tenant.token)
        yield await tenant.call(operation.method, path, {}, Content_Type="text/plain")


@pytest.mark.parametrize("table", OBJECTS.values(), ids=lambda table: table.noun)
def test_the_operation_that_moves_an_object_shows_the_whole_machine(table: Any) -> None:
    """What has no such operation shows it with its history."""
    about = [one for one in OPERATIONS if one.noun == table.noun]
    moves = [one for one in about if one.path.endswith("/state")]
    (shown,) = moves or [one for one in about if one.path.endswith("/transitions")]
    description = DESCRIBED[shown.id]["description"]
    for row in table.machine.table:
        assert f"| {row.source} | {row.target} |" in description
        assert row.why in description


@dataclass(frozen=True)
class Escrow:
    """Money that is held between two accounts."""

    id: str
    accounts: tuple[str, str]

    @property
    def path(self) -> str:
        return f"/v1/tx/{payments.in_path(self.id)}"


@pytest_asyncio.fixture
async def escrow(tenant: "Tenant", service: Service) -> Escrow:
    payer, payee = [await tenant.new_account(await tenant.new_customer()) for _ in range(2)]
    await payments.charge(service, tenant.call, payer)
    body = {"amount": "700", "purpose": "PURCHASE", "targetStateId": "HELD"}
    sides = {"fromAccountId": payer, "toAccountId": payee}
    made = await payments.create(tenant.call, "/v1/tx/internal", {**sides, **body})
    return Escrow(made["id"], (payer, payee))


def shown_as(*names: str) -> list[dict[str, str]]:
    return [{"$ref": f"#/components/schemas/{name}"} for name in names]


async def test_a_dry_run_is_answered_in_the_form_that_is_published_for_it(
    tenant: "Tenant", escrow: Escrow
) -> None:
    plain, rehearsal = shown_as("TransactionView", "RehearsalView")
    assert answer_schema("tx.move", 200) == {"anyOf": [plain, rehearsal]}
    body, before = {"toStateId": "EFFECTED"}, await tenant.call("GET", escrow.path)
    dry = await tenant.call("PATCH", f"{escrow.path}/state?dryRun=true", body)
    assert dry.status_code == 200
    assert faults(rehearsal, dry.json(), strict=True) == []
    assert faults(plain, dry.json(), strict=True) != []
    assert dry.json()["path"] == ["HELD", "EFFECTED"]
    assert {one["accountId"] for one in dry.json()["entries"]} == set(escrow.accounts)
    assert {one["id"] for one in dry.json()["accounts"]} == set(escrow.accounts)
    assert (await tenant.call("GET", escrow.path)).json() == before.json()
    moved = await tenant.call("PATCH", f"{escrow.path}/state?dryRun=false", body)
    assert faults(plain, moved.json(), strict=True) == []
    assert faults(rehearsal, moved.json(), strict=True) != []
    assert moved.json()["stateId"] == dry.json()["transaction"]["stateId"] == "EFFECTED"


async def test_a_problem_is_the_same_with_and_without_a_dry_run(
    tenant: "Tenant", escrow: Escrow
) -> None:
    for body in ({"toStateId": "FAILED"}, {"toStateId": "EFFECTED", "fromStateId": "PENDING"}):
        dry = await tenant.call("PATCH", f"{escrow.path}/state?dryRun=true", body)
        wet = await tenant.call("PATCH", f"{escrow.path}/state", body)
        assert dry.status_code == wet.status_code == 409
        told = [{**one.json(), "requestId": ""} for one in (dry, wet)]
        assert told[0] == told[1]


PARTS = ("accounts", "entries", "transitions")


@pytest.mark.parametrize("count", range(4))
async def test_what_include_asks_for_is_added_and_published_and_nothing_else(
    tenant: "Tenant", escrow: Escrow, count: int
) -> None:
    plain = set((await tenant.call("GET", escrow.path)).json())
    assert not plain & set(PARTS)
    for asked in itertools.permutations(PARTS, count):
        query = f"?include={','.join(asked)}" if asked else ""
        one = (await tenant.call("GET", f"{escrow.path}{query}")).json()
        assert one.keys() - plain == set(asked)
        assert all(one[part] for part in asked)
        assert faults(answer_schema("tx.get", 200), one, strict=True) == []
        page = (await tenant.call("GET", f"/v1/tx{query}")).json()
        assert faults(answer_schema("tx.list", 200), page, strict=True) == []
        (listed,) = [found for found in page["results"] if found["id"] == escrow.id]
        assert listed == one


async def test_every_way_to_pay_is_answered_as_published(tenant: "Tenant", escrow: Escrow) -> None:
    listed = (await tenant.call("GET", f"{escrow.path}/transitions")).json()
    assert faults(answer_schema("tx.transitions", 200), listed, strict=True) == []
    for name in ("tx.inbound", "tx.outbound", "tx.internal"):
        assert answer_schema(name, 201) == shown_as("TransactionView")[0]
    assert answer_schema("tx.update", 200) == shown_as("TransactionView")[0]
    updated = (await tenant.call("PATCH", escrow.path, {"tags": ["a"]})).json()
    assert faults(answer_schema("tx.update", 200), updated, strict=True) == []


@every_operation
def test_every_form_of_the_answer_is_published(operation: Operation) -> None:
    content = DESCRIBED[operation.id]["responses"][str(operation.status)]["content"]
    texts = ["text/event-stream"] if operation.stream else list(operation.formats)
    assert list(content) == (texts if operation.stream else ["application/json", *texts])
    for name in texts:
        assert content[name]["schema"]["description"], name


def test_lists_document_the_filter_by_annotation() -> None:
    for name in ("customers.list", "accounts.list"):
        assert "annotation.<name>=<value>" in DESCRIBED[name]["description"]
