"""Who may: every operation with every wrong credential, and none of them changes anything."""

import asyncio
import base64
import dataclasses
import re
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID

import httpx2
import msgspec
import pytest
from tests.controls import scene
from tests.http import bad_wire
from tests.http.bad_wire import creation_of, first_event, with_key
from tests.payments import charge, create, furnish, in_path, spends
from tests.trials import new_alert, new_backtest
from tests.verdicts import new_approval

from farthing.catalog import OBJECTS, OPERATIONS
from farthing.core.actors import Grant
from farthing.core.operation import Operation
from farthing.http.app import build
from farthing.http.service import Service
from farthing.resources.access import model

if TYPE_CHECKING:
    from tests.conftest import Database, Tenant

CLOSED = [operation for operation in OPERATIONS if operation.who]
WITH_OBJECT = [operation for operation in CLOSED if operation.noun]
PLURALS = {noun: f"{noun}s" for noun in OBJECTS} | {
    "bank_account": "bank-accounts",
    "transaction": "tx",
}
MISSING_ID = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
# What nobody makes by itself.
MADE_BY_RULES: dict[str, Callable[["Tenant"], Awaitable[str]]] = {
    "approval": lambda tenant: new_approval(tenant.service, tenant.id),
    "alert": lambda tenant: new_alert(tenant.call, with_key(tenant)),
    "backtest": lambda tenant: new_backtest(with_key(tenant)),
}


def named(operation: Operation) -> str:
    return operation.id


def nouns_of(operation: Operation) -> set[str]:
    """Name what an operation speaks of, and what that takes in turn."""
    said = [one for one in (operation.body_example or {}).values() if isinstance(one, str)]
    named = {one.partition("/")[0] for one in said} | {operation.noun}
    found = {noun for noun in named if noun in OBJECTS}
    made = found - MADE_BY_RULES.keys()
    return found.union(*(nouns_of(creation_of(noun, OPERATIONS)) for noun in made))


class Place:
    """A customer of a tenant with one object of each noun."""

    def __init__(self, tenant: "Tenant", customer: str, token: str) -> None:
        self.tenant, self.customer, self.token = tenant, customer, token
        self.objects = {"customer": customer}
        # Money that stays within the platform needs a second account.
        self.other_account = ""

    @classmethod
    async def make(cls, tenant: "Tenant", operation: Operation | None = None) -> "Place":
        """Make a customer with one object of each noun, or with what an operation speaks of."""
        customer = await tenant.new_customer()
        place = cls(tenant, customer, await tenant.token_for(customer))
        wanted = set(OBJECTS) if operation is None else nouns_of(operation)
        # In the order of the catalogue, where what an object refers to comes before it.
        left = {"customer", *MADE_BY_RULES}
        for noun in [one for one in OBJECTS if one in wanted and one not in left]:
            creation = creation_of(noun, OPERATIONS)
            answer = await place.request(creation, bad_wire.credential(creation, tenant))
            assert answer.status_code == 201, answer.text
            place.objects[noun] = answer.json()["id"]
        if "account" in wanted:
            place.other_account = await tenant.new_account(customer)
        place.objects["event"] = await first_event(tenant.call)
        place.objects |= {noun: f"{noun}/{MISSING_ID}" for noun in MADE_BY_RULES}
        if operation is not None and operation.noun in MADE_BY_RULES:
            place.objects[operation.noun] = await MADE_BY_RULES[operation.noun](tenant)
        if operation is not None and operation.of_house:
            body = {"name": "Thrown away"}
            made = await tenant.call("POST", "/v1/sandbox/tenants", body, token=tenant.operator)
            place.objects["tenant"] = made.json()["id"]
            place.objects["snapshot"] = await bad_wire.snapshot(tenant, place.objects["tenant"])
        return place

    def body(self, operation: Operation) -> Any:
        """Return the example of an operation, with what is here in it."""
        body: Any = dict(operation.body_example) if operation.body_example else None
        for name, value in (body or {}).items():
            if isinstance(value, str) and (noun := value.partition("/")[0]) in self.objects:
                body[name] = self.objects[noun]
        if "toAccountId" in (body or {}):
            body["toAccountId"] = self.other_account
        return body

    async def request(
        self, operation: Operation, token: str | None, object_id: str | None = None, **headers: str
    ) -> httpx2.Response:
        """Send a request that would succeed with the right credential."""
        target = object_id or self.objects.get(operation.noun or "", "")
        body = self.body(operation)
        path = operation.path.replace("{id}", in_path(target))
        if operation.query_example:
            path = f"{path}?{urlencode(operation.query_example)}"
        if token is None:
            content = None if body is None else b"{}"
            return await self.tenant._client.request(operation.method, path, content=content)  # noqa: SLF001 - no credential at all
        return await self.tenant.call(operation.method, path, body, token=token, **headers)


