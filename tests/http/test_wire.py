"""Wire manners: what goes in, what comes out, and what is said when it does not fit."""

import json
import re
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

if TYPE_CHECKING:
    from tests.conftest import Tenant

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def pointers(answer: httpx2.Response) -> dict[str, str]:
    """Return where something is wrong, and which code says what."""
    assert answer.status_code == 422, answer.text
    return {fault["pointer"]: fault["code"] for fault in answer.json()["errors"]}


async def test_a_creation_answers_201_and_everything_else_200(tenant: "Tenant") -> None:
    customer = await tenant.new_customer()
    for method, path, body in (
        ("GET", f"/v1/customers/{customer}", None),
        ("PATCH", f"/v1/customers/{customer}", {"name": "Ada"}),
        ("PATCH", f"/v1/customers/{customer}/state", {"toStateId": "DISABLED"}),
        ("GET", f"/v1/customers/{customer}/transitions", None),
        ("GET", "/v1/customers", None),
    ):
        assert (await tenant.call(method, path, body)).status_code == 200, path
    revoked = await tenant.call("DELETE", f"/v1/customers/{customer}/tokens", token=tenant.key)
    assert revoked.status_code == 200


async def test_timestamps_are_rfc_3339_with_milliseconds_and_z(tenant: "Tenant") -> None:
    customer = (await tenant.call("POST", "/v1/customers", {"type": "INDIVIDUAL"})).json()
    assert TIMESTAMP.fullmatch(customer["createdAt"])
    assert TIMESTAMP.fullmatch(customer["updatedAt"])


async def test_every_response_carries_a_request_id(
    tenant: "Tenant", client: httpx2.AsyncClient
) -> None:
    for answer in (
        await tenant.call("GET", "/v1/customers"),
        await tenant.call("GET", "/v1/customers", token="wrong"),  # noqa: S106 - wrong on purpose
        await client.get("/nowhere"),
        await client.get("/healthz"),
        await client.put("/v1/customers"),
    ):
        assert answer.headers["x-request-id"]
    problem = await client.get("/nowhere")
    assert problem.json()["requestId"] == problem.headers["x-request-id"]


@pytest.mark.parametrize(
    ("sent", "kept"),
    [("trace-0123456789", True), ("short", False), ("a b c d e f g h", False), ("x" * 200, False)],
)
async def test_a_harmless_request_id_of_the_caller_is_kept(
    tenant: "Tenant", sent: str, *, kept: bool
) -> None:
    answer = await tenant.call("GET", "/v1/customers", X_Request_Id=sent)
    assert (answer.headers["x-request-id"] == sent) is kept


async def test_a_problem_is_a_problem_document(tenant: "Tenant") -> None:
    answer = await tenant.call("GET", "/v1/customers/nonsense")
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert {"type", "title", "status", "detail", "code", "requestId"} <= set(problem)
    assert (problem["status"], problem["code"]) == (400, "malformed_id")


async def test_all_faults_of_a_body_are_reported_at_once(tenant: "Tenant") -> None:
    body = {
        "type": "MARTIAN",
        "name": 5,
        "email": "nobody",
        "phone": "0123",
        "address": {"street": "", "countryISO": "XX"},
        "tags": ["fine", "", 7],
        "annotations": {"a": "x" * 501, "b": None},
        "nmae": "Ada",
    }
    answer = await tenant.call("POST", "/v1/customers", body)
    assert pointers(answer) == {
        "/type": "invalid_value",
        "/name": "wrong_type",
        "/email": "invalid_format",
        "/phone": "invalid_format",
        "/address/street": "too_short",
        "/address/countryISO": "invalid_value",
        "/tags/1": "too_short",
        "/tags/2": "wrong_type",
        "/annotations/a": "too_long",
        "/annotations/b": "wrong_type",
        "/nmae": "unknown_field",
    }


