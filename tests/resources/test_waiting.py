"""What waits for an approval: it goes on, fails or expires, once, and nobody moves it meanwhile."""

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
import pytest
import pytest_asyncio
from tests.resources.houses import House, open_house
from tests.resources.money import World, open_world, problem, uuid_of
from tests.resources.outside import is_silent
from tests.verdicts import REASON, RULE, Bench, Wish

from farthing.db.hearings import Verdict
from farthing.http.app import build

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.conftest import Database

WAITS = Wish(approval=True)
NO = {"reason": "Nobody knows them"}


@dataclass
class Waiting(World):
    """A world in which rules want what a test tells them to."""

    bench: Bench

    async def approvals(self, query: str = "?stateId=PENDING") -> list[dict[str, Any]]:
        answer = await self.call("GET", f"/v1/approvals{query}")
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["results"]
        return found

    async def the_approval(self) -> dict[str, Any]:
        (found,) = await self.approvals()
        return found

    async def approve(self, approval: dict[str, Any], **more: Any) -> Any:
        path = f"/v1/approvals/{approval['id']}/approve"
        return await self.call("POST", path, {"reason": "Known to us"}, **more)

    async def reject(self, approval: dict[str, Any], **more: Any) -> Any:
        return await self.call("POST", f"/v1/approvals/{approval['id']}/reject", NO, **more)

    async def let_expire(self) -> None:
        self.house.clock.now += timedelta(hours=2)
        token = await self.tenant.token_for(self.tenant.customer)
        self.tenant = replace(self.tenant, token=token)
        await self.run("expire approvals")

    async def shown(self, path: str, identifier: str) -> dict[str, Any]:
        found: dict[str, Any] = (await self.call("GET", f"{path}/{identifier}")).json()
        return found

    async def history(self, path: str, identifier: str) -> list[tuple[str, str, str | None]]:
        told = (await self.call("GET", f"{path}/{identifier}/transitions")).json()["history"]
        return [(one["toStateId"], one["actor"], one.get("reason")) for one in told]

    async def answer(self, card: str) -> int:
        """Approve a card in its holder's place, and return the status of the page."""
        path = urlsplit((await self.shown("/v1/cards", card))["requirements"]["threeDSecure"]).path
        return await self.answer_at(path)

    async def answer_at(self, path: str) -> int:
        transport = httpx2.ASGITransport(app=build(self.house.service))
        async with httpx2.AsyncClient(transport=transport, base_url="http://bank.test") as page:
            return (await page.post(path, data={"decision": "approve"})).status_code

    async def has_number(self, card: str) -> bool:
        sql = "SELECT 1 FROM vault.numbers WHERE id = $1"
        return bool(await self.house.database.fetch(sql, uuid_of(card)))


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench()


@pytest_asyncio.fixture(scope="module")
async def house(database: "Database", bench: Bench) -> "AsyncIterator[House]":
    async with open_house(database, bench) as opened:
        yield opened


@pytest_asyncio.fixture
async def world(house: House, bench: Bench) -> "AsyncIterator[Waiting]":
    house.rail.reset()
    house.rail.card = "verified"
    bench.clear()
    opened = await open_world(house)
    yield Waiting(opened.house, opened.tenant, bench)
    await opened.prove()


# Payments.


async def test_a_payment_waits_with_its_money_reserved_and_no_rail_hears_of_it(
    world: Waiting,
) -> None:
    account = await world.fund(1000)
    world.bench.wants["transaction.create"] = WAITS
    tx = await world.paid_out(account, 600)
    approval = await world.the_approval()
    assert (tx["stateId"], tx["requirements"]) == ("PROCESSING", {"approval": approval["id"]})
    assert await world.amounts(account) == {"complete": 1000, "available": 400, "debits": 600}
    assert await world.orders(tx) == []
    for token in (world.tenant.token, world.tenant.operator):
        for target in ("CANCELLED", "FAILED", "EFFECTED", "HELD"):
            answer = await world.move(tx, target, token=token)
            assert problem(answer) == (409, "requirements_unresolved")


