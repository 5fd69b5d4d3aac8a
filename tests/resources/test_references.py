"""References: one text for one account, receiving details that stay, and an end in time."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import httpx2
import pytest
from tests.conftest import make_tenant
from tests.duties import duty

from farthing.agenda import platform
from farthing.http.app import build
from farthing.http.service import Service
from farthing.rails.base import Destination, Rail, RailAway
from farthing.resources.references import actions, store
from farthing.resources.references.model import MACHINE, is_reference, make_text

if TYPE_CHECKING:
    from tests.conftest import Database, Tenant

PATH = "/v1/references"
MISSING = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"


def uuid_of(identifier: str) -> UUID:
    return UUID(identifier.partition("/")[2])


def faults(answer: httpx2.Response) -> dict[str, str]:
    assert answer.status_code == 422, answer.text
    return {fault["pointer"]: fault["code"] for fault in answer.json()["errors"]}


async def create(
    tenant: "Tenant", account: str, token: str | None = None, **fields: Any
) -> httpx2.Response:
    return await tenant.call("POST", PATH, {"toId": account, **fields}, token=token)


async def reference(tenant: "Tenant", account: str, token: str | None = None, **fields: Any) -> Any:
    answer = await create(tenant, account, token, **fields)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def move(
    tenant: "Tenant", identifier: str, state: str, token: str | None = None
) -> httpx2.Response:
    return await tenant.call(
        "PATCH", f"{PATH}/{identifier}/state", {"toStateId": state}, token=token
    )


async def expire_at_once(service: Service, database: "Database", identifier: str) -> None:
    """Let the time of a reference pass, and the worker see it."""
    await database.execute(
        "UPDATE payment_references SET expires_at = now() - interval '1 second' WHERE id = $1",
        uuid_of(identifier),
    )
    await duty(service, "expire references").run()


async def test_a_reference_shows_everything_that_a_payer_needs(tenant: "Tenant") -> None:
    account, payer = await tenant.new_account(tenant.customer), await tenant.new_customer()
    made = await reference(tenant, account, fromId=payer, tags=["a"], annotations={"b": "c"})
    assert made == {
        "id": made["id"],
        "createdAt": made["createdAt"],
        "updatedAt": made["createdAt"],
        "stateId": "ENABLED",
        "tags": ["a"],
        "annotations": {"b": "c"},
        "toId": account,
        "fromId": payer,
        "reference": made["reference"],
        "currencyISO": "GBP",
        "expiresAt": made["expiresAt"],
        "receivingDetails": {
            "accountNumber": "31926819",
            "sortCode": "108800",
            "iban": "GB29FRTH10880031926819",
            "bic": "FRTHGB22",
            "countryISO": "GB",
            "currencyISO": "GBP",
        },
    }
    assert made["id"].startswith("reference/")
    assert is_reference(made["reference"])
    assert (await tenant.call("GET", f"{PATH}/{made['id']}")).json() == made


async def test_a_reference_has_the_currency_of_its_account_and_may_name_no_payer(
    tenant: "Tenant",
) -> None:
    made = await reference(tenant, await tenant.new_account(tenant.customer, "EUR"))
    assert (made["currencyISO"], made["receivingDetails"]["currencyISO"]) == ("EUR", "EUR")
    assert "fromId" not in made


async def test_all_that_is_unknown_is_said_at_once(
    tenant: "Tenant", other_tenant: "Tenant"
) -> None:
    elsewhere = await other_tenant.new_account(other_tenant.customer)
    for account, payer in (
        (f"account/{MISSING}", f"customer/{MISSING}"),
        (elsewhere, other_tenant.customer),
    ):
        answer = await create(tenant, account, fromId=payer)
        assert faults(answer) == {"/toId": "unknown_account", "/fromId": "unknown_customer"}
    account = await tenant.new_account(tenant.customer)
    answer = await create(tenant, account, fromId=other_tenant.customer)
    assert faults(answer) == {"/fromId": "unknown_customer"}
    assert (await tenant.call("GET", PATH)).json()["results"] == []


async def test_customers_make_references_to_their_own_accounts_only(tenant: "Tenant") -> None:
    customer, neighbour = await tenant.new_customer(), await tenant.new_customer()
    token = await tenant.token_for(customer)
    own, other = await tenant.new_account(customer), await tenant.new_account(neighbour)
    made = await reference(tenant, own, fromId=customer, token=token)
    assert faults(await create(tenant, other, token=token)) == {"/toId": "unknown_account"}
    foreign = await create(tenant, own, fromId=neighbour, token=token)
    assert faults(foreign) == {"/fromId": "unknown_customer"}
    closed = await move(tenant, made["id"], "CLOSED", token)
    assert closed.json()["stateId"] == "CLOSED"


@pytest.mark.parametrize("state", ["DISABLED", "CLOSED"])
async def test_an_account_that_is_not_enabled_gets_no_reference(
    tenant: "Tenant", state: str
) -> None:
    account = await tenant.new_account(tenant.customer)
    await tenant.call("PATCH", f"/v1/accounts/{account}/state", {"toStateId": state})
    answer = await create(tenant, account)
    assert (answer.status_code, answer.json()["code"]) == (409, "account_not_active")


async def test_an_account_that_is_disabled_at_the_last_moment_gets_no_reference(
    tenant: "Tenant", service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = await tenant.new_account(tenant.customer)

    async def disable(currency: str) -> Destination:
        await tenant.call("PATCH", f"/v1/accounts/{account}/state", {"toStateId": "DISABLED"})
        return Destination("GB", currency, "31926819", "108800", None, None)

    monkeypatch.setattr(service.parts[Rail], "receiving", disable)
    answer = await create(tenant, account)
    assert (answer.status_code, answer.json()["code"]) == (409, "account_not_active")


async def test_an_owner_who_is_not_enabled_gets_no_reference(tenant: "Tenant") -> None:
    owner = await tenant.new_customer()
    account = await tenant.new_account(owner)
    await tenant.call("PATCH", f"/v1/customers/{owner}/state", {"toStateId": "DISABLED"})
    answer = await create(tenant, account)
    assert (answer.status_code, answer.json()["code"]) == (409, "owner_not_active")


async def test_a_currency_in_which_nothing_is_received_is_refused_at_the_account(
    tenant: "Tenant", service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def none(_: str) -> None:
        return None

    monkeypatch.setattr(service.parts[Rail], "receiving", none)
    answer = await create(tenant, await tenant.new_account(tenant.customer, "JPY"))
    assert faults(answer) == {"/toId": "currency_not_received"}


async def test_a_bank_that_is_away_is_503_and_leaves_nothing(
    tenant: "Tenant", service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(_: str) -> Any:
        raise RailAway

    sent = {"toId": await tenant.new_account(tenant.customer)}
    with monkeypatch.context() as patch:
        patch.setattr(service.parts[Rail], "receiving", nothing)
        away = await tenant.call("POST", PATH, sent, Idempotency_Key="k")
        assert (away.status_code, away.json()["code"]) == (503, "unavailable")
    again = [await tenant.call("POST", PATH, sent, Idempotency_Key="k") for _ in range(2)]
    assert again[0].content == again[1].content
    assert len((await tenant.call("GET", PATH)).json()["results"]) == 1


async def test_the_receiving_details_stay_as_the_payer_was_told(
    tenant: "Tenant", service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await reference(tenant, await tenant.new_account(tenant.customer))

    async def moved(currency: str) -> Destination:
        return Destination("DE", currency, None, None, "DE89370400440532013000", None)

    monkeypatch.setattr(service.parts[Rail], "receiving", moved)
    assert (await tenant.call("GET", f"{PATH}/{made['id']}")).json() == made
    newer = await reference(tenant, made["toId"])
    assert newer["receivingDetails"] == {
        "iban": "DE89370400440532013000",
        "countryISO": "DE",
        "currencyISO": "GBP",
    }


async def test_a_reference_is_good_for_a_year_or_as_long_as_the_setting_says(
    tenant: "Tenant", database: "Database"
) -> None:
    def lifetime(made: Any) -> timedelta:
        begin, end = (datetime.fromisoformat(made[name]) for name in ("createdAt", "expiresAt"))
        return end - begin

    made = await reference(tenant, await tenant.new_account(tenant.customer))
    assert lifetime(made) == timedelta(days=365)
    brief = await Service.start(database.settings(reference_days=3))
    transport = httpx2.ASGITransport(app=build(brief))
    async with httpx2.AsyncClient(transport=transport, base_url="http://brief.test") as client:
        hasty = await make_tenant(brief, client)
        made = await reference(hasty, await hasty.new_account(hasty.customer))
    await brief.stop()
    assert lifetime(made) == timedelta(days=3)


async def test_references_whose_time_has_passed_are_expired_by_the_worker(
    tenant: "Tenant", service: Service, database: "Database"
) -> None:
    account = await tenant.new_account(tenant.customer)
    old, good = await reference(tenant, account), await reference(tenant, account)
    await expire_at_once(service, database, old["id"])
    shown = [(await tenant.call("GET", f"{PATH}/{one['id']}")).json() for one in (old, good)]
    assert [one["stateId"] for one in shown] == ["EXPIRED", "ENABLED"]
    path = f"{PATH}/{old['id']}/transitions"
    history = (await tenant.call("GET", path)).json()["history"]
    assert (history[-1]["actor"], history[-1]["reason"]) == ("PLATFORM", "The reference expired.")


async def test_the_worker_leaves_alone_what_is_not_due_or_closed_by_now(
    tenant: "Tenant", service: Service, database: "Database"
) -> None:
    account = await tenant.new_account(tenant.customer)
    good, closed = await reference(tenant, account), await reference(tenant, account)
    closed = (await move(tenant, closed["id"], "CLOSED")).json()
    await expire_at_once(service, database, closed["id"])
    due = await store.EXPIRING.find(service.pool, service.clock(), 1000)
    assert not {uuid_of(one["id"]) for one in (good, closed)} & {one.id for one in due}
    for one in (good, closed):
        command = actions.expire(uuid_of(one["id"]))
        await service.committer.submit(platform(tenant.id), command)
        shown = (await tenant.call("GET", f"{PATH}/{one['id']}")).json()
        assert (shown["stateId"], shown["updatedAt"]) == (one["stateId"], one["updatedAt"])


async def test_expired_and_closed_are_final_and_nobody_but_the_clock_expires(
    tenant: "Tenant", service: Service, database: "Database"
) -> None:
    owner = await tenant.new_customer()
    account, token = await tenant.new_account(owner), await tenant.token_for(owner)
    ended = await reference(tenant, account)
    refused = [await move(tenant, ended["id"], "EXPIRED", one) for one in (token, tenant.operator)]
    await expire_at_once(service, database, ended["id"])
    closed = await reference(tenant, account)
    assert (await move(tenant, closed["id"], "CLOSED")).json()["stateId"] == "CLOSED"
    for one in (ended["id"], closed["id"]):
        for credential in (token, tenant.token, tenant.operator):
            refused += [await move(tenant, one, state, credential) for state in MACHINE.states]
    said = {(answer.status_code, answer.json()["code"]) for answer in refused}
    assert said == {(409, "transition_not_allowed")}


async def test_references_are_found_by_account_text_owner_and_state(tenant: "Tenant") -> None:
    owner = await tenant.new_customer()
    one, two = await tenant.new_account(owner), await tenant.new_account(tenant.customer)
    first, second = await reference(tenant, one), await reference(tenant, two)
    await move(tenant, second["id"], "CLOSED")

    async def found(query: str) -> list[str]:
        results = (await tenant.call("GET", f"{PATH}?{query}")).json()["results"]
        return [each["id"] for each in results]

    assert await found("") == [second["id"], first["id"]]
    assert await found(f"toId={one}") == [first["id"]]
    assert await found(f"reference={second['reference']}") == [second["id"]]
    assert await found(f"reference={make_text()}") == []
    assert await found(f"ownerId={owner}") == [first["id"]]
    assert await found("stateId=CLOSED") == [second["id"]]


async def test_an_update_changes_tags_and_annotations_only(tenant: "Tenant") -> None:
    account = await tenant.new_account(tenant.customer)
    made = await reference(tenant, account, tags=["old"], annotations={"a": "1"})
    path = f"{PATH}/{made['id']}"
    updated = (await tenant.call("PATCH", path, {"tags": ["new"]})).json()
    assert updated == {**made, "tags": ["new"], "updatedAt": updated["updatedAt"]}
    refused = await tenant.call("PATCH", path, {"reference": make_text()})
    assert faults(refused) == {"/reference": "unknown_field"}


async def test_a_text_that_is_taken_is_drawn_anew(
    tenant: "Tenant", other_tenant: "Tenant", monkeypatch: pytest.MonkeyPatch
) -> None:
    account = await tenant.new_account(tenant.customer)
    taken = (await reference(tenant, account))["reference"]
    other = make_text()
    drawn = iter([taken, other])
    monkeypatch.setattr(actions, "make_text", lambda: next(drawn))
    assert (await reference(tenant, account))["reference"] == other
    # Another tenant has texts of its own.
    monkeypatch.setattr(actions, "make_text", lambda: taken)
    elsewhere = await other_tenant.new_account(other_tenant.customer)
    assert (await reference(other_tenant, elsewhere))["reference"] == taken


async def test_the_current_reference_is_the_payers_newest_or_else_anybodys(
    tenant: "Tenant", other_tenant: "Tenant", service: Service
) -> None:
    account, payer = await tenant.new_account(tenant.customer), await tenant.new_customer()

    async def current(payer_id: UUID | None, tenant_id: UUID = tenant.id) -> str | None:
        found = await store.find_current(service.pool, tenant_id, uuid_of(account), payer_id)
        return None if found is None else f"reference/{found.id}"

    own = [(await reference(tenant, account, fromId=payer))["id"] for _ in range(2)]
    assert (await current(uuid_of(payer)), await current(None)) == (own[1], None)
    assert await current(tenant.id) is None
    anybodys = [(await reference(tenant, account))["id"] for _ in range(2)]
    await reference(tenant, await tenant.new_account(tenant.customer))
    assert await current(uuid_of(payer)) == own[1]
    assert (await current(None), await current(tenant.id)) == (anybodys[1], anybodys[1])
    assert await current(None, other_tenant.id) is None
    await move(tenant, own[1], "CLOSED")
    await move(tenant, anybodys[1], "CLOSED")
    assert (await current(uuid_of(payer)), await current(None)) == (own[0], anybodys[0])
    await move(tenant, own[0], "CLOSED")
    assert await current(uuid_of(payer)) == anybodys[0]


async def test_a_reference_is_found_by_its_text_in_any_state_and_any_writing(
    tenant: "Tenant", other_tenant: "Tenant", service: Service
) -> None:
    made = await reference(tenant, await tenant.new_account(tenant.customer))
    await move(tenant, made["id"], "CLOSED")
    text = made["reference"]
    for shown in (text, text.lower(), f" {text[:4]} {text[4:9]}-{text[9:]}"):
        found = await store.find_by_text(service.pool, tenant.id, shown)
        assert found is not None
        assert (found.id, found.state_id) == (uuid_of(made["id"]), "CLOSED")
    assert await store.find_by_text(service.pool, other_tenant.id, text) is None
    for other in (make_text(), "", "rent", f"{text}\0", "\ud800"):
        assert await store.find_by_text(service.pool, tenant.id, other) is None