async def test_an_unknown_field_is_refused_with_the_nearest_name(tenant: "Tenant") -> None:
    customer = await tenant.new_customer()
    body = {"toStateId": "DISABLED", "fromStateID": "ENABLED"}
    answer = await tenant.call("PATCH", f"/v1/customers/{customer}/state", body)
    assert pointers(answer) == {"/fromStateID": "unknown_field"}
    assert "fromStateId" in answer.json()["detail"]
    unchanged = await tenant.call("GET", f"/v1/customers/{customer}")
    assert unchanged.json()["stateId"] == "ENABLED"


async def test_an_explicit_null_means_absent(tenant: "Tenant") -> None:
    body = {"type": "INDIVIDUAL", "name": None, "tags": None, "address": None}
    answer = await tenant.call("POST", "/v1/customers", body)
    assert answer.status_code == 201
    assert "name" not in answer.json()
    required = await tenant.call("POST", "/v1/customers", {"type": None})
    assert pointers(required) == {"/type": "required"}


NOT_JSON = {
    "nothing": b"",
    "a trailing comma": b'{"type":"INDIVIDUAL",}',
    "a comment": b'{"type":"INDIVIDUAL"} // hello',
    "NaN": b'{"type":NaN}',
    "single quotes": b"{'type':'INDIVIDUAL'}",
    "the same name twice": b'{"type":"INDIVIDUAL","type":"INDIVIDUAL"}',
    "a byte order mark": b'\xef\xbb\xbf{"type":"INDIVIDUAL"}',
    "truncated UTF-8": b'{"type":"\xc3',
    "half an object": b'{"type":"INDIVIDUAL"',
    "deep nesting": b"[" * 30_000,
    "an endless number": b'{"type":' + b"9" * 10_000 + b"}",
}


@pytest.mark.parametrize("body", NOT_JSON.values(), ids=NOT_JSON.keys())
async def test_what_is_no_json_is_refused(tenant: "Tenant", body: bytes) -> None:
    headers = {"X-Token": tenant.token, "Content-Type": "application/json"}
    answer = await tenant._client.post("/v1/customers", content=body, headers=headers)  # noqa: SLF001 - raw bytes
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed_json")


ODD_VALUES: dict[str, Any] = {
    "null": None,
    "a list": [],
    "a number": 1e300,
    "text": "x",
    "a lone surrogate": {"type": "INDIVIDUAL", "name": "\ud800"},
    "a zero character": {"type": "INDIVIDUAL", "name": "a\x00b"},
    "a zero character in a tag": {"type": "INDIVIDUAL", "tags": ["\x00"]},
    "a zero character in a key": {"type": "INDIVIDUAL", "annotations": {"\x00": "x"}},
    "too many tags": {"type": "INDIVIDUAL", "tags": ["x"] * 51},
    "too many annotations": {
        "type": "INDIVIDUAL",
        "annotations": {str(number): "x" for number in range(51)},
    },
}


@pytest.mark.parametrize("value", ODD_VALUES.values(), ids=ODD_VALUES.keys())
async def test_json_that_does_not_fit_is_refused(tenant: "Tenant", value: object) -> None:
    headers = {"X-Token": tenant.token, "Content-Type": "application/json"}
    # Python's own writer, because msgspec refuses lone surrogates.
    content = json.dumps(value).encode()
    answer = await tenant._client.post("/v1/customers", content=content, headers=headers)  # noqa: SLF001 - raw bytes
    assert (answer.status_code, answer.json()["code"]) == (422, "validation_failed")


async def test_a_body_is_at_most_64_kib(tenant: "Tenant") -> None:
    headers = {"X-Token": tenant.token, "Content-Type": "application/json"}
    largest = b'{"type":"INDIVIDUAL"' + b" " * (64 * 1024 - 21) + b"}"

    async def send(content: Any) -> httpx2.Response:
        return await tenant._client.post("/v1/customers", content=content, headers=headers)  # noqa: SLF001 - raw bytes

    async def in_pieces() -> Any:
        for _ in range(70):
            yield b" " * 1024

    assert (await send(largest)).status_code == 201
    assert (await send(largest + b" ")).json()["code"] == "body_too_large"
    assert (await send(in_pieces())).status_code == 413