async def without_effect(service: Service) -> list[Any]:
    """Return how much there is of everything that an operation could write."""
    tables = (
        *("events", "history", "customers", "accounts", "idempotency", "credentials"),
        *("transactions", "orders", "entries", "balances"),
    )
    counts = ", ".join(f"(SELECT count(*) FROM {table})" for table in tables)  # noqa: S608 - our own names
    return list(await service.pool.fetch(f"SELECT {counts}"))


def altered(credential: str, position: int) -> str:
    """Change one character of a credential."""
    other = "A" if credential[position] != "A" else "B"
    return credential[:position] + other + credential[position + 1 :]


async def wrong_credentials(tenant: "Tenant", database: "Database") -> dict[str, str | None]:
    expired = await tenant.token_for(tenant.customer)
    shown = model.read(expired)
    assert shown is not None
    await database.execute(
        "UPDATE credentials SET expires_at = now() - interval '1 second' WHERE digest = $1",
        shown.digest,
    )
    other_kind = model.Presented("operatorKey", "sandbox", shown.tenant_id, shown.secret)
    key = model.read(tenant.key)
    assert key is not None
    return {
        "none": None,
        "empty": "",
        "garbage": "garbage",
        "the prefix alone": "farthing_key_sandbox_",
        "short": tenant.key[:-4],
        "long": tenant.key + "AAAA",
        "altered secret": altered(tenant.key, -1),
        "altered tenant": altered(tenant.key, len("farthing_key_sandbox_")),
        "of no environment": tenant.key.replace("_sandbox_", "_desert_"),
        "a token dressed up as the operator's key": other_kind.text,
        "a key dressed up as a token": model.Presented(
            "accessToken", "sandbox", key.tenant_id, key.secret
        ).text,
        "expired": expired,
        "a guess": model.mint("apiKey", "sandbox", tenant.id).text,
    }


async def test_no_wrong_credential_opens_any_operation(
    tenant: "Tenant", database: "Database", service: Service
) -> None:
    place = await Place.make(tenant)
    wrong = await wrong_credentials(tenant, database)
    before = await without_effect(service)
    bodies = set()
    for operation in CLOSED:
        for name, credential in wrong.items():
            answer = await place.request(operation, credential)
            assert answer.status_code == 401, (operation.id, name)
            bodies.add(re.sub(r'"requestId":"[^"]*"', "", answer.text))
    assert len(bodies) == 1, "there is one answer for all of them"
    assert await without_effect(service) == before


async def test_a_credential_of_the_other_environment_is_told_where_it_belongs(
    tenant: "Tenant",
) -> None:
    for credential in (tenant.key, tenant.token, tenant.operator):
        other = credential.replace("_sandbox_", "_live_")
        answer = await tenant.call("GET", "/v1/customers", token=other)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
        detail = "This credential is of live, and this is the sandbox."
        assert answer.json()["detail"] == f"{detail} Use it at the base address of live."
        assert other not in answer.text


async def test_live_tells_a_key_of_the_sandbox_the_address_of_the_sandbox(
    tenant: "Tenant", service: Service
) -> None:
    url = "https://sandbox.farthing.test"
    settings = msgspec.structs.replace(service.settings, environment="live", other_url=url)
    transport = httpx2.ASGITransport(app=build(dataclasses.replace(service, settings=settings)))
    async with httpx2.AsyncClient(transport=transport, base_url="https://live.test") as live:
        answer = await live.get("/v1/customers", headers={"X-Token": tenant.key})
    assert answer.status_code == 401
    detail = "This credential is of the sandbox, and this is live."
    assert answer.json()["detail"] == f"{detail} Use it at {url}."