async def test_an_approval_tells_what_waits_who_asked_and_until_when(world: Waiting) -> None:
    account = await world.account()
    world.bench.wants["transaction.create"] = replace(WAITS, four_eyes=True)
    tx = await world.charged(account, 600)
    approval = await world.the_approval()
    assert approval["objectId"] == tx["id"]
    assert approval["ruleId"] == f"rule/{RULE}"
    assert (approval["askedBy"], approval["fourEyes"]) == ("CLIENT", True)
    assert approval["message"] == "Is it so?"
    assert "decidedBy" not in approval
    for query in (f"?objectId={tx['id']}", f"?ruleId=rule/{RULE}"):
        assert [one["id"] for one in await world.approvals(query)] == [approval["id"]]
    assert await world.approvals("?stateId=APPROVED") == []
    reasons = [one[2] for one in await world.history("/v1/tx", f"tx/{uuid_of(tx['id'])}")]
    assert reasons == [REASON, REASON]


@pytest.mark.parametrize("kind", ["charged", "paid_out", "sent"])
async def test_what_is_approved_goes_on_to_its_end(world: Waiting, kind: str) -> None:
    account, other = await world.fund(1000), await world.account()
    world.bench.wants["transaction.create"] = WAITS
    if kind == "sent":
        tx = await world.sent(account, other, 300)
    else:
        tx = await getattr(world, kind)(account, 300)
    answer = await world.approve(await world.the_approval())
    assert answer.status_code == 200, answer.text
    assert (answer.json()["stateId"], answer.json()["decidedBy"]) == ("APPROVED", "CLIENT")
    await world.idle()
    ended = await world.tx(tx)
    assert (ended["stateId"], ended["requirements"]) == ("EFFECTED", {})
    expected = {"charged": 1300, "paid_out": 700, "sent": 700}[kind]
    assert await world.available(account) == expected


@pytest.mark.parametrize("end", ["reject", "expire"])
async def test_what_is_not_approved_fails_and_its_money_is_free(world: Waiting, end: str) -> None:
    account = await world.fund(1000)
    world.bench.wants["transaction.create"] = WAITS
    tx = await world.paid_out(account, 600)
    approval = await world.the_approval()
    if end == "reject":
        assert (await world.reject(approval)).json()["stateId"] == "REJECTED"
    else:
        await world.let_expire()
        assert (await world.shown("/v1/approvals", approval["id"]))["stateId"] == "EXPIRED"
    ended = await world.tx(tx, "transitions")
    assert (ended["stateId"], ended["requirements"]) == ("FAILED", {})
    said = {"reject": "Rejected: Nobody knows them", "expire": "Nobody approved it in time."}
    assert ended["transitions"][-1]["reason"] == said[end]
    assert await world.amounts(account) == {"complete": 1000, "available": 1000}
    assert await world.orders(tx) == []


async def test_escrow_that_is_approved_is_held_and_not_paid_out(world: Waiting) -> None:
    account = await world.fund(1000)
    world.bench.wants["transaction.create"] = WAITS
    tx = await world.paid_out(account, 600, targetStateId="HELD")
    await world.approve(await world.the_approval())
    await world.idle()
    assert await world.state(tx) == "HELD"
    assert await world.orders(tx) == []


async def test_what_was_to_stay_pending_waits_there_and_stays_there(world: Waiting) -> None:
    account = await world.fund(1000)
    world.bench.wants["transaction.create"] = WAITS
    tx = await world.paid_out(account, 600, targetStateId="PENDING")
    assert (tx["stateId"], list(tx["requirements"])) == ("PENDING", ["approval"])
    assert problem(await world.move(tx, "PROCESSING")) == (409, "requirements_unresolved")
    await world.approve(await world.the_approval())
    assert await world.state(tx) == "PENDING"
    world.bench.clear()
    await world.moved(tx, "PROCESSING")
    await world.idle()
    assert await world.state(tx) == "EFFECTED"


async def test_escrow_whose_release_is_approved_is_paid_out(world: Waiting) -> None:
    payer, payee = await world.fund(1000), await world.account()
    tx = await world.sent(payer, payee, 400, targetStateId="HELD")
    world.bench.wants["transaction.transition"] = WAITS
    assert (await world.moved(tx, "EFFECTED"))["stateId"] == "PROCESSING"
    assert await world.available(payee) == 0
    await world.approve(await world.the_approval())
    assert await world.state(tx) == "EFFECTED"
    assert await world.available(payee) == 400