@pytest.mark.parametrize(
    "media_type", ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""]
)
async def test_a_body_must_be_declared_as_json(tenant: "Tenant", media_type: str) -> None:
    answer = await tenant.call(
        "POST", "/v1/customers", {"type": "INDIVIDUAL"}, Content_Type=media_type
    )
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


async def test_json_with_a_charset_is_json(tenant: "Tenant") -> None:
    answer = await tenant.call(
        "POST",
        "/v1/customers",
        {"type": "INDIVIDUAL"},
        Content_Type="Application/JSON; charset=utf-8",
    )
    assert answer.status_code == 201


async def test_an_identifier_may_have_its_slash_plain_or_encoded(tenant: "Tenant") -> None:
    customer = await tenant.new_customer()
    plain = await tenant.call("GET", f"/v1/customers/{customer}")
    encoded = await tenant.call("GET", f"/v1/customers/{customer.replace('/', '%2F')}")
    assert plain.json() == encoded.json()
    moved = await tenant.call(
        "PATCH", f"/v1/customers/{customer.replace('/', '%2f')}/state", {"toStateId": "DISABLED"}
    )
    assert moved.json()["stateId"] == "DISABLED"


@pytest.mark.parametrize(
    "wrong",
    [
        "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
        "account/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
        "customer/0190A1B2-C3D4-7E5F-8A9B-0C1D2E3F4A5B",
        "customer/0190a1b2c3d47e5f8a9b0c1d2e3f4a5b",
        "customer/{0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b}",
        "customer%252F0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
        "customer/",
        "%00",
        "customer/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b/more",
    ],
)
async def test_an_identifier_of_another_form_gets_an_error_that_names_the_right_one(
    tenant: "Tenant", wrong: str
) -> None:
    answer = await tenant.call("GET", f"/v1/customers/{wrong}")
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed_id")
    assert "customer/<uuid>" in answer.json()["detail"]


async def test_an_address_that_takes_another_method_says_which(
    client: httpx2.AsyncClient,
) -> None:
    for path, allowed in (("/v1/customers", "GET, POST"), ("/healthz", "GET"), ("/docs", "GET")):
        answer = await client.put(path)
        assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
        assert answer.headers["allow"] == allowed


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("limit=0", {"?limit": "invalid_value"}),
        ("limit=101", {"?limit": "invalid_value"}),
        ("limit=ten", {"?limit": "wrong_type"}),
        ("limit=٣", {"?limit": "wrong_type"}),
        ("limit=1&limit=2", {"?limit": "duplicate"}),
        ("cursor=nonsense", {"?cursor": "invalid_format"}),
        ("stateId=BROKEN", {"?stateId": "invalid_value"}),
        ("createdFrom=yesterday", {"?createdFrom": "invalid_format"}),
        ("createdFrom=2026-01-01T00:00:00", {"?createdFrom": "invalid_format"}),
        ("tag=", {"?tag": "too_short"}),
        ("tag=%00", {"?tag": "invalid_characters"}),
        ("annotation.=x", {"?annotation.": "too_short"}),
        ("stateid=ENABLED&limit=0", {"?stateid": "unknown_field", "?limit": "invalid_value"}),
    ],
)
async def test_a_query_that_does_not_fit_is_refused(
    tenant: "Tenant", query: str, expected: dict[str, str]
) -> None:
    assert pointers(await tenant.call("GET", f"/v1/customers?{query}")) == expected


async def test_a_query_on_an_operation_that_takes_none_is_refused(tenant: "Tenant") -> None:
    customer = await tenant.new_customer()
    answer = await tenant.call("GET", f"/v1/customers/{customer}?dryRun=true")
    assert pointers(answer) == {"?dryRun": "unknown_field"}


async def test_a_long_number_in_a_name_is_not_repeated(tenant: "Tenant") -> None:
    body = {"type": "INDIVIDUAL", "4242424242424242": "x", "annotations": {"5555555555554444": 1}}
    answer = await tenant.call("POST", "/v1/customers", body)
    assert answer.status_code == 422
    assert "4242" not in answer.text
    assert "5555" not in answer.text
