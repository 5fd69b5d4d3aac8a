"""Cards: verified by the network, shown by four digits, gone when they are gone."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.duties import duty

from farthing.http.service import Service
from farthing.rails.base import Rail, RailAway
from farthing.rails.numbers import MAGIC_CARDS
from farthing.resources.cards import vault
from farthing.resources.cards.model import end_of

if TYPE_CHECKING:
    import httpx2
    from tests.conftest import Database, Tenant

STATES = {"verified": "ENABLED", "declined": "FAILED", "challenge": "PROCESSING"}


def body(owner: str, **fields: Any) -> dict[str, Any]:
    return {
        "ownerId": owner,
        "cardNumber": "4242424242424242",
        "expiry": "1230",
        "cvv": "123",
        "billingAddress": {"countryISO": "GB"},
        **fields,
    }


async def create(tenant: "Tenant", owner: str | None = None, **fields: Any) -> "httpx2.Response":
    owner = owner or await tenant.new_customer()
    return await tenant.call("POST", "/v1/cards", body(owner, **fields))


async def card(tenant: "Tenant", **fields: Any) -> str:
    answer = await create(tenant, **fields)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def test_a_card_shows_its_last_four_digits_and_never_its_number(tenant: "Tenant") -> None:
    owner = await tenant.new_customer()
    answer = await create(tenant, owner, tags=["a"], annotations={"b": "c"})
    made = answer.json()
    assert answer.status_code == 201
    assert made == {
        "id": made["id"],
        "createdAt": made["createdAt"],
        "updatedAt": made["createdAt"],
        "stateId": "ENABLED",
        "cardNumberSuffix": "4242",
        "expiry": "1230",
        "scheme": "VISA",
        "type": "credit",
        "tags": ["a"],
        "annotations": {"b": "c"},
        "ownerId": owner,
        "billingAddress": {"countryISO": "GB"},
        "storageType": "CARD_ON_FILE",
        "setAsPreferred": False,
        "requirements": {},
    }
    assert (await tenant.call("GET", f"/v1/cards/{made['id']}")).json() == made


@pytest.mark.parametrize("magic", MAGIC_CARDS, ids=lambda magic: magic.number)
async def test_the_sandboxes_numbers_do_what_their_table_says(tenant: "Tenant", magic: Any) -> None:
    made = (await create(tenant, cardNumber=magic.number)).json()
    assert made["stateId"] == STATES[magic.verification]
    assert made["type"] == magic.type
    assert made["scheme"] == ("VISA" if magic.number.startswith("4") else "MASTERCARD")
    assert bool(made["requirements"]) == (magic.verification == "challenge")


@pytest.mark.parametrize(
    ("number", "scheme"),
    [
        ("4222222222222", "VISA"),
        ("4242424242424242", "VISA"),
        ("4000000000000000006", "VISA"),
        ("5105105105105100", "MASTERCARD"),
        ("5555555555554444", "MASTERCARD"),
        ("2221000000000009", "MASTERCARD"),
        ("2720990000000007", "MASTERCARD"),
        ("2220990000000002", None),
        ("2721000000000004", None),
        ("5019717010103742", None),
        ("5600000000000000", None),
        ("378282246310005", None),
        ("6011111111111117", None),
        ("3530111333300000", None),
        ("42424242424242", None),
        ("424242424242424242", None),
    ],
)
def test_the_scheme_follows_from_range_and_length(number: str, scheme: str | None) -> None:
    assert vault.scheme_of(number) == scheme


@pytest.mark.parametrize(
    ("expiry", "end"),
    [
        ("1226", datetime(2027, 1, 1, tzinfo=UTC)),
        ("0128", datetime(2028, 2, 1, tzinfo=UTC)),
        ("0228", datetime(2028, 3, 1, tzinfo=UTC)),
        ("1299", datetime(2100, 1, 1, tzinfo=UTC)),
    ],
)
def test_a_card_is_good_through_the_last_day_of_its_month(expiry: str, end: datetime) -> None:
    assert end_of(expiry) == end


async def test_a_card_of_this_month_is_taken_and_one_of_the_last_is_not(
    tenant: "Tenant", service: Service
) -> None:
    now = service.clock()
    this_month = now.strftime("%m%y")
    last_month = (now.replace(day=1) - timedelta(days=1)).strftime("%m%y")
    assert (await create(tenant, expiry=this_month)).status_code == 201
    refused = await create(tenant, expiry=last_month, cvv="12")
    faults = {fault["pointer"]: fault["code"] for fault in refused.json()["errors"]}
    assert faults == {"/expiry": "expired", "/cvv": "invalid_format"}


async def test_expired_cards_become_inactive_by_the_worker(
    tenant: "Tenant", service: Service, database: "Database"
) -> None:
    owner = await tenant.new_customer()
    old, good = await card(tenant, owner=owner), await card(tenant, owner=owner)
    await database.execute(
        "UPDATE cards SET expires_at = now() - interval '1 second' WHERE id = $1::text::uuid",
        old.partition("/")[2],
    )
    await duty(service, "expire cards").run()
    seen = [(await tenant.call("GET", f"/v1/cards/{one}")).json()["stateId"] for one in (old, good)]
    assert seen == ["INACTIVE", "ENABLED"]
    back = await tenant.call("PATCH", f"/v1/cards/{old}/state", {"toStateId": "ENABLED"})
    assert (back.status_code, back.json()["code"]) == (409, "transition_not_allowed")
    history = (await tenant.call("GET", f"/v1/cards/{old}/transitions")).json()["history"]
    assert (history[-1]["actor"], history[-1]["reason"]) == ("PLATFORM", "The card expired.")


async def test_only_the_operator_enables_a_disabled_card(tenant: "Tenant") -> None:
    owner = await tenant.new_customer()
    made, token = await card(tenant, owner=owner), await tenant.token_for(owner)
    path = f"/v1/cards/{made}/state"
    assert (
        await tenant.call("PATCH", path, {"toStateId": "DISABLED"}, token=token)
    ).status_code == 200
    for wrong in (tenant.token, token):
        refused = await tenant.call("PATCH", path, {"toStateId": "ENABLED"}, token=wrong)
        assert (refused.status_code, refused.json()["code"]) == (409, "transition_not_allowed")
    enabled = await tenant.call("PATCH", path, {"toStateId": "ENABLED"}, token=tenant.operator)
    assert enabled.json()["stateId"] == "ENABLED"


async def test_a_closed_card_never_becomes_enabled(tenant: "Tenant") -> None:
    made = await card(tenant)
    path = f"/v1/cards/{made}/state"
    assert (await tenant.call("PATCH", path, {"toStateId": "CLOSED"})).json()["stateId"] == "CLOSED"
    for token in (tenant.token, tenant.operator):
        answer = await tenant.call("PATCH", path, {"toStateId": "ENABLED"}, token=token)
        assert (answer.status_code, answer.json()["allowedStateIds"]) == (409, [])


async def test_nobody_moves_a_card_with_open_requirements(tenant: "Tenant") -> None:
    owner = await tenant.new_customer()
    made = await card(tenant, owner=owner, cardNumber="4000002500003155")
    for token in (tenant.token, tenant.operator, await tenant.token_for(owner)):
        for state in ("ENABLED", "FAILED", "CLOSED", "DISABLED"):
            answer = await tenant.call(
                "PATCH", f"/v1/cards/{made}/state", {"toStateId": state}, token=token
            )
            assert (answer.status_code, answer.json()["code"]) == (409, "requirements_unresolved")


async def test_one_card_at_most_is_preferred(tenant: "Tenant") -> None:
    owner = await tenant.new_customer()
    made = await asyncio.gather(*(create(tenant, owner, setAsPreferred=True) for _ in range(10)))
    ids = [answer.json()["id"] for answer in made]
    shown = (await tenant.call("GET", f"/v1/cards?ownerId={owner}")).json()["results"]
    chosen = [one["id"] for one in shown if one["setAsPreferred"]]
    customer = (await tenant.call("GET", f"/v1/customers/{owner}")).json()
    assert chosen == [customer["preferredInstruments"]["cardId"]]
    other = next(one for one in ids if one != chosen[0])
    updated = await tenant.call("PATCH", f"/v1/cards/{other}", {"setAsPreferred": True})
    assert updated.json()["setAsPreferred"] is True
    former = (await tenant.call("GET", f"/v1/cards/{chosen[0]}")).json()
    assert former["setAsPreferred"] is False
    await tenant.call("PATCH", f"/v1/cards/{other}/state", {"toStateId": "CLOSED"})
    customer = (await tenant.call("GET", f"/v1/customers/{owner}")).json()
    assert "preferredInstruments" not in customer


async def test_a_card_that_is_gone_is_never_preferred(tenant: "Tenant") -> None:
    owner = await tenant.new_customer()
    declined = await create(tenant, owner, cardNumber="4000000000000002", setAsPreferred=True)
    assert declined.json()["setAsPreferred"] is False
    closed = await card(tenant, owner=owner)
    await tenant.call("PATCH", f"/v1/cards/{closed}/state", {"toStateId": "CLOSED"})
    for gone in (declined.json()["id"], closed):
        answer = await tenant.call("PATCH", f"/v1/cards/{gone}", {"setAsPreferred": True})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (
            422,
            "/setAsPreferred",
        )
    assert "preferredInstruments" not in (await tenant.call("GET", f"/v1/customers/{owner}")).json()


async def test_an_update_changes_address_and_labels(tenant: "Tenant") -> None:
    made = await card(tenant, tags=["old"], annotations={"a": "1"})
    address = {"street": "High Street", "countryISO": "FR"}
    changes = {"billingAddress": address, "annotations": {"b": "2"}}
    updated = (await tenant.call("PATCH", f"/v1/cards/{made}", changes)).json()
    assert changes.items() <= updated.items()
    assert updated["tags"] == ["old"]


async def test_a_repeat_with_the_same_key_asks_the_network_once(
    tenant: "Tenant", service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    rail, asked = service.parts[Rail], 0
    verify = rail.verify_card

    async def count(details: Any) -> Any:
        nonlocal asked
        asked += 1
        return await verify(details)

    monkeypatch.setattr(rail, "verify_card", count)
    sent = body(await tenant.new_customer())
    answers = [
        await tenant.call("POST", "/v1/cards", sent, Idempotency_Key="same") for _ in range(3)
    ]
    assert len({answer.content for answer in answers}) == 1
    assert asked == 1


async def test_a_network_that_is_away_is_503_and_leaves_nothing(
    tenant: "Tenant", service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(_: Any) -> Any:
        raise RailAway

    owner = await tenant.new_customer()
    with monkeypatch.context() as patch:
        patch.setattr(service.parts[Rail], "verify_card", nothing)
        away = await tenant.call("POST", "/v1/cards", body(owner), Idempotency_Key="k")
        assert (away.status_code, away.json()["code"]) == (503, "unavailable")
    again = await tenant.call("POST", "/v1/cards", body(owner), Idempotency_Key="k")
    assert again.status_code == 201
    listed = await tenant.call("GET", f"/v1/cards?ownerId={owner}")
    assert len(listed.json()["results"]) == 1