@pytest.mark.parametrize("operation", CLOSED, ids=named)
async def test_a_valid_credential_that_the_operation_does_not_take_is_forbidden(
    tenant: "Tenant", service: Service, operation: Operation
) -> None:
    place = await Place.make(tenant, operation)
    held = {
        Grant.API_KEY: tenant.key,
        Grant.CLIENT_TOKEN: tenant.token,
        Grant.CUSTOMER_TOKEN: place.token,
        Grant.OPERATOR_KEY: tenant.operator,
    }
    before = await without_effect(service)
    for grant, credential in held.items():
        if grant not in operation.who:
            answer = await place.request(operation, credential)
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), grant
    assert await without_effect(service) == before
    for grant in operation.who:
        named = grant is Grant.OPERATOR_KEY and not operation.of_house
        headers = {"X_Tenant": tenant.customer} if named else {}
        fresh = await Place.make(tenant, operation)
        held[Grant.CUSTOMER_TOKEN] = fresh.token
        wanted = await scene(service, tenant.call, operation.id)
        if spends(operation.id):
            await furnish(service, tenant.call, fresh.body(operation))
        answer = await fresh.request(operation, held[grant], wanted, **headers)
        # Who holds the right credential may still not be who takes the step of the example.
        allowed = {operation.status} | ({409} if operation.path.endswith("/state") else set())
        assert answer.status_code in allowed, (grant, answer.text)


@pytest.mark.parametrize("operation", WITH_OBJECT, ids=named)
async def test_what_belongs_to_another_is_indistinguishable_from_what_is_missing(
    tenant: "Tenant", other_tenant: "Tenant", service: Service, operation: Operation
) -> None:
    mine, theirs = await Place.make(tenant, operation), await Place.make(other_tenant, operation)
    neighbour = await Place.make(tenant, operation)
    noun = operation.noun or ""
    missing = f"{noun}/{MISSING_ID}"
    held = {
        Grant.API_KEY: tenant.key,
        Grant.CLIENT_TOKEN: tenant.token,
        Grant.CUSTOMER_TOKEN: mine.token,
        Grant.OPERATOR_KEY: tenant.operator,
    }
    before = await without_effect(service)
    for grant in operation.who:
        hidden = [missing]
        if grant is not Grant.OPERATOR_KEY:
            hidden.append(theirs.objects[noun])
        if grant is Grant.CUSTOMER_TOKEN:
            hidden.append(neighbour.objects[noun])
        # What is no object is found in a tenant only, and the operator has to name that.
        named = grant is Grant.OPERATOR_KEY and noun not in OBJECTS and not operation.of_house
        headers = {"X_Tenant": tenant.customer} if named else {}
        answers = [await mine.request(operation, held[grant], one, **headers) for one in hidden]
        said = {(a.status_code, re.sub(r'"requestId":"[^"]*"', "", a.text)) for a in answers}
        assert len(said) == 1
        assert said.pop()[0] == 404
    assert await without_effect(service) == before


async def test_lists_show_only_what_the_caller_may_see(
    tenant: "Tenant", other_tenant: "Tenant"
) -> None:
    mine, neighbour = await Place.make(tenant), await Place.make(tenant)
    await Place.make(other_tenant)
    others = {tenant.customer, mine.other_account, neighbour.other_account}
    for noun in OBJECTS:
        (listing,) = [one for one in OPERATIONS if one.id == f"{PLURALS[noun]}.list"]
        if Grant.CUSTOMER_TOKEN not in listing.who:
            continue
        path = listing.path
        own = await tenant.call("GET", path, token=mine.token)
        assert {one["id"] for one in own.json()["results"]} - others == {mine.objects[noun]}
        everything = await tenant.call("GET", path)
        shown = {one["id"] for one in everything.json()["results"]} - others
        assert shown == {mine.objects[noun], neighbour.objects[noun]}
    for path in ("accounts", "tx"):
        filtered = await tenant.call(
            "GET", f"/v1/{path}?ownerId={neighbour.customer}", token=mine.token
        )
        assert filtered.json()["results"] == []


