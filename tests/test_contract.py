"""The frozen contract, item by item, against the running service and what it publishes."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import pytest_asyncio
from tests import payments
from tests.http.published import DOCUMENT

from farthing.catalog import MACHINES
from farthing.http.service import Service

if TYPE_CHECKING:
    from tests.conftest import Tenant

CONTRACT = json.loads((Path(__file__).parent / "contract.json").read_text("utf-8"))
SCHEMAS = DOCUMENT["components"]["schemas"]
NOUNS = {"bankAccount": "bank_account", "card": "card", "transaction": "transaction"}
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


@pytest.mark.parametrize("operation", CONTRACT["requests"])
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


# Transactions.

MOVE = "PATCH /v1/tx/{id}/state"
TO_STATES = CONTRACT["transition"]["toStateId"]
FROM_STATES = CONTRACT["transition"]["fromStateId"]
STATES = CONTRACT["states"]["transaction"]
# Everything that somebody could take for a state.
WORDS = sorted({*TO_STATES, *FROM_STATES, *STATES, "pending", "Held", "REFUNDED", "SETTLED", ""})
DETAILS = {
    "description": "Rent for May",
    "groupId": "flat-7",
    "tags": ["t"],
    "annotations": {"a": "b"},
}


@dataclass(frozen=True)
class Bank:
    """A customer with two accounts, money in the first, and ways to pay in and out."""

    tenant: "Tenant"
    service: Service
    customer: str
    account: str
    other: str

    async def pay_in(self, **more: Any) -> dict[str, Any]:
        """Announce a bank transfer, which waits in PENDING."""
        body = {"accountId": self.account, "amount": "500", "method": "bankAccount"}
        made = {**body, "purpose": "DEPOSIT", **more}
        return await payments.create(self.tenant.call, "/v1/tx/inbound", made)

    async def pay_out(self, **more: Any) -> dict[str, Any]:
        body = {"accountId": self.account, "amount": "500", "method": "bankAccount"}
        made = {**body, "purpose": "WITHDRAWAL", **more}
        return await payments.create(self.tenant.call, "/v1/tx/outbound", made)

    async def transfer(self, **more: Any) -> dict[str, Any]:
        body = {"fromAccountId": self.account, "toAccountId": self.other, "amount": "500"}
        made = {**body, "purpose": "TRANSFER", **more}
        return await payments.create(self.tenant.call, "/v1/tx/internal", made)

    async def move(self, tx: dict[str, Any], *, operator: bool = False, **body: Any) -> Any:
        path = f"/v1/tx/{payments.in_path(tx['id'])}/state"
        token = self.tenant.operator if operator else self.tenant.token
        return await self.tenant.call("PATCH", path, body, token=token)

    async def read(self, tx: dict[str, Any]) -> dict[str, Any]:
        answer = await self.tenant.call("GET", f"/v1/tx/{payments.in_path(tx['id'])}")
        shown: dict[str, Any] = answer.json()
        return shown


@pytest_asyncio.fixture
async def bank(tenant: "Tenant", service: Service) -> Bank:
    customer = await tenant.new_customer()
    account, other = await tenant.new_account(customer), await tenant.new_account(customer)
    await payments.furnish(service, tenant.call, {"accountId": account})
    return Bank(tenant, service, customer, account, other)


def pointers(answer: Any) -> set[str]:
    return {fault["pointer"] for fault in answer.json().get("errors", ())}


def test_the_states_that_a_transition_names_are_published_in_their_order() -> None:
    fields = request_schema(MOVE)["properties"]
    assert fields["toStateId"]["enum"] == TO_STATES
    # An explicit null means absent.
    assert fields["fromStateId"]["enum"] == [*FROM_STATES, None]


async def test_a_transition_goes_to_exactly_the_states_of_the_contract(bank: Bank) -> None:
    tx = await bank.pay_in()
    for word in (*WORDS, None):
        answer = await bank.move(tx, toStateId=word, fromStateId="ACCEPTED")
        if word in TO_STATES:
            assert (answer.status_code, answer.json()["code"]) == (409, "state_mismatch"), word
        else:
            assert (answer.status_code, pointers(answer)) == (422, {"/toStateId"}), word
    assert await bank.read(tx) == tx


async def test_a_transition_comes_from_exactly_the_states_of_the_contract(bank: Bank) -> None:
    tx = await bank.pay_in()
    for word in (*WORDS, None):
        answer = await bank.move(tx, toStateId="ERRORED", fromStateId=word)
        if word in {"PENDING", None}:
            # It is PENDING; that a client cannot say that it went astray is another matter.
            said = (409, "transition_not_allowed")
            assert (answer.status_code, answer.json()["code"]) == said, word
        elif word in FROM_STATES:
            assert (answer.status_code, answer.json()["code"]) == (409, "state_mismatch"), word
            assert answer.json()["currentStateId"] == "PENDING"
        else:
            assert (answer.status_code, pointers(answer)) == (422, {"/fromStateId"}), word
    assert await bank.read(tx) == tx


async def test_a_request_says_chargeback_for_what_an_answer_calls_disputed(bank: Bank) -> None:
    paid = await payments.charge(bank.service, bank.tenant.call, bank.account)
    disputed = await payments.dispute(bank.service, bank.tenant.id, paid["id"])
    assert disputed["stateId"] == "DISPUTED"
    assert (await bank.read(paid))["stateId"] == "DISPUTED"
    for field in ("fromStateId", "toStateId"):
        sent = {"toStateId": "EFFECTED", field: "DISPUTED"}
        refused = await bank.move(paid, operator=True, **sent)
        assert (refused.status_code, pointers(refused)) == (422, {f"/{field}"})
    for expected in set(FROM_STATES) - {"CHARGEBACK"}:
        refused = await bank.move(paid, operator=True, fromStateId=expected, toStateId="EFFECTED")
        assert (refused.status_code, refused.json()["code"]) == (409, "state_mismatch")
        assert refused.json()["currentStateId"] == "DISPUTED"
    won = await bank.move(paid, operator=True, fromStateId="CHARGEBACK", toStateId="EFFECTED")
    assert (won.status_code, won.json()["stateId"]) == (200, "EFFECTED")


async def test_no_answer_calls_a_state_chargeback(bank: Bank, client: httpx2.AsyncClient) -> None:
    paid = await payments.charge(bank.service, bank.tenant.call, bank.account)
    await payments.dispute(bank.service, bank.tenant.id, paid["id"])
    path = f"/v1/tx/{payments.in_path(paid['id'])}"
    disputed = await bank.tenant.call("GET", "/v1/tx?stateId=DISPUTED")
    assert [one["id"] for one in disputed.json()["results"]] == [paid["id"]]
    refused = await bank.tenant.call("GET", "/v1/tx?stateId=CHARGEBACK")
    assert (refused.status_code, pointers(refused)) == (422, {"?stateId"})
    lost = {"toStateId": "EFFECTED", "fromStateId": "CHARGEBACK"}
    for answer in (
        disputed,
        await bank.tenant.call("GET", f"{path}?include=accounts,entries,transitions"),
        await bank.tenant.call("GET", f"{path}/transitions", token=bank.tenant.operator),
        await bank.tenant.call("PATCH", f"{path}/state", lost),
        await client.get("/v1/machines"),
    ):
        assert "DISPUTED" in answer.text
        assert "CHARGEBACK" not in answer.text
    events = await bank.service.pool.fetch(
        "SELECT type, data::text AS data FROM events WHERE tenant_id = $1", bank.tenant.id
    )
    said = {one["type"] for one in events}
    assert "transaction.disputed" in said
    assert "transaction.chargeback" not in said
    assert not [one for one in events if '"CHARGEBACK"' in one["data"]]
    for name, schema in SCHEMAS.items():
        listed = schema.get("properties", {}).get("stateId", {}).get("enum", ())
        assert "CHARGEBACK" not in listed, name


async def test_a_transition_with_only_the_required_field_succeeds(bank: Bank) -> None:
    required = CONTRACT["requests"][MOVE]["required"]
    assert required == ["toStateId"]
    tx = await bank.pay_in()
    missing = await bank.move(tx)
    assert (missing.status_code, pointers(missing)) == (422, {"/toStateId"})
    moved = await bank.move(tx, toStateId="CANCELLED")
    assert (moved.status_code, moved.json()["stateId"]) == (200, "CANCELLED")


async def test_a_transition_takes_every_field_of_the_contract(bank: Bank) -> None:
    sent: dict[str, Any] = {"tags": ["late"], "annotations": {"c": "d"}}
    tx = await bank.transfer(**DETAILS)
    adjustment = {"adjustment": {"adjustmentAmount": "200"}}
    adjusting: dict[str, Any] = {
        "toStateId": "ADJUSTED",
        "fromStateId": "EFFECTED",
        "options": adjustment,
    }
    adjusted = await bank.move(tx, **adjusting, **sent)
    assert adjusted.status_code == 200, adjusted.text
    assert adjusted.json()["tags"] == ["t", "late"]
    assert adjusted.json()["annotations"] == {"a": "b", "c": "d"}
    await payments.dispute(bank.service, bank.tenant.id, tx["id"], 250)
    losing: dict[str, Any] = {
        "toStateId": "ADJUSTED",
        "fromStateId": "CHARGEBACK",
        "options": {"amount": "100"},
    }
    lost = await bank.move(tx, operator=True, **losing, **sent)
    assert lost.status_code == 200, lost.text
    shown = [(one["type"], one["amount"]) for one in lost.json()["adjustments"]]
    assert shown == [("REFUND", "200"), ("CHARGEBACK", "100")]
    options = {"options.adjustment.adjustmentAmount", "options.amount"}
    assert {*adjusting, *sent} - {"options"} | options == set(flat(request_schema(MOVE)))


async def test_an_adjustment_needs_its_amount(bank: Bank) -> None:
    tx = await bank.transfer()
    absent: list[dict[str, Any] | None] = [None, {}, {"adjustment": None}, {"adjustment": {}}]
    for options in absent:
        refused = await bank.move(tx, toStateId="ADJUSTED", options=options)
        where = {"/options/adjustment/adjustmentAmount"}
        assert (refused.status_code, pointers(refused)) == (422, where), options
    assert await bank.read(tx) == tx


async def test_a_transaction_has_the_documented_fields_and_no_others(bank: Bank) -> None:
    documented = set(CONTRACT["responseFields"]["transaction"])
    assert set(SCHEMAS["TransactionView"]["properties"]) == documented
    made = await bank.pay_out(reference="FLAT 7", **DETAILS)
    assert set(made) == documented
    await payments.idle(bank.service)
    adjusted = await bank.move(
        made,
        operator=True,
        toStateId="ADJUSTED",
        options={"adjustment": {"adjustmentAmount": "1"}},
    )
    # The three operations, and reading, show the same.
    for shown in (adjusted.json(), await bank.read(made)):
        assert set(shown) == documented
        assert shown["stateId"] == "ADJUSTED"
        (adjustment,) = shown["adjustments"]
        assert set(adjustment) == {"id", "type", "amount", "createdAt"}
        assert (adjustment["type"], adjustment["amount"]) == ("REFUND", "1")
    updated = await bank.tenant.call(
        "PATCH", f"/v1/tx/{payments.in_path(made['id'])}", {"tags": ["u"]}
    )
    assert set(updated.json()) == documented
    disputed = await payments.dispute(bank.service, bank.tenant.id, (await bank.transfer())["id"])
    lost = await bank.move(disputed, operator=True, toStateId="ADJUSTED")
    (chargeback,) = lost.json()["adjustments"]
    assert set(chargeback) <= {"id", "type", "amount", "reason", "createdAt"}
    assert chargeback["type"] == "CHARGEBACK"


async def test_a_transaction_leaves_out_what_is_absent_and_nothing_else(bank: Bank) -> None:
    absent = {"paymentInstrumentId", "description", "groupId", "reference"}
    for made in (await bank.pay_in(), await bank.transfer()):
        assert set(made) == set(CONTRACT["responseFields"]["transaction"]) - absent
        assert (made["tags"], made["annotations"]) == ([], {})
        assert (made["adjustments"], made["requirements"]) == ([], {})


@pytest.mark.parametrize("field", ["purpose", "flow", "method"])
def test_the_lists_of_a_transaction_are_those_of_the_contract(field: str) -> None:
    assert SCHEMAS["TransactionView"]["properties"][field]["enum"] == CONTRACT["enums"][field]
    sent = set()
    for way in ("inbound", "outbound", "internal"):
        fields = request_schema(f"POST /v1/tx/{way}")["properties"]
        sent |= set(fields.get(field, {}).get("enum", ()))
    # The flow follows from the address, and money within the platform has one method.
    assert sent <= set(CONTRACT["enums"][field])


async def test_every_purpose_flow_and_method_occurs_as_it_is_written(bank: Bank) -> None:
    paid = await payments.charge(bank.service, bank.tenant.call, bank.account)
    every = [
        paid,
        await bank.pay_in(purpose="PURCHASE"),
        await bank.pay_in(),
        await bank.pay_out(),
        await bank.transfer(),
        await bank.transfer(purpose="PURCHASE"),
    ]
    for field in ("purpose", "flow", "method"):
        assert {one[field] for one in every} == set(CONTRACT["enums"][field])


@pytest.mark.parametrize("way", ["inbound", "outbound", "internal"])
async def test_a_description_holds_140_characters_and_not_bytes(bank: Bank, way: str) -> None:
    make = {"inbound": bank.pay_in, "outbound": bank.pay_out, "internal": bank.transfer}[way]
    most = CONTRACT["limits"]["description"]
    fields = request_schema(f"POST /v1/tx/{way}")["properties"]
    assert fields["description"]["maxLength"] == most
    accent = "e\N{COMBINING ACUTE ACCENT}"
    for text in ("x" * most, "😀" * most, accent * (most // 2), "é" * most, "字" * most):
        made = await make(description=text, amount="1")
        assert made["description"] == text
        assert (await bank.read(made))["description"] == text
    for text in ("x" * (most + 1), "😀" * (most + 1), accent * (most // 2) + "x"):
        body = {"amount": "1", "purpose": "WITHDRAWAL", "description": text}
        refused = await bank.tenant.call("POST", f"/v1/tx/{way}", body)
        codes = {fault["pointer"]: fault["code"] for fault in refused.json()["errors"]}
        assert codes["/description"] == "too_long"


OF_ONE = [("GET", ""), ("PATCH", ""), ("PATCH", "/state"), ("GET", "/transitions")]


@pytest.mark.parametrize(("method", "ending"), OF_ONE)
async def test_a_transaction_is_tx_in_a_path_and_transaction_everywhere_else(
    bank: Bank, method: str, ending: str
) -> None:
    made = await bank.pay_in()
    noun, _, uuid = made["id"].partition("/")
    assert noun == CONTRACT["ids"]["transaction"].partition("/")[0] == "transaction"
    right = CONTRACT["ids"]["transactionInPath"]
    body = {"/state": {"toStateId": "CANCELLED"}, "": {"tags": ["x"]}}.get(ending)
    sent = body if method == "PATCH" else None
    for wrong in (uuid, f"transaction/{uuid}", f"transaction%2F{uuid}", f"tx%252F{uuid}"):
        refused = await bank.tenant.call(method, f"/v1/tx/{wrong}{ending}", sent)
        assert (refused.status_code, refused.json()["code"]) == (400, "malformed_id"), wrong
        assert right in refused.json()["detail"]
    assert await bank.read(made) == made
    answers = []
    for slash in ("/", "%2F", "%2f"):
        fresh = await bank.pay_in() if sent else made
        path = f"/v1/tx/tx{slash}{fresh['id'].partition('/')[2]}{ending}"
        answer = await bank.tenant.call(method, path, sent)
        assert answer.status_code == 200, answer.text
        assert answer.json().get("id", fresh["id"]) == fresh["id"]
        answers.append(answer.json())
    assert len({answer["stateId"] for answer in answers}) == 1


@pytest.mark.parametrize(
    "amount", ["0", "00", "01", "-1", "+1", "1.0", "1e3", "", " 1", "1 ", "9" * 19, 5, 5.0, True]
)
async def test_an_amount_is_a_string_of_the_smallest_unit(bank: Bank, amount: Any) -> None:
    tx = await bank.transfer()
    for way, sides in (
        ("inbound", {"accountId": bank.account, "method": "bankAccount", "purpose": "DEPOSIT"}),
        ("outbound", {"accountId": bank.account, "method": "bankAccount", "purpose": "WITHDRAWAL"}),
        (
            "internal",
            {"fromAccountId": bank.account, "toAccountId": bank.other, "purpose": "TRANSFER"},
        ),
    ):
        answer = await bank.tenant.call("POST", f"/v1/tx/{way}", {**sides, "amount": amount})
        assert (answer.status_code, pointers(answer)) == (422, {"/amount"}), way
    options = {"adjustment": {"adjustmentAmount": amount}}
    answer = await bank.move(tx, toStateId="ADJUSTED", options=options)
    where = {"/options/adjustment/adjustmentAmount"}
    assert (answer.status_code, pointers(answer)) == (422, where)
    if amount != "0":  # of a dispute, nothing can be lost
        answer = await bank.move(tx, toStateId="ADJUSTED", options={"amount": amount})
        assert (answer.status_code, pointers(answer)) == (422, {"/options/amount"})


async def test_the_largest_amount_is_told_to_the_last_digit(bank: Bank) -> None:
    for amount in ("1", "9" * 18, "9007199254740993"):
        made = await bank.pay_in(amount=amount)
        assert (made["amount"], (await bank.read(made))["amount"]) == (amount, amount)
