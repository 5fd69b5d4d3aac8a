"""Bad input: whatever is sent, the answer names what is wrong, and nothing is written."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING

import httpx2
import pytest
import pytest_asyncio
from tests.conftest import make_tenant
from tests.http import published
from tests.http.bad_addresses import (
    BAD_KEYS,
    BAD_REQUEST_IDS,
    BAD_TENANTS,
    BAD_TOKENS,
    JUNK,
    bad_ids,
    bad_parameters,
)
from tests.http.bad_fields import FIELDS, PLACES, Place, right_values, wrong_values
from tests.http.bad_instruments import BANK_ACCOUNTS, CARDS, IBANS, MOMENTS, Case
from tests.http.bad_json import not_json, odd_json
from tests.http.bad_texts import (
    BAD_LABELS,
    BAD_NAMES,
    FAR_TOO_MUCH,
    MARK,
    NUMBER,
    UNSPEAKABLE,
)
from tests.http.bad_wire import Range
from tests.http.stage import Clock

from farthing.catalog import OBJECTS, OPERATIONS
from farthing.core.ids import UUID_PATTERN
from farthing.core.operation import Operation
from farthing.http.app import build
from farthing.http.service import Service

if TYPE_CHECKING:
    from starlette.types import ASGIApp
    from tests.conftest import Database

with_a_body = pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if one.body is not None], ids=lambda one: one.id
)
every_operation = pytest.mark.parametrize("operation", published.OPERATIONS, ids=lambda one: one.id)

BY_ID = {one.id: one for one in OPERATIONS}
WRONG = {"invalid_characters", "invalid_format", "invalid_value", "too_long", "too_short"}
FULL_WIDTH = "４２４２４２４２４２４２４２４２"  # noqa: RUF001 - it is meant to look alike


def browse(app: "ASGIApp") -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app=app)
    return httpx2.AsyncClient(transport=transport, base_url="http://farthing.test")


@pytest_asyncio.fixture(scope="module")
async def shots(app: "ASGIApp", service: Service) -> AsyncIterator[Range]:
    # One tenant is shot at with more webhooks and rules than a tenant may have.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("farthing.resources.webhooks.actions.MOST_WEBHOOKS", 10_000)
        patch.setattr("farthing.resources.rules.actions.MOST_ENABLED", 10_000)
        async with browse(app) as client:
            yield Range(app, service, await make_tenant(service, client))


@pytest.mark.parametrize("place", [one for one in FIELDS if one.required], ids=str)
async def test_a_field_that_must_be_given_is_missed_at_its_place(
    shots: Range, place: Place
) -> None:
    target = await shots.target(place.operation)
    before = await shots.written()
    for body in (place.left_out(target.body), place.put(target.body, None)):
        reply = await target.send(body)
        assert (reply.status, reply.code) == (422, "validation_failed")
        assert reply.faults == [(place.pointer, "required")]
    assert await shots.written() == before


@pytest.mark.slow
@pytest.mark.parametrize("place", [one for one in FIELDS if not one.required], ids=str)
async def test_an_optional_field_that_is_null_counts_as_absent(shots: Range, place: Place) -> None:
    absent = await shots.fresh_target(place.operation)
    null = await shots.fresh_target(place.operation)
    expected = await absent.send(place.left_out(absent.body))
    reply = await null.send(place.put(null.body, None))
    assert (reply.status, reply.faults) == (expected.status, expected.faults)


@with_a_body
async def test_everything_that_is_optional_may_be_null_at_once(
    shots: Range, operation: Operation
) -> None:
    target = await shots.fresh_target(operation)
    body = target.body
    for place in [one for one in FIELDS if one.operation is operation and not one.required]:
        if len(place.path) == 1:
            body = place.put(body, None)
    reply = await target.send(body)
    # Of what can be sent again, or tried, exactly one must be named.
    picky = {"webhooks.resend", "rules.test"}
    expected = 422 if operation.id in picky else operation.status
    assert reply.status == expected, reply.text


@pytest.mark.parametrize("place", PLACES, ids=str)
async def test_a_wrong_value_is_refused_at_its_place_and_never_repeated(
    shots: Range, place: Place
) -> None:
    target = await shots.target(place.operation)
    before = await shots.written()
    for name, value in wrong_values(place):
        reply = await target.send(place.put(target.body, value))
        assert (reply.status, reply.code) == (422, "validation_failed"), name
        codes = {code for pointer, code in reply.faults if pointer == place.pointer}
        if isinstance(value, str) and place.is_text:
            assert codes & WRONG, (name, reply.text)
        else:
            by_number = {"too many": "too_many", "too few": "too_few"}
            assert codes == {by_number.get(name, "wrong_type")}, name
        assert MARK not in reply.text, name
        assert str(NUMBER) not in reply.text, name
    assert await shots.written() == before


@pytest.mark.parametrize("place", [one for one in PLACES if one.is_text], ids=str)
async def test_a_value_that_no_body_can_hold_is_refused_unread(shots: Range, place: Place) -> None:
    target = await shots.target(place.operation)
    before = await shots.written()
    reply = await target.send(place.put(target.body, MARK + "x" * FAR_TOO_MUCH))
    assert (reply.status, reply.code) == (413, "body_too_large")
    assert MARK not in reply.text
    assert await shots.written() == before


@pytest.mark.slow
@pytest.mark.parametrize("place", [one for one in PLACES if one.is_free], ids=str)
async def test_a_free_text_takes_everything_that_can_be_read(shots: Range, place: Place) -> None:
    for name, value in right_values(place):
        target = await shots.fresh_target(place.operation)
        reply = await target.send(place.put(target.body, value))
        assert reply.status == place.operation.status, (name, reply.text)


@with_a_body
async def test_what_is_no_json_is_refused_by_every_operation(
    shots: Range, operation: Operation
) -> None:
    target = await shots.target(operation)
    before = await shots.written()
    for name, content in not_json(target.body).items():
        reply = await target.send_bytes(content)
        assert (reply.status, reply.code) == (400, "malformed_json"), (name, reply.text)
    assert await shots.written() == before


@pytest.mark.slow
@with_a_body
async def test_json_that_fits_nowhere_is_refused_by_every_operation(
    shots: Range, operation: Operation
) -> None:
    target = await shots.target(operation)
    before = await shots.written()
    for name, content in odd_json(target.body).items():
        reply = await target.send_bytes(content)
        assert reply.code in {"malformed_json", "validation_failed"}, (name, reply.text)
    assert await shots.written() == before


@with_a_body
async def test_a_name_that_nobody_knows_is_refused_at_its_place(
    shots: Range, operation: Operation
) -> None:
    target = await shots.target(operation)
    before = await shots.written()
    objects = [one for one in PLACES if one.operation is operation and one.is_object]
    for name, pointer in BAD_NAMES.items():
        reply = await target.send({**target.body, name: MARK})
        assert (pointer, "unknown_field") in reply.faults, (name, reply.text)
        for place in objects:
            reply = await target.send(place.put(target.body, {**place.sample, name: MARK}))
            assert (place.pointer + pointer, "unknown_field") in reply.faults, (name, reply.text)
            assert MARK not in reply.text
    assert await shots.written() == before


@pytest.mark.parametrize("place", [one for one in PLACES if one.is_map], ids=str)
async def test_a_name_that_an_annotation_cannot_have_is_refused_at_its_place(
    shots: Range, place: Place
) -> None:
    target = await shots.target(place.operation)
    before = await shots.written()
    for name, (pointer, code) in BAD_LABELS.items():
        reply = await target.send(place.put(target.body, {name: "x"}))
        assert (place.pointer + pointer, code) in reply.faults, (name, reply.text)
    assert await shots.written() == before


@with_a_body
async def test_a_name_that_is_no_unicode_is_refused_like_any_other(
    shots: Range, operation: Operation
) -> None:
    target = await shots.target(operation)
    before = await shots.written()
    for name in UNSPEAKABLE:
        reply = await target.send({**target.body, name: MARK})
        assert [code for _, code in reply.faults] == ["unknown_field"], name
        for place in [one for one in PLACES if one.operation is operation and one.is_map]:
            reply = await target.send(place.put(target.body, {name: "x"}))
            assert [code for _, code in reply.faults] == ["invalid_characters"], name
    assert await shots.written() == before


@with_a_body
@pytest.mark.parametrize(
    "number",
    ["4242424242424242", "4242 4242 4242 4242", "4242-4242-4242-4242", FULL_WIDTH],
)
async def test_a_card_number_in_the_place_of_a_name_is_not_repeated(
    shots: Range, operation: Operation, number: str
) -> None:
    target = await shots.target(operation)
    for body in ({**target.body, number: "x"}, {**target.body, "annotations": {number: 1}}):
        reply = await target.send(body)
        assert reply.status == 422
        assert number not in reply.text


@with_a_body
async def test_a_body_of_another_media_type_is_refused_by_every_operation(
    shots: Range, operation: Operation
) -> None:
    target = await shots.target(operation)
    before = await shots.written()
    body = json.dumps(target.body).encode()
    for media_type in (
        b"text/plain",
        b"",
        b"application/json\x00",
        b"application/\xff",
        b"x" * 9999,
    ):
        reply = await target.send_bytes(body, content_type=media_type)
        assert (reply.status, reply.code) == (415, "unsupported_media_type"), media_type
    assert await shots.written() == before


@pytest.mark.parametrize("length", [b"-1", b"", b"many", b"0x10", "٣".encode(), b"1" * 5000])
async def test_a_length_that_is_a_lie_breaks_nothing(shots: Range, length: bytes) -> None:
    for operation in [one for one in OPERATIONS if one.writes]:
        target = await shots.target(operation)
        reply = await target.send_bytes(b"{", content_length=length)
        assert reply.status < 500


@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if one.noun is not None], ids=lambda one: one.id
)
async def test_an_identifier_of_another_form_is_refused_by_every_operation(
    shots: Range, operation: Operation
) -> None:
    target = await shots.target(operation)
    before = await shots.written()
    body = json.dumps(target.body).encode()
    let_in = {}
    for name, text in bad_ids(str(operation.noun)).items():
        elsewhere = replace(target, address=operation.path.replace("{id}", text))
        reply = await elsewhere.send_bytes(body)
        if (reply.status, reply.code) != (400, "malformed_id"):
            let_in[name] = (reply.status, reply.code)
    assert let_in == {}
    assert await shots.written() == before


@every_operation
async def test_a_query_that_does_not_fit_is_refused_by_every_operation(
    shots: Range, operation: Operation
) -> None:
    target = await shots.target(operation)
    before = await shots.written()
    body = json.dumps(target.body).encode()
    unknown = [("unheardOf", what, f"unheardOf={text}") for what, text in JUNK.items()]
    let_in = {}
    for name, what, query in (*bad_parameters(operation), *unknown):
        reply = await replace(target, address=f"{target.address}?{query}").send_bytes(body)
        if reply.status != 422 or f"?{name}" not in [pointer for pointer, _ in reply.faults]:
            let_in[name, what] = (reply.status, reply.text)
    assert let_in == {}
    assert await shots.written() == before


@pytest.mark.slow
@every_operation
async def test_a_query_of_nothing_but_junk_breaks_no_operation(
    shots: Range, operation: Operation
) -> None:
    target = await shots.target(operation)
    for name, text in JUNK.items():
        for query in (text, f"{text}={text}", f"annotation.{text}={text}", f"&&=&{text}&"):
            reply = await replace(target, address=f"{target.address}?{query}").send_bytes(b"")
            assert reply.status < 500, (name, reply.text)


@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if one.who], ids=lambda one: one.id
)
async def test_what_is_no_credential_opens_no_operation(shots: Range, operation: Operation) -> None:
    target = await shots.target(operation)
    before = await shots.written()
    body = json.dumps(target.body).encode()
    for name, token in BAD_TOKENS.items():
        reply = await target.send_bytes(body, x_token=token)
        assert (reply.status, reply.code) == (401, "unauthenticated"), name
    assert await shots.written() == before


@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if one.writes], ids=lambda one: one.id
)
async def test_what_is_no_key_for_idempotency_is_refused_by_every_write(
    shots: Range, operation: Operation
) -> None:
    target = await shots.target(operation)
    before = await shots.written()
    body = json.dumps(target.body).encode()
    for name, key in BAD_KEYS.items():
        reply = await target.send_bytes(body, idempotency_key=key)
        assert (reply.status, reply.faults) == (422, [("Idempotency-Key", "invalid_format")]), name
    assert await shots.written() == before


@every_operation
async def test_a_request_id_that_could_do_harm_is_replaced(
    shots: Range, operation: Operation
) -> None:
    target = await shots.target(operation)
    for name, sent in BAD_REQUEST_IDS.items():
        reply = await target.send_bytes(b"{", x_request_id=sent)
        assert re.fullmatch(f"req-{UUID_PATTERN}", reply.headers["x-request-id"]), name


@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if one.who], ids=lambda one: one.id
)
async def test_what_is_no_tenant_is_refused_by_every_operation(
    shots: Range, operation: Operation
) -> None:
    target = await shots.target(operation)
    before = await shots.written()
    body = json.dumps(target.body).encode()
    for name, named in BAD_TENANTS.items():
        reply = await target.send_bytes(body, x_tenant=named)
        assert (reply.status, reply.code) == (403, "forbidden"), name
        if operation.noun not in OBJECTS and not operation.of_house:
            operator = shots.tenant.operator.encode()
            reply = await target.send_bytes(body, x_tenant=named, x_token=operator)
            assert (reply.status, reply.faults) == (422, [("X-Tenant", "required")]), name
    assert await shots.written() == before


@every_operation
async def test_an_address_with_something_behind_it_is_another_address(
    shots: Range, operation: Operation
) -> None:
    target = await shots.target(operation)
    before = await shots.written()
    body = json.dumps(target.body).encode()
    for more in ("%0A", "%0D%0A", "%00", "%20", "/", "//", ";a=b", ".json", "%3F"):
        reply = await replace(target, address=target.address + more).send_bytes(body)
        assert reply.status in {400, 404, 405}, more
    assert await shots.written() == before


@pytest.mark.parametrize("case", BANK_ACCOUNTS, ids=str)
async def test_a_bank_account_that_cannot_be_is_refused_with_the_reason(
    shots: Range, case: Case
) -> None:
    target = await shots.target(BY_ID["bank-accounts.create"])
    least = {"ownerId", "currencyISO", "countryISO", "billingAddress"}
    before = await shots.written()
    body = {name: one for name, one in target.body.items() if name in least}
    reply = await target.send({**body, **case.sent})
    assert reply.faults == case.faults
    assert reply.status == (422 if case.faults else 201)
    assert (await shots.written() == before) is bool(case.faults)


@pytest.mark.parametrize("iban", IBANS)
async def test_every_country_of_the_registry_can_be_paid_out_to(shots: Range, iban: str) -> None:
    target = await shots.target(BY_ID["bank-accounts.create"])
    least = {"ownerId", "currencyISO", "billingAddress"}
    body = {name: one for name, one in target.body.items() if name in least}
    reply = await target.send({**body, "countryISO": iban[:2], "iban": iban})
    assert (reply.status, reply.faults) == (201, [])
    wrong = iban[:2] + f"{(int(iban[2:4]) + 1) % 97:02}" + iban[4:]
    reply = await target.send({**body, "countryISO": iban[:2], "iban": wrong})
    assert reply.faults == [("/iban", "invalid_iban")]
    assert wrong not in reply.text


@pytest.mark.parametrize("case", CARDS, ids=str)
async def test_a_card_that_cannot_be_is_refused_with_the_reason(shots: Range, case: Case) -> None:
    target = await shots.target(BY_ID["cards.create"])
    before = await shots.written()
    reply = await target.send({**target.body, **case.sent})
    assert reply.faults == case.faults
    assert reply.status == (422 if case.faults else 201)
    assert (await shots.written() == before) is bool(case.faults)
    number = case.sent.get("cardNumber", "4242424242424242")
    assert number not in reply.text


async def test_a_card_is_good_through_the_last_moment_of_its_month(database: "Database") -> None:
    clock = Clock()
    service = await Service.start(database.settings(), clock)
    async with browse(build(service)) as client:
        for clock.now, expiry, faults in MOMENTS:
            shots = Range(build(service), service, await make_tenant(service, client))
            target = await shots.target(BY_ID["cards.create"])
            reply = await target.send({**target.body, "expiry": expiry})
            assert (reply.status, reply.faults) == (422 if faults else 201, faults), clock.now
    await service.stop()