async def test_a_transfer_that_comes_before_the_approval_is_withheld(world: Waiting) -> None:
    account = await world.account()
    await world.reference(account)
    world.bench.wants["transaction.create"] = WAITS
    tx = await world.announced(account, 500)
    await world.hear(world.arrival(tx["reference"], 500))
    assert await world.amounts(account) == {"complete": 500, "withheld": 500}
    assert await world.state(tx) == "PROCESSING"
    await world.approve(await world.the_approval())
    assert await world.state(tx) == "EFFECTED"
    assert await world.available(account) == 500


async def test_an_approval_of_what_has_ended_by_itself_can_only_be_rejected(
    world: Waiting,
) -> None:
    account = await world.account()
    await world.reference(account)
    world.bench.wants["transaction.create"] = replace(WAITS, lifetime=timedelta(days=1000))
    tx = await world.announced(account, 500)
    world.house.clock.now += timedelta(days=100)
    token = await world.tenant.token_for(world.tenant.customer)
    world.tenant = replace(world.tenant, token=token)
    await world.run("expire transactions")
    assert (await world.tx(tx))["requirements"] == {}
    approval = await world.the_approval()
    answer = await world.approve(approval)
    assert problem(answer) == (409, "transition_not_allowed")
    assert answer.json()["currentStateId"] == "PENDING"
    assert answer.json()["allowedStateIds"] == ["REJECTED"]
    assert (await world.reject(approval)).json()["stateId"] == "REJECTED"
    assert await world.state(tx) == "FAILED"


async def test_an_account_that_is_out_of_use_keeps_what_waits_waiting(world: Waiting) -> None:
    account = await world.fund(1000)
    world.bench.wants["transaction.create"] = WAITS
    tx = await world.paid_out(account, 600)
    path = f"/v1/accounts/{account}/state"
    await world.call("PATCH", path, {"toStateId": "DISABLED"})
    approval = await world.the_approval()
    assert problem(await world.approve(approval)) == (409, "account_not_active")
    await world.call("PATCH", path, {"toStateId": "ENABLED"})
    assert (await world.approve(approval)).status_code == 200
    await world.idle()
    assert await world.state(tx) == "EFFECTED"


async def test_an_order_that_a_rail_has_from_before_is_asked_on(world: Waiting) -> None:
    """It is not carried out twice, and what comes of it later is in suspense."""
    account = await world.fund(1000)
    world.rail.script["pay_out"].append(is_silent)
    tx = await world.paid_out(account, 600)
    assert await world.state(tx) == "ERRORED"
    world.bench.wants["transaction.transition"] = WAITS
    assert (await world.moved(tx, "PROCESSING"))["requirements"] != {}
    await world.reject(await world.the_approval())
    assert await world.state(tx) == "FAILED"
    (order,) = await world.orders(tx)
    assert order.is_in_flight
    await world.later(days=1)


# What has no money.


async def test_a_card_is_processing_until_it_is_approved(world: Waiting) -> None:
    owner = await world.customer()
    world.bench.wants["card.create"] = WAITS
    card = await world.card(owner)
    approval = await world.the_approval()
    shown = await world.shown("/v1/cards", card)
    assert (shown["stateId"], shown["requirements"]) == ("PROCESSING", {"approval": approval["id"]})
    for token in (world.tenant.token, world.tenant.operator):
        answer = await world.call(
            "PATCH", f"/v1/cards/{card}/state", {"toStateId": "ENABLED"}, token=token
        )
        assert problem(answer) == (409, "requirements_unresolved")
    await world.approve(approval)
    shown = await world.shown("/v1/cards", card)
    assert (shown["stateId"], shown["requirements"]) == ("ENABLED", {})
    assert (await world.history("/v1/cards", card))[-1] == (
        "ENABLED",
        "PLATFORM",
        "Approved: Known to us",
    )


@pytest.mark.parametrize("end", ["reject", "expire"])
async def test_a_card_that_is_not_approved_fails_and_its_number_is_erased(
    world: Waiting, end: str
) -> None:
    owner = await world.customer()
    world.bench.wants["card.create"] = WAITS
    card = await world.card(owner, setAsPreferred=True)
    assert await world.has_number(card)
    if end == "reject":
        await world.reject(await world.the_approval())
    else:
        await world.let_expire()
    shown = await world.shown("/v1/cards", card)
    assert (shown["stateId"], shown["setAsPreferred"]) == ("FAILED", False)
    assert not await world.has_number(card)


