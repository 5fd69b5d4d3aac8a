"""The frozen contract, item by item, against the running service and what it publishes."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.http.published import DOCUMENT

from farthing.catalog import MACHINES

if TYPE_CHECKING:
    from tests.conftest import Tenant

CONTRACT = json.loads((Path(__file__).parent / "contract.json").read_text("utf-8"))
SCHEMAS = DOCUMENT["components"]["schemas"]
NOUNS = {"bankAccount": "bank_account", "card": "card"}
ADDRESS = dict.fromkeys(CONTRACT["responseFields"]["address"], "1") | {"countryISO": "GB"}
CREATIONS: dict[str, dict[str, Any]] = {
    "POST /v1/bank-accounts": {
        "currencyISO": "GBP",
        "countryISO": "GB",
        "billingAddress": {"countryISO": "GB"},
    },
    "POST /v1/cards": {
        "cardNumber": "4242424242424242",
        "expiry": "1299",
        "cvv": "123",
        "billingAddress": {"countryISO": "GB"},
    },
}
FULL: dict[str, dict[str, Any]] = {
    "POST /v1/bank-accounts": {
        "currencyISO": "GBP",
        "countryISO": "GB",
        "billingAddress": ADDRESS,
        "accountNumber": "31926819",
        "sortCode": "108800",
        "iban": "GB82WEST12345698765432",
        "bic": "WESTGB2L",
        "tags": ["t"],
        "annotations": {"a": "b"},
        "setAsPreferred": True,
    },
    "POST /v1/cards": {
        **CREATIONS["POST /v1/cards"],
        "billingAddress": ADDRESS,
        "tags": ["t"],
        "annotations": {"a": "b"},
    },
}


def request_schema(operation: str) -> dict[str, Any]:
    method, path = operation.split()
    body = DOCUMENT["paths"][path][method.lower()]["requestBody"]["content"]["application/json"]
    name = body["schema"]["$ref"].rpartition("/")[2]
    schema: dict[str, Any] = SCHEMAS[name]
    return schema


def flat(schema: dict[str, Any]) -> dict[str, bool]:
    """Return every field of a schema, nested ones with a dot, and whether it is required."""
    fields: dict[str, bool] = {}
    for name, one in schema["properties"].items():
        required = name in schema.get("required", ())
        reference = one.get("$ref") or next(
            (part["$ref"] for part in one.get("anyOf", ()) if "$ref" in part), None
        )
        if reference and "properties" in SCHEMAS[reference.rpartition("/")[2]]:
            inner = flat(SCHEMAS[reference.rpartition("/")[2]])
            fields |= {f"{name}.{key}": required and value for key, value in inner.items()}
        else:
            fields[name] = required
    return fields


async def send(tenant: "Tenant", operation: str, body: dict[str, Any]) -> Any:
    method, path = operation.split()
    owner = await tenant.new_customer()
    return await tenant.call(method, path, {"ownerId": owner, **body})


@pytest.mark.parametrize("noun", NOUNS)
def test_the_states_are_those_of_the_contract(noun: str) -> None:
    machine = next(one for one in MACHINES if one.noun == NOUNS[noun])
    assert list(machine.states) == CONTRACT["states"][noun]


@pytest.mark.parametrize("operation", CREATIONS)
def test_the_required_fields_are_those_of_the_contract_and_no_others(operation: str) -> None:
    fields = flat(request_schema(operation))
    required = {name for name, needed in fields.items() if needed}
    assert required == set(CONTRACT["requests"][operation]["required"])
    optional = set(fields) - required
    allowed = set(CONTRACT["requests"][operation]["optional"])
    # The contract leaves open whether a card takes these two; we decided that it does.
    decided = {"storageType", "setAsPreferred"} if operation == "POST /v1/cards" else set()
    assert optional == allowed | decided


@pytest.mark.parametrize("operation", CREATIONS)
async def test_a_request_with_only_the_required_fields_succeeds(
    tenant: "Tenant", operation: str
) -> None:
    answer = await send(tenant, operation, CREATIONS[operation])
    assert answer.status_code == 201, answer.text


@pytest.mark.parametrize("operation", CREATIONS)
async def test_each_required_field_is_required(tenant: "Tenant", operation: str) -> None:
    for name in CONTRACT["requests"][operation]["required"]:
        body = {"ownerId": await tenant.new_customer(), **FULL[operation]}
        outer, _, inner = name.partition(".")
        if inner:
            body[outer] = {key: value for key, value in body[outer].items() if key != inner}
        else:
            del body[outer]
        method, path = operation.split()
        answer = await tenant.call(method, path, body)
        pointers = {fault["pointer"] for fault in answer.json()["errors"]}
        assert (answer.status_code, pointers) == (422, {"/" + name.replace(".", "/")})


@pytest.mark.parametrize(
    ("operation", "noun"), [("POST /v1/bank-accounts", "bankAccount"), ("POST /v1/cards", "card")]
)
async def test_the_answer_has_the_documented_fields_and_no_others(
    tenant: "Tenant", operation: str, noun: str
) -> None:
    made = (await send(tenant, operation, FULL[operation])).json()
    assert set(made) == set(CONTRACT["responseFields"][noun])
    assert set(made["billingAddress"]) == set(CONTRACT["responseFields"]["address"])
    prefix = CONTRACT["ids"][noun].partition("/")[0]
    assert made["id"].startswith(f"{prefix}/")
    assert made["stateId"] in CONTRACT["states"][noun]
    assert made["ownerId"].startswith("customer/")


@pytest.mark.parametrize(
    ("field", "name"), [("scheme", "scheme"), ("type", "cardType"), ("storageType", "storageType")]
)
def test_the_lists_are_those_of_the_contract(field: str, name: str) -> None:
    published = SCHEMAS["CardView"]["properties"][field]["enum"]
    assert sorted(published) == sorted(CONTRACT["enums"][name])


@pytest.mark.parametrize(
    ("operation", "field"),
    [
        ("POST /v1/bank-accounts", "sortCode"),
        ("POST /v1/bank-accounts", "accountNumber"),
        ("POST /v1/cards", "cvv"),
        ("POST /v1/cards", "expiry"),
    ],
)
async def test_the_limits_are_those_of_the_contract(
    tenant: "Tenant", operation: str, field: str
) -> None:
    limit = CONTRACT["limits"][field]
    for length in (limit - 1, limit + 1):
        answer = await send(tenant, operation, {**FULL[operation], field: "1" * length})
        assert answer.status_code == 422
        assert f"/{field}" in {fault["pointer"] for fault in answer.json()["errors"]}


async def test_a_bic_has_8_or_11_characters(tenant: "Tenant") -> None:
    operation = "POST /v1/bank-accounts"
    for bic in ("WESTGB2", "WESTGB2L", "WESTGB2L1", "WESTGB2L12", "WESTGB2LXXX", "WESTGB2LXXX1"):
        answer = await send(tenant, operation, {**FULL[operation], "bic": bic})
        assert (answer.status_code == 201) == (len(bic) in CONTRACT["limits"]["bic"]), bic