async def test_a_transaction_belongs_to_its_sender_and_to_its_receiver(
    tenant: "Tenant", service: Service
) -> None:
    sender, receiver, stranger = [await Place.make(tenant) for _ in range(3)]
    await charge(service, tenant.call, sender.objects["account"])
    body = {
        "fromAccountId": sender.objects["account"],
        "toAccountId": receiver.objects["account"],
        "amount": "700",
        "purpose": "PURCHASE",
        "targetStateId": "HELD",
    }
    made = await create(tenant.call, "/v1/tx/internal", body)
    path = f"/v1/tx/{in_path(made['id'])}"
    reading = (path, f"{path}/transitions", f"{path}?include=accounts,entries,transitions")
    for place, account in ((sender, "fromAccountId"), (receiver, "toAccountId")):
        for one in reading:
            assert (await tenant.call("GET", one, token=place.token)).status_code == 200
        listed = (await tenant.call("GET", "/v1/tx?flow=INTERNAL", token=place.token)).json()
        assert [one["id"] for one in listed["results"]] == [made["id"]]
        by_owner = f"/v1/tx?flow=INTERNAL&ownerId={place.customer}"
        everybodys = (await tenant.call("GET", by_owner)).json()
        assert [one["id"] for one in everybodys["results"]] == [made["id"]]
        # Of the other side, nobody sees the account and what happens to it.
        shown = (await tenant.call("GET", reading[-1], token=place.token)).json()
        assert [one["id"] for one in shown["accounts"]] == [body[account]]
        assert {one["accountId"] for one in shown["entries"]} == {body[account]}
    for one in reading:
        assert (await tenant.call("GET", one, token=stranger.token)).status_code == 404
    everything = (await tenant.call("GET", reading[-1])).json()
    assert len(everything["accounts"]) == len(everything["entries"]) == 2
    hidden = await tenant.call("PATCH", path, {"tags": ["mine"]}, token=stranger.token)
    assert hidden.status_code == 404
    listed = (await tenant.call("GET", "/v1/tx?flow=INTERNAL", token=stranger.token)).json()
    assert listed["results"] == []


async def test_a_receiver_does_not_stop_what_another_sends(
    tenant: "Tenant", service: Service
) -> None:
    sender, receiver = await Place.make(tenant), await Place.make(tenant)
    await charge(service, tenant.call, sender.objects["account"])
    body = {
        "fromAccountId": sender.objects["account"],
        "toAccountId": receiver.objects["account"],
        "amount": "700",
        "purpose": "PURCHASE",
        "targetStateId": "PENDING",
    }
    made = await create(tenant.call, "/v1/tx/internal", body)
    path = f"/v1/tx/{in_path(made['id'])}/state"
    refused = await tenant.call("PATCH", path, {"toStateId": "CANCELLED"}, token=receiver.token)
    assert (refused.status_code, refused.json()["code"]) == (409, "transition_not_allowed")
    assert (refused.json()["currentStateId"], refused.json()["allowedStateIds"]) == ("PENDING", [])
    stopped = await tenant.call("PATCH", path, {"toStateId": "CANCELLED"}, token=sender.token)
    assert (stopped.status_code, stopped.json()["stateId"]) == (200, "CANCELLED")


@pytest.mark.parametrize("operation", ["tx.inbound", "tx.outbound", "tx.internal"])
async def test_a_customer_moves_no_money_of_another(
    tenant: "Tenant", service: Service, operation: str
) -> None:
    mine, neighbour = await Place.make(tenant), await Place.make(tenant)
    (one,) = [found for found in OPERATIONS if found.id == operation]
    theirs = neighbour.body(one)
    await furnish(service, tenant.call, theirs)
    refused = await tenant.call("POST", one.path, theirs, token=mine.token)
    nobodys = {
        name: f"account/{MISSING_ID}" if str(value).startswith("account/") else value
        for name, value in theirs.items()
    }
    unknown = await tenant.call("POST", one.path, nobodys, token=mine.token)
    assert refused.status_code == unknown.status_code == 422
    assert refused.json()["errors"] == unknown.json()["errors"]
    assert refused.json()["errors"][0]["code"] == "unknown_account"


async def test_a_customer_cannot_open_an_account_for_another(tenant: "Tenant") -> None:
    mine, neighbour = await Place.make(tenant), await Place.make(tenant)
    body = {"ownerId": neighbour.customer, "currencyISO": "GBP"}
    refused = await tenant.call("POST", "/v1/accounts", body, token=mine.token)
    unknown = await tenant.call(
        "POST", "/v1/accounts", {**body, "ownerId": f"customer/{MISSING_ID}"}, token=mine.token
    )
    assert refused.status_code == unknown.status_code == 422
    assert refused.json()["errors"] == unknown.json()["errors"]