@pytest.mark.parametrize("first", ["approval", "challenge"])
async def test_a_card_needs_both_its_holder_and_its_approval(world: Waiting, first: str) -> None:
    owner = await world.customer()
    world.bench.wants["card.create"] = WAITS
    world.rail.card = "challenge"
    card = await world.card(owner)
    shown = await world.shown("/v1/cards", card)
    assert sorted(shown["requirements"]) == ["approval", "threeDSecure"]
    approval = await world.the_approval()
    if first == "approval":
        assert (await world.approve(approval)).status_code == 200
    else:
        assert await world.answer(card) == 200
    assert (await world.shown("/v1/cards", card))["stateId"] == "PROCESSING"
    if first == "approval":
        assert await world.answer(card) == 200
    else:
        assert (await world.approve(approval)).status_code == 200
    assert (await world.shown("/v1/cards", card))["stateId"] == "ENABLED"


async def test_a_challenge_of_a_card_that_was_rejected_ends_without_effect(
    world: Waiting,
) -> None:
    owner = await world.customer()
    world.bench.wants["card.create"] = WAITS
    world.rail.card = "challenge"
    card = await world.card(owner)
    shown = await world.shown("/v1/cards", card)
    path = urlsplit(shown["requirements"]["threeDSecure"]).path
    await world.reject(await world.the_approval())
    assert await world.answer_at(path) == 404
    world.house.clock.now += timedelta(hours=1)
    await world.run("expire challenges")
    (found,) = await world.house.database.fetch(
        "SELECT outcome FROM challenges WHERE object_id = $1", uuid_of(card)
    )
    assert found["outcome"] == "expired"


async def test_a_card_that_the_network_declined_is_not_brought_before_rules(
    world: Waiting,
) -> None:
    owner = await world.customer()
    world.bench.wants["card.create"] = WAITS
    world.rail.card = "declined"
    card = await world.card(owner)
    assert (await world.shown("/v1/cards", card))["stateId"] == "FAILED"
    assert await world.approvals() == []


async def test_a_bank_account_is_pending_until_it_is_approved(world: Waiting) -> None:
    owner = await world.customer()
    world.bench.wants["bank_account.create"] = WAITS
    made = await world.bank_account(owner)
    path = f"/v1/bank-accounts/{made}/state"
    assert (await world.shown("/v1/bank-accounts", made))["stateId"] == "PENDING"
    for token in (world.tenant.token, world.tenant.operator, await world.tenant.token_for(owner)):
        for target in ("ENABLED", "DISABLED", "CLOSED"):
            answer = await world.call("PATCH", path, {"toStateId": target}, token=token)
            assert problem(answer) == (409, "requirements_unresolved")
    await world.approve(await world.the_approval())
    assert (await world.shown("/v1/bank-accounts", made))["stateId"] == "ENABLED"


async def test_a_bank_account_without_a_destination_stays_pending_once_approved(
    world: Waiting,
) -> None:
    owner = await world.customer()
    world.bench.wants["bank_account.create"] = WAITS
    bare = {"accountNumber": None, "sortCode": None}
    made = await world.bank_account(owner, **bare)
    await world.approve(await world.the_approval())
    assert (await world.shown("/v1/bank-accounts", made))["stateId"] == "PENDING"
    body = {"accountNumber": "31926819", "sortCode": "108800"}
    await world.call("PATCH", f"/v1/bank-accounts/{made}", body)
    assert (await world.shown("/v1/bank-accounts", made))["stateId"] == "ENABLED"


async def test_a_destination_that_is_verified_does_not_stand_in_for_an_approval(
    world: Waiting,
) -> None:
    owner = await world.customer()
    world.bench.wants["bank_account.create"] = WAITS
    made = await world.bank_account(owner, accountNumber=None, sortCode=None)
    body = {"accountNumber": "31926819", "sortCode": "108800"}
    answer = await world.call("PATCH", f"/v1/bank-accounts/{made}", body)
    assert answer.json()["stateId"] == "PENDING"
    await world.approve(await world.the_approval())
    assert (await world.shown("/v1/bank-accounts", made))["stateId"] == "ENABLED"


async def test_a_bank_account_that_is_rejected_is_closed_and_preferred_no_more(
    world: Waiting,
) -> None:
    owner = await world.customer()
    world.bench.wants["bank_account.create"] = WAITS
    made = await world.bank_account(owner, setAsPreferred=True)
    await world.reject(await world.the_approval())
    assert (await world.shown("/v1/bank-accounts", made))["stateId"] == "CLOSED"
    assert "preferredInstruments" not in await world.shown("/v1/customers", owner)


async def test_a_customer_is_pending_until_approved_and_can_own_nothing(world: Waiting) -> None:
    world.bench.wants["customer.create"] = WAITS
    made = await world.customer()
    assert (await world.shown("/v1/customers", made))["stateId"] == "PENDING"
    body = {"ownerId": made, "currencyISO": "GBP"}
    assert problem(await world.call("POST", "/v1/accounts", body)) == (409, "owner_not_active")
    for token in (world.tenant.token, world.tenant.operator, await world.tenant.token_for(made)):
        for target in ("ENABLED", "DISABLED", "CLOSING"):
            path = f"/v1/customers/{made}/state"
            answer = await world.call("PATCH", path, {"toStateId": target}, token=token)
            assert answer.json()["code"] == "requirements_unresolved"
    await world.approve(await world.the_approval())
    assert (await world.shown("/v1/customers", made))["stateId"] == "ENABLED"
    await world.account(made)


@pytest.mark.parametrize("end", ["reject", "expire"])
async def test_a_customer_who_is_not_approved_is_terminated(world: Waiting, end: str) -> None:
    world.bench.wants["customer.create"] = WAITS
    made = await world.customer()
    if end == "reject":
        await world.reject(await world.the_approval())
    else:
        await world.let_expire()
    states = [one[:2] for one in await world.history("/v1/customers", made)]
    wanted = [("PENDING", "CLIENT"), ("CLOSING", "PLATFORM"), ("TERMINATED", "PLATFORM")]
    assert states == wanted


# Who decides, and how often.


@pytest.mark.parametrize(
    ("asks", "others"),
    [("customer", {"client", "operator"}), ("client", {"operator"}), ("operator", {"client"})],
)
async def test_four_eyes_are_not_those_who_asked(
    world: Waiting, asks: str, others: set[str]
) -> None:
    account = await world.fund(1000)
    other = await world.account(await world.owner(account))
    tokens = {
        "customer": await world.tenant.token_for(await world.owner(account)),
        "client": world.tenant.token,
        "operator": world.tenant.operator,
    }
    world.bench.wants["transaction.create"] = replace(WAITS, four_eyes=True)
    for approves in ("client", "operator"):
        answer = await world.internal(account, other, 100, token=tokens[asks])
        assert answer.status_code == 201, answer.text
        approval = await world.the_approval()
        assert approval["askedBy"] == asks.upper()
        answer = await world.approve(approval, token=tokens[approves])
        if approves in others:
            assert answer.json()["decidedBy"] == approves.upper()
            continue
        assert problem(answer) == (403, "forbidden")
        assert "four eyes" in answer.json()["detail"]
        assert (await world.reject(approval, token=tokens[approves])).status_code == 200


async def test_without_four_eyes_whoever_asked_may_approve(world: Waiting) -> None:
    world.bench.wants["customer.create"] = WAITS
    await world.customer()
    approval = await world.the_approval()
    key = {"token": world.tenant.key}
    assert (await world.approve(approval, **key)).json()["decidedBy"] == "CLIENT"


async def test_what_is_decided_is_decided(world: Waiting) -> None:
    world.bench.wants["customer.create"] = WAITS
    await world.customer()
    approval = await world.the_approval()
    await world.approve(approval)
    for again in (world.approve, world.reject):
        answer = await again(approval)
        assert problem(answer) == (409, "transition_not_allowed")
        assert answer.json()["currentStateId"] == "APPROVED"
        assert answer.json()["allowedStateIds"] == []


async def test_an_approval_whose_time_has_passed_cannot_be_given_any_more(
    world: Waiting,
) -> None:
    """Also while nobody has written down yet that it expired."""
    world.bench.wants["customer.create"] = WAITS
    await world.customer()
    approval = await world.the_approval()
    world.house.clock.now += timedelta(hours=1)
    key = {"token": world.tenant.key}
    assert problem(await world.approve(approval, **key)) == (409, "transition_not_allowed")
    await world.run("expire approvals")
    answer = await world.call("GET", f"/v1/approvals/{approval['id']}", **key)
    assert answer.json()["stateId"] == "EXPIRED"
    token = await world.tenant.token_for(world.tenant.customer)
    world.tenant = replace(world.tenant, token=token)