async def test_the_operator_is_placed_by_the_object_or_by_x_tenant(tenant: "Tenant") -> None:
    place = await Place.make(tenant)
    read = await tenant.call("GET", f"/v1/customers/{place.customer}", token=tenant.operator)
    assert read.json()["id"] == place.customer
    nameless = await tenant.call("GET", "/v1/customers", token=tenant.operator)
    assert nameless.json()["errors"][0]["pointer"] == "X-Tenant"
    for wrong in ("nonsense", f"customer/{MISSING_ID}", place.customer):
        answer = await tenant.call("GET", "/v1/customers", token=tenant.operator, X_Tenant=wrong)
        assert answer.status_code == 422, wrong
    listed = await tenant.call(
        "GET", "/v1/customers", token=tenant.operator, X_Tenant=tenant.customer
    )
    assert {one["id"] for one in listed.json()["results"]} == {tenant.customer, place.customer}


async def test_a_credential_in_another_alphabet_is_merely_wrong(tenant: "Tenant") -> None:
    headers = {b"X-Token": "farthing_key_sandbox_é".encode("latin-1")}
    answer = await tenant._client.get("/v1/customers", headers=headers)  # noqa: SLF001 - raw bytes
    assert answer.status_code == 401


async def test_nobody_but_the_operator_names_a_tenant(
    tenant: "Tenant", other_tenant: "Tenant"
) -> None:
    answer = await tenant.call("GET", "/v1/customers", X_Tenant=other_tenant.customer)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


async def test_an_access_token_lives_for_an_hour(tenant: "Tenant", database: "Database") -> None:
    shown = model.read(tenant.token)
    assert shown is not None
    (row,) = await database.fetch(
        "SELECT expires_at - created_at AS lifetime FROM credentials WHERE digest = $1",
        shown.digest,
    )
    assert row["lifetime"].total_seconds() == 3600


async def test_all_tokens_of_a_customer_are_revoked_within_5_seconds(tenant: "Tenant") -> None:
    place = await Place.make(tenant)
    tokens = [place.token, await tenant.token_for(place.customer)]
    for token in tokens:
        assert (await tenant.call("GET", "/v1/accounts", token=token)).status_code == 200
    revoked_at = time.monotonic()
    await tenant.call("DELETE", f"/v1/customers/{place.customer}/tokens", token=tenant.key)
    fresh = await tenant.token_for(place.customer)
    for token in tokens:
        while (await tenant.call("GET", "/v1/accounts", token=token)).status_code != 401:
            assert time.monotonic() - revoked_at < 5
            await asyncio.sleep(0.05)
    assert (await tenant.call("GET", "/v1/accounts", token=fresh)).status_code == 200
    assert (await tenant.call("GET", "/v1/accounts")).status_code == 200


@pytest.mark.parametrize("state", ["DISABLED", "LOCKED"])
async def test_a_customer_who_may_not_sign_in_gets_no_token_and_keeps_none(
    tenant: "Tenant", state: str
) -> None:
    place = await Place.make(tenant)
    path = f"/v1/customers/{place.customer}"
    moved = await tenant.call("PATCH", f"{path}/state", {"toStateId": state}, token=tenant.operator)
    assert moved.status_code == 200
    refused = await tenant.call("POST", f"{path}/tokens", token=tenant.key)
    assert (refused.status_code, refused.json()["code"]) == (409, "owner_not_active")
    assert (await tenant.call("GET", path, token=place.token)).status_code == 401


async def test_credentials_are_kept_only_as_digests(tenant: "Tenant", database: "Database") -> None:
    rows = await database.fetch("SELECT credentials::text AS everything FROM credentials")
    kept = "".join(row["everything"] for row in rows)
    for credential in (tenant.key, tenant.operator, tenant.token):
        shown = model.read(credential)
        assert shown is not None
        assert shown.digest.hex() in kept
        for form in (credential, shown.secret.hex(), base64.b64encode(shown.secret).decode()):
            assert form not in kept


def test_a_credential_does_not_show_its_secret_in_a_repr() -> None:
    minted = model.mint("apiKey", "sandbox", UUID(int=7))
    assert minted.secret.hex() not in repr(minted)
    assert minted.text not in repr(minted)