async def test_of_a_yes_and_a_no_at_once_one_wins(world: Waiting) -> None:
    account, other = await world.fund(1000), await world.account()
    world.bench.wants["transaction.create"] = WAITS
    for _ in range(10):
        tx = await world.sent(account, other, 50)
        approval = await world.the_approval()
        answers = await asyncio.gather(world.approve(approval), world.reject(approval))
        assert sorted(one.status_code for one in answers) == [200, 409]
        won = "EFFECTED" if answers[0].status_code == 200 else "FAILED"
        assert await world.state(tx) == won


async def test_an_approval_that_nobody_gives_expires_when_a_clock_is_moved(
    world: Waiting,
) -> None:
    account = await world.fund(1000)
    world.bench.wants["transaction.create"] = WAITS
    tx = await world.paid_out(account, 600)
    body = {"advance": "PT2H"}
    answer = await world.call("POST", "/v1/sandbox/clock", body, token=world.tenant.key)
    assert {event["type"] for event in answer.json()["events"]} >= {
        "approval.expired",
        "transaction.failed",
    }
    token = await world.tenant.token_for(world.tenant.customer)
    world.tenant = replace(world.tenant, token=token)
    assert await world.state(tx) == "FAILED"


# What rules have a say in.


async def test_every_noun_is_brought_before_the_rules(world: Waiting) -> None:
    owner = await world.customer()
    owner_id, tenant_id = uuid_of(owner), world.tenant.id
    account = await world.account(owner)
    card, bank_account = await world.card(owner), await world.bank_account(owner)
    reference = (await world.made("/v1/references", {"toId": account}))["id"]
    expected = {
        ("customer.create", tenant_id, None),
        ("account.create", owner_id, "GBP"),
        ("card.create", owner_id, None),
        ("bank_account.create", owner_id, "GBP"),
        ("reference.create", owner_id, "GBP"),
    }
    assert set(world.bench.matters) == expected
    assert {trigger for trigger, _ in world.bench.judged} == {one[0] for one in expected}
    world.bench.clear()
    moves = {
        f"/v1/references/{reference}": "CLOSED",
        f"/v1/cards/{card}": "DISABLED",
        f"/v1/bank-accounts/{bank_account}": "DISABLED",
        f"/v1/accounts/{account}": "DISABLED",
        f"/v1/customers/{owner}": "DISABLED",
    }
    for path, target in moves.items():
        answer = await world.call("PATCH", f"{path}/state", {"toStateId": target})
        assert answer.status_code == 200, answer.text
    assert set(world.bench.matters) == {
        ("customer.transition", tenant_id, None),
        ("account.transition", owner_id, "GBP"),
        ("card.transition", owner_id, None),
        ("bank_account.transition", owner_id, "GBP"),
        ("reference.transition", owner_id, "GBP"),
    }
    steps = {trigger: (step.source, step.target) for trigger, step in world.bench.judged if step}
    assert steps["card.transition"] == ("ENABLED", "DISABLED")
    assert len(steps) == 5


CREATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "customer": ("/v1/customers", {"type": "INDIVIDUAL"}),
    "account": ("/v1/accounts", {"currencyISO": "GBP"}),
    "card": (
        "/v1/cards",
        {
            "cardNumber": "4242424242424242",
            "expiry": "1239",
            "cvv": "123",
            "billingAddress": {"countryISO": "GB"},
        },
    ),
    "bank_account": (
        "/v1/bank-accounts",
        {"currencyISO": "GBP", "countryISO": "GB", "billingAddress": {"countryISO": "GB"}},
    ),
    "reference": ("/v1/references", {}),
}


async def creation(world: Waiting, noun: str) -> tuple[str, dict[str, Any]]:
    """Return where a noun is made and what is sent for it."""
    path, body = CREATIONS[noun]
    owner = await world.customer()
    if noun == "reference":
        return path, {"toId": await world.account(owner)}
    return path, body if noun == "customer" else {"ownerId": owner, **body}


@pytest.mark.parametrize("noun", CREATIONS)
async def test_rules_label_what_is_made_and_the_history_says_so(world: Waiting, noun: str) -> None:
    path, body = await creation(world, noun)
    verdict = Verdict(tags=("seen",), annotations={"by": "rule"}, reason=REASON)
    world.bench.wants[f"{noun}.create"] = Wish(verdict)
    made = await world.made(path, {**body, "tags": ["mine"]})
    assert (made["tags"], made["annotations"]) == (["mine", "seen"], {"by": "rule"})
    ((_, _, reason),) = await world.history(path, made["id"])
    assert reason is not None
    assert reason.endswith(REASON)


@pytest.mark.parametrize("noun", CREATIONS)
async def test_rules_refuse_what_is_to_be_made_and_nothing_of_it_remains(
    world: Waiting, noun: str
) -> None:
    path, body = await creation(world, noun)
    world.bench.wants[f"{noun}.create"] = Wish(refusal="No more of these.")
    sql = "SELECT count(*) FROM events WHERE tenant_id = $1"
    before = await world.house.database.fetch(sql, world.tenant.id)
    answer = await world.call("POST", path, body)
    assert problem(answer) == (409, "refused_by_rule")
    assert answer.json()["ruleId"] == f"rule/{RULE}"
    assert await world.house.database.fetch(sql, world.tenant.id) == before


@pytest.mark.parametrize("noun", ["account", "reference"])
async def test_what_cannot_wait_is_refused_if_a_rule_wants_it_to(world: Waiting, noun: str) -> None:
    path, body = await creation(world, noun)
    world.bench.wants[f"{noun}.create"] = WAITS
    answer = await world.call("POST", path, body)
    assert problem(answer) == (409, "refused_by_rule")
    assert "cannot wait" in answer.json()["detail"]
    assert await world.approvals() == []


async def test_a_move_is_labelled_refused_or_cannot_wait(world: Waiting) -> None:
    account = await world.account()
    path = f"/v1/accounts/{account}/state"
    body = {"toStateId": "DISABLED", "reason": "A break.", "tags": ["mine"]}
    world.bench.wants["account.transition"] = Wish(refusal="Not now.")
    assert problem(await world.call("PATCH", path, body)) == (409, "refused_by_rule")
    world.bench.wants["account.transition"] = WAITS
    assert problem(await world.call("PATCH", path, body)) == (409, "refused_by_rule")
    assert await world.approvals() == []
    world.bench.wants["account.transition"] = Wish(Verdict(tags=("seen",), reason=REASON))
    moved = (await world.call("PATCH", path, body)).json()
    assert (moved["stateId"], moved["tags"]) == ("DISABLED", ["mine", "seen"])
    history = await world.history("/v1/accounts", account)
    assert history[-1] == ("DISABLED", "CLIENT", f"A break. {REASON}")


async def test_webhooks_and_approvals_are_not_brought_before_rules(world: Waiting) -> None:
    world.bench.wants["customer.create"] = WAITS
    await world.customer()
    world.bench.clear()
    await world.approve(await world.the_approval())
    assert (world.bench.judged, world.bench.matters) == ([], [])


# Money that nobody announced.


@pytest.mark.parametrize("wish", [Wish(refusal="We take no more."), Wish(Verdict(hold=True))])
async def test_money_that_has_come_is_held_if_rules_refuse_or_hold_it(
    world: Waiting, wish: Wish
) -> None:
    account = await world.account()
    reference = await world.reference(account)
    world.bench.wants["transaction.create"] = replace(wish, approval=wish.refusal is not None)
    await world.hear(world.arrival(reference, 500))
    assert await world.amounts(account) == {"complete": 500, "withheld": 500}
    (tx,) = (await world.call("GET", f"/v1/tx?ownerId={await world.owner(account)}")).json()[
        "results"
    ]
    assert tx["stateId"] == "HELD"
    # What one rule asked for is void if another refuses.
    assert await world.approvals() == []
    world.bench.clear()
    await world.moved(tx, "EFFECTED")
    assert await world.available(account) == 500


@pytest.mark.parametrize("end", ["approve", "reject"])
async def test_money_that_has_come_waits_withheld_for_its_approval(
    world: Waiting, end: str
) -> None:
    account = await world.account()
    reference = await world.reference(account)
    world.bench.wants["transaction.create"] = WAITS
    await world.hear(world.arrival(reference, 500))
    assert await world.amounts(account) == {"complete": 500, "withheld": 500}
    approval = await world.the_approval()
    assert (await getattr(world, end)(approval)).status_code == 200
    await world.idle()
    expected = {"complete": 500, "available": 500} if end == "approve" else {}
    assert await world.amounts(account) == expected
