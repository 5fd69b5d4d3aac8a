"""Sandbox controls: from every state, each does what it says, or is refused and changes nothing."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from msgspec import structs
from tests.resources.houses import open_client
from tests.resources.money import World, open_world, problem, uuid_of

from farthing.catalog import OPERATIONS
from farthing.core import ids
from farthing.core.ids import new_id
from farthing.db.committer import Committer
from farthing.http.app import build
from farthing.http.service import Service
from farthing.rails.base import Rail
from farthing.resources.orders.store import ORDERS

Tx = dict[str, Any]

CHALLENGED, UNKNOWN, BROKE = "4000002760003184", "4000000000000119", "4000000000009995"
UNSURE_BANK, PENDING_BANK, REFUSING_BANK = "108803", "108804", "108802"

CONTROLS: dict[str, Any] = {
    "settle": None,
    "fail": {"reason": "account_closed"},
    "stall": None,
    "return": {},
    "dispute": {},
    "dispute/win": None,
    "dispute/lose": {},
    "challenge": {"approve": True},
}


async def control(world: World, tx: Tx | str, name: str, body: object = ..., **more: Any) -> Any:
    identifier = tx if isinstance(tx, str) else tx["id"]
    sent = CONTROLS[name] if body is ... else body
    path = f"/v1/sandbox/tx/tx/{uuid_of(identifier)}/{name}"
    return await world.call("POST", path, sent, token=more.pop("token", world.tenant.key), **more)


async def head(world: World) -> int:
    sql = "SELECT coalesce(max(position), 0) FROM events WHERE tenant_id = $1"
    return int((await world.house.fetch(sql, world.tenant.id))[0][0])


async def told(world: World, name: str, tx: Tx, body: object = ...) -> Tx:
    """Send a control that fits, and require that it answers with what is so now, and why."""
    before = await head(world)
    answer = await control(world, tx, name, body)
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    assert shown["object"] == await world.tx(tx)
    sql = "SELECT type FROM events WHERE tenant_id = $1 AND position > $2 ORDER BY position"
    written = await world.house.fetch(sql, world.tenant.id, before)
    assert [one["type"] for one in shown["events"]] == [one["type"] for one in written]
    own = [one for one in shown["events"] if one["objectId"] == tx["id"]]
    assert not own or own[-1]["data"] == shown["object"]
    found: Tx = shown["object"]
    return found


@contextmanager
def nobody_notices(world: World) -> Iterator[None]:
    """Let the process that places orders die before it sends them."""
    listeners = world.house.service.parts[Committer]._writer._listeners  # noqa: SLF001 - the process is to be deaf
    kept = listeners.pop(ORDERS)
    try:
        yield
    finally:
        listeners[ORDERS] = kept


async def charge(world: World, number: str = "4242424242424242", **fields: Any) -> Tx:
    account = await world.account()
    card = await world.card(await world.owner(account), number)
    return await world.charged(account, 1000, paymentInstrumentId=card, **fields)


async def payout(world: World, sort_code: str = "108800", **fields: Any) -> Tx:
    account = await world.fund(1000)
    bank = await world.bank_account(await world.owner(account), sortCode=sort_code)
    return await world.paid_out(account, 600, paymentInstrumentId=bank, **fields)


async def announced(world: World, **fields: Any) -> Tx:
    account = await world.account()
    await world.reference(account)
    return await world.announced(account, 700, **fields)


async def refunded(world: World, amount: int) -> Tx:
    tx = await charge(world)
    assert (await world.refund(tx, amount)).status_code == 200
    await world.idle()
    return await world.tx(tx)


async def moved(world: World, tx: Tx, to: str, **more: Any) -> Tx:
    await world.moved(tx, to, **more)
    await world.idle()
    return await world.tx(tx)


async def accepted(world: World) -> Tx:
    with nobody_notices(world):
        return await charge(world)


async def kept_back(world: World) -> Tx:
    """Let an order never reach the rail, and the client hold what it is for."""
    await mood(world, mood="forgetful", requests=1)
    tx = await moved(world, await charge(world), "HELD", token=world.tenant.operator)
    await world.later(hours=1)
    assert [one.status for one in await world.orders(tx)] == ["waiting"]
    return await world.tx(tx)


async def refund_under_way(world: World) -> Tx:
    tx = await charge(world)
    await mood(world, mood="down")
    await world.refund(tx, 300)
    await world.idle()
    await mood(world, mood="normal")
    return await world.tx(tx)


async def disputed(world: World) -> Tx:
    return await told(world, "dispute", await charge(world), {"amount": "400"})


async def vouched_for(world: World) -> Tx:
    return await moved(
        world, await payout(world, PENDING_BANK), "FAILED", token=world.tenant.operator
    )


async def internal(world: World, **fields: Any) -> Tx:
    return await world.sent(await world.fund(1000), await world.account(), 500, **fields)


async def held_inbound(world: World) -> Tx:
    return await charge(world, targetStateId="HELD")


async def cancelled(world: World) -> Tx:
    return await moved(world, await announced(world), "CANCELLED")


async def arrived(world: World) -> Tx:
    return await told(world, "settle", await announced(world))


# From which scene, which controls lead where; all others are refused.
SCENES: dict[str, tuple[Callable[[World], Awaitable[Tx]], str, dict[str, str]]] = {
    "a charge that nobody has sent": (
        accepted,
        "ACCEPTED",
        {"settle": "EFFECTED", "fail": "FAILED", "stall": "PROCESSING"},
    ),
    "a charge that waits for its client": (
        lambda world: charge(world, targetStateId="PENDING"),
        "PENDING",
        {},
    ),
    "a charge that wants an approval": (
        lambda world: charge(world, CHALLENGED),
        "PROCESSING",
        {"challenge": "EFFECTED"},
    ),
    "a charge that is astray": (
        lambda world: charge(world, UNKNOWN),
        "ERRORED",
        {"settle": "EFFECTED", "fail": "FAILED", "stall": "PROCESSING"},
    ),
    "a charge that is refused": (lambda world: charge(world, BROKE), "FAILED", {}),
    "a charge that is kept from the rail": (kept_back, "HELD", {}),
    "a charge in escrow": (held_inbound, "HELD", {}),
    "a charge that is done": (charge, "EFFECTED", {"return": "ADJUSTED", "dispute": "DISPUTED"}),
    "a charge that is refunded in part": (
        lambda world: refunded(world, 300),
        "ADJUSTED",
        {"return": "ADJUSTED", "dispute": "DISPUTED"},
    ),
    "a charge that is refunded": (lambda world: refunded(world, 1000), "ADJUSTED", {}),
    "a charge whose refund is under way": (
        refund_under_way,
        "ADJUSTED",
        {"settle": "ADJUSTED", "fail": "ADJUSTED", "stall": "ADJUSTED"},
    ),
    "a charge that is disputed": (
        disputed,
        "DISPUTED",
        {"dispute/win": "EFFECTED", "dispute/lose": "ADJUSTED"},
    ),
    "a payout that is on its way": (
        lambda world: payout(world, PENDING_BANK),
        "PROCESSING",
        {"settle": "EFFECTED", "fail": "FAILED", "stall": "PROCESSING"},
    ),
    "a payout that is astray": (
        lambda world: payout(world, UNSURE_BANK),
        "ERRORED",
        {"settle": "EFFECTED", "fail": "FAILED", "stall": "PROCESSING"},
    ),
    "a payout that is done": (payout, "EFFECTED", {"return": "ADJUSTED"}),
    "a payout that is refused": (lambda world: payout(world, REFUSING_BANK), "FAILED", {}),
    "a payout that is kept": (lambda world: payout(world, targetStateId="HELD"), "HELD", {}),
    "a payout that somebody gave up": (
        vouched_for,
        "FAILED",
        {"settle": "FAILED", "fail": "FAILED", "stall": "FAILED"},
    ),
    "a transfer that is awaited": (
        announced,
        "PENDING",
        {"settle": "EFFECTED", "fail": "FAILED"},
    ),
    "a transfer that is awaited for escrow": (
        lambda world: announced(world, targetStateId="HELD"),
        "PENDING",
        {"settle": "HELD", "fail": "FAILED"},
    ),
    "a transfer that nobody wants": (cancelled, "CANCELLED", {}),
    "a transfer that has arrived": (
        arrived,
        "EFFECTED",
        {"return": "ADJUSTED", "dispute": "DISPUTED"},
    ),
    "money between two accounts": (internal, "EFFECTED", {}),
    "money in escrow between two accounts": (
        lambda world: internal(world, targetStateId="HELD"),
        "HELD",
        {},
    ),
}


@pytest.mark.parametrize("scene", SCENES)
async def test_a_control_does_what_it_says_or_changes_nothing(sandbox: World, scene: str) -> None:
    make, state, ways = SCENES[scene]
    kept: Tx | None = None
    for name in CONTROLS:
        if name in ways:
            tx = await make(sandbox)
            assert tx["stateId"] == state
            after = await told(sandbox, name, tx)
            assert after["stateId"] == ways[name], name
            continue
        kept = kept or await make(sandbox)
        before, events = await sandbox.tx(kept), await head(sandbox)
        assert before["stateId"] == state
        answer = await control(sandbox, kept, name)
        assert answer.status_code == 409, (name, answer.text)
        assert answer.json()["currentStateId"] == state, name
        assert (await sandbox.tx(kept), await head(sandbox)) == (before, events), name


# Money.


async def test_a_returned_payout_is_on_the_account_again(sandbox: World) -> None:
    account = await sandbox.fund(1000)
    tx = await sandbox.paid_out(account, 600)
    assert await sandbox.available(account) == 400
    after = await told(sandbox, "return", tx, {"reason": "The account is closed."})
    assert [(one["type"], one["amount"], one["reason"]) for one in after["adjustments"]] == [
        ("REFUND", "600", "The account is closed.")
    ]
    assert await sandbox.available(account) == 1000
    assert problem(await control(sandbox, tx, "return")) == (409, "control_not_applicable")


async def test_what_a_bank_takes_back_is_gone_from_the_account(sandbox: World) -> None:
    account = await sandbox.account()
    await sandbox.reference(account)
    tx = await told(sandbox, "settle", await sandbox.announced(account, 700))
    assert await sandbox.available(account) == 700
    after = await told(sandbox, "return", tx)
    assert [one["type"] for one in after["adjustments"]] == ["CHARGEBACK"]
    assert await sandbox.amounts(account) == {}


async def test_a_dispute_can_be_lost_in_part_and_disputed_again(sandbox: World) -> None:
    account = await sandbox.account()
    tx = await sandbox.charged(account, 1000)
    await told(sandbox, "dispute", tx, {"amount": "800"})
    assert await sandbox.available(account) == 200
    beyond = await control(sandbox, tx, "dispute/lose", {"amount": "801"})
    assert problem(beyond) == (409, "amount_exceeds_remaining")
    await told(sandbox, "dispute/lose", tx, {"amount": "300"})
    assert await sandbox.available(account) == 700
    too_much = await control(sandbox, tx, "dispute", {"amount": "701"})
    assert problem(too_much) == (409, "amount_exceeds_remaining")
    await told(sandbox, "dispute", tx)
    await told(sandbox, "dispute/win", tx)
    await told(sandbox, "dispute", tx)
    after = await told(sandbox, "dispute/lose", tx)
    assert [one["amount"] for one in after["adjustments"]] == ["300", "700"]
    assert await sandbox.amounts(account) == {}


async def test_a_payout_that_arrives_after_it_was_given_up_is_in_suspense(sandbox: World) -> None:
    tx = await vouched_for(sandbox)
    answer = (await control(sandbox, tx, "settle")).json()
    assert answer["object"]["stateId"] == "FAILED"
    assert "transaction.effected" in [one["type"] for one in answer["events"]]
    assert await sandbox.in_suspense() == -600


async def test_what_is_stalled_stays_until_it_is_settled(sandbox: World) -> None:
    tx = await told(sandbox, "stall", await charge(sandbox, UNKNOWN))
    await sandbox.later(hours=20)
    assert await sandbox.state(tx) == "PROCESSING"
    assert (await told(sandbox, "settle", tx))["stateId"] == "EFFECTED"


async def test_a_reason_stands_in_the_history(sandbox: World) -> None:
    tx = await payout(sandbox, PENDING_BANK)
    await told(sandbox, "fail", tx, {"reason": "account_closed"})
    last = (await sandbox.tx(tx, "transitions"))["transitions"][-1]
    assert last["reason"] == "The rail said: refused (account_closed)."


@pytest.mark.parametrize("name", ["fail", "return"])
async def test_a_reason_may_be_left_out(sandbox: World, name: str) -> None:
    tx = await (payout(sandbox, PENDING_BANK) if name == "fail" else payout(sandbox))
    await told(sandbox, name, tx, {})


async def test_a_transfer_settles_whatever_waits_longest(sandbox: World) -> None:
    account = await sandbox.account()
    await sandbox.reference(account)
    first = await sandbox.announced(account, 700)
    second = await sandbox.announced(account, 700)
    refused = await control(sandbox, second, "settle")
    assert problem(refused) == (409, "control_not_applicable")
    assert first["id"] in refused.json()["detail"]
    await told(sandbox, "settle", first)
    await told(sandbox, "settle", second)
    assert await sandbox.available(account) == 1400


async def test_a_transfer_settles_nothing_on_an_account_that_takes_none(sandbox: World) -> None:
    account = await sandbox.account()
    await sandbox.reference(account)
    tx = await sandbox.announced(account, 700)
    await sandbox.call("PATCH", f"/v1/accounts/{account}/state", {"toStateId": "DISABLED"})
    assert problem(await control(sandbox, tx, "settle")) == (409, "account_not_active")
    assert await sandbox.in_suspense() == 0


async def test_nothing_is_returned_to_an_account_that_is_closed(sandbox: World) -> None:
    account = await sandbox.fund(600)
    tx = await sandbox.paid_out(account, 600)
    await sandbox.call("PATCH", f"/v1/accounts/{account}/state", {"toStateId": "CLOSED"})
    assert problem(await control(sandbox, tx, "return")) == (409, "account_not_active")


async def test_a_dispute_that_a_card_has_in_store_is_overtaken(sandbox: World) -> None:
    tx = await charge(sandbox, "4000000000000259")
    await told(sandbox, "dispute", tx, {"amount": "100"})
    await told(sandbox, "dispute/win", tx)
    await sandbox.later(minutes=5)
    assert await sandbox.state(tx) == "EFFECTED"


# Arrivals.


async def arrive(world: World, reference: str, amount: object = "700", **more: Any) -> Any:
    headers = {name: more.pop(name) for name in ("token", "Idempotency_Key") if name in more}
    body = {"reference": reference, "amount": amount, "currencyISO": "GBP", **more}
    return await world.call(
        "POST", "/v1/sandbox/inbound", body, **{"token": world.tenant.key, **headers}
    )


async def test_a_transfer_arrives_where_its_reference_says(sandbox: World) -> None:
    account = await sandbox.account()
    text = await sandbox.reference(account)
    waiting = await sandbox.announced(account, 700)
    answer = (await arrive(sandbox, text)).json()
    assert (answer["object"]["id"], answer["object"]["stateId"]) == (waiting["id"], "EFFECTED")
    assert [one["type"] for one in answer["events"]] == ["transaction.effected"]
    deposit = (await arrive(sandbox, text, "50", fromName="Ada")).json()
    assert deposit["object"]["id"] != waiting["id"]
    assert await sandbox.available(account) == 750


async def test_a_transfer_that_nobody_knows_goes_to_suspense(sandbox: World) -> None:
    answer = (await arrive(sandbox, "no idea")).json()
    assert answer["object"]["tags"] == ["suspense"]
    assert answer["events"][0]["type"] == "account.created"
    assert await sandbox.in_suspense() == 700


async def test_a_transfer_arrives_once_under_one_key(sandbox: World) -> None:
    account = await sandbox.account()
    text = await sandbox.reference(account)
    first = await arrive(sandbox, text, Idempotency_Key="k-1")
    again = await arrive(sandbox, text, Idempotency_Key="k-1")
    assert (again.content, again.headers["Idempotency-Replayed"]) == (first.content, "true")
    # The answer was lost, but not what had happened.
    await sandbox.house.database.execute(
        "DELETE FROM idempotency WHERE tenant_id = $1", sandbox.tenant.id
    )
    third = await arrive(sandbox, text, Idempotency_Key="k-1")
    assert third.json()["object"]["id"] == first.json()["object"]["id"]
    other = await arrive(sandbox, text, "701", Idempotency_Key="k-1")
    assert problem(other) == (422, "idempotency_key_reused")
    assert await sandbox.available(account) == 700


async def test_a_repeat_of_a_control_gets_the_first_answer(sandbox: World) -> None:
    tx = await payout(sandbox, PENDING_BANK)
    first = await control(sandbox, tx, "settle", Idempotency_Key="once")
    again = await control(sandbox, tx, "settle", Idempotency_Key="once")
    assert (first.status_code, again.content) == (200, first.content)
    other = await control(sandbox, tx, "return", Idempotency_Key="once")
    assert problem(other) == (422, "idempotency_key_reused")
    assert await sandbox.state(tx) == "EFFECTED"


async def test_more_than_an_account_can_hold_does_not_arrive(sandbox: World) -> None:
    text = await sandbox.reference(await sandbox.account())
    answers = [await arrive(sandbox, text, "9" * 18) for _ in range(10)]
    assert problem(answers[-1]) == (409, "control_not_applicable")
    assert {one.status_code for one in answers[:-1]} == {200}
    assert await sandbox.house.service.parts[Rail].news() == []


async def test_a_key_that_another_process_answered_lets_nothing_happen(sandbox: World) -> None:
    tx = await payout(sandbox, PENDING_BANK)
    first = await control(sandbox, tx, "settle", Idempotency_Key="once")
    house = sandbox.house
    other = await Service.start(house.database.settings(), house.clock)
    try:
        async with open_client(other) as client:
            elsewhere = replace(sandbox, tenant=replace(sandbox.tenant, _client=client))
            again = await control(elsewhere, tx, "settle", Idempotency_Key="once")
            assert again.content == first.content
            wrong = await control(elsewhere, tx, "return", Idempotency_Key="once")
            assert problem(wrong) == (422, "idempotency_key_reused")
    finally:
        await other.stop()
    assert await sandbox.state(tx) == "EFFECTED"


# Challenges and verifications.


async def test_a_declined_challenge_fails_the_payment(sandbox: World) -> None:
    tx = await charge(sandbox, CHALLENGED)
    after = await told(sandbox, "challenge", tx, {"approve": False})
    assert (after["stateId"], after["requirements"]) == ("FAILED", {})
    assert problem(await control(sandbox, tx, "challenge")) == (409, "control_not_applicable")


async def instrument(world: World, noun: str, what: str, identifier: str, body: object) -> Any:
    path = f"/v1/sandbox/{noun}/{identifier}/{what}"
    return await world.call("POST", path, body, token=world.tenant.key)


@pytest.mark.parametrize(("approve", "state"), [(True, "ENABLED"), (False, "FAILED")])
async def test_the_challenge_of_a_card_is_answered_once(
    sandbox: World,
    approve: bool,  # noqa: FBT001 - what is sent
    state: str,
) -> None:
    owner = await sandbox.customer()
    card = await sandbox.card(owner, "4000002500003155", setAsPreferred=True)
    refused = await instrument(sandbox, "cards", "verification", card, {"outcome": "fail"})
    assert problem(refused) == (409, "control_not_applicable")
    answer = (await instrument(sandbox, "cards", "challenge", card, {"approve": approve})).json()
    assert (answer["object"]["stateId"], answer["object"]["requirements"]) == (state, {})
    assert f"card.{state.lower()}" in [one["type"] for one in answer["events"]]
    again = await instrument(sandbox, "cards", "challenge", card, {"approve": approve})
    assert again.json()["currentStateId"] == state


async def test_a_verification_can_fail_later(sandbox: World) -> None:
    owner = await sandbox.customer()
    made = {
        "cards": await sandbox.card(owner),
        "bank-accounts": await sandbox.bank_account(owner),
    }
    for noun, identifier in made.items():
        path, body = f"/v1/{noun}/{identifier}", {"outcome": "fail"}
        answer = (await instrument(sandbox, noun, "verification", identifier, body)).json()
        assert answer["object"] == (await sandbox.call("GET", path)).json()
        assert answer["object"]["stateId"] == "DISABLED"
        assert [one["type"].partition(".")[2] for one in answer["events"]] == ["disabled"]
        again = await instrument(sandbox, noun, "verification", identifier, body)
        assert problem(again) == (409, "control_not_applicable")
        assert again.json()["currentStateId"] == "DISABLED"
        await sandbox.call("PATCH", f"{path}/state", {"toStateId": "CLOSED"})
        closed = await instrument(sandbox, noun, "verification", identifier, body)
        assert closed.json()["currentStateId"] == "CLOSED"


async def test_what_was_never_verified_cannot_fail(sandbox: World) -> None:
    bank = await sandbox.bank_account(await sandbox.customer(), sortCode="108801")
    body = {"outcome": "fail"}
    answer = await instrument(sandbox, "bank-accounts", "verification", bank, body)
    assert (answer.status_code, answer.json()["currentStateId"]) == (409, "PENDING")


# The rail's mood.


async def mood(world: World, **body: Any) -> Any:
    path = "/v1/sandbox/rail"
    answer = await world.call("POST", path, body, token=world.tenant.key)
    assert answer.status_code == 200, answer.text
    shown = await world.call("GET", path, token=world.tenant.key)
    assert shown.json() == answer.json()
    return answer.json()


async def test_a_rail_that_is_down_leaves_a_payment_astray_until_it_is_up(sandbox: World) -> None:
    await mood(sandbox, mood="down")
    tx = await charge(sandbox)
    assert tx["stateId"] == "ERRORED"
    await sandbox.later(hours=1)
    assert await sandbox.state(tx) == "ERRORED"
    await mood(sandbox, mood="normal")
    await sandbox.later(hours=1)
    assert await sandbox.state(tx) == "EFFECTED"


async def test_a_control_does_what_it_says_while_the_rail_is_down(sandbox: World) -> None:
    await mood(sandbox, mood="down")
    tx = await charge(sandbox)
    assert (await told(sandbox, "settle", tx))["stateId"] == "EFFECTED"
    assert (await told(sandbox, "dispute", tx))["stateId"] == "DISPUTED"


async def test_a_rail_that_is_down_tells_nothing(sandbox: World) -> None:
    account = await sandbox.account()
    text = await sandbox.reference(account)
    await mood(sandbox, mood="down", forMinutes=10)
    await sandbox.house.service.parts[Rail].tell(sandbox.arrival(text, 700))
    await sandbox.later(minutes=9)
    assert await sandbox.available(account) == 0
    await sandbox.later(minutes=2)
    assert await sandbox.available(account) == 700
    shown = await sandbox.call("GET", "/v1/sandbox/rail")
    assert shown.json() == {"mood": "normal"}


async def test_a_mood_counts_requests(sandbox: World) -> None:
    shown = await mood(sandbox, mood="down", requests=2, forMinutes=60)
    assert (shown["mood"], shown["requests"]) == ("down", 2)
    states = [(await charge(sandbox))["stateId"] for _ in range(3)]
    assert states == ["ERRORED", "ERRORED", "EFFECTED"]
    shown = await sandbox.call("GET", "/v1/sandbox/rail")
    assert shown.json() == {"mood": "normal"}


async def test_a_forgetful_rail_takes_an_order_and_never_heard_of_it(sandbox: World) -> None:
    await mood(sandbox, mood="forgetful", requests=1)
    tx = await charge(sandbox)
    assert tx["stateId"] == "PROCESSING"
    rail, (order,) = sandbox.house.service.parts[Rail], await sandbox.orders(tx)
    assert (await rail.ask(order.instruction)).status == "unheard"
    await sandbox.later(minutes=5)
    assert await sandbox.state(tx) == "EFFECTED"


async def test_the_rail_can_refuse_the_next_payment_and_no_other(sandbox: World) -> None:
    waiting = await payout(sandbox, PENDING_BANK)
    shown = await mood(sandbox, mood="normal", refuse=1)
    assert shown == {"mood": "normal", "refuse": 1}
    # It is only asked about this one, which neither fails nor counts.
    await sandbox.later(hours=1)
    assert await sandbox.state(waiting) == "PROCESSING"
    assert [(await charge(sandbox))["stateId"] for _ in range(2)] == ["FAILED", "EFFECTED"]
    assert (await sandbox.call("GET", "/v1/sandbox/rail")).json() == {"mood": "normal"}


async def test_the_rail_can_refuse_payouts_and_refunds_too(sandbox: World) -> None:
    charged, account = await charge(sandbox), await sandbox.fund(1000)
    bank = await sandbox.bank_account(await sandbox.owner(account), sortCode="108800")
    await mood(sandbox, mood="normal", refuse=2)
    paid = await sandbox.paid_out(account, 600, paymentInstrumentId=bank)
    assert (paid["stateId"], await sandbox.available(account)) == ("FAILED", 1000)
    assert (await sandbox.refund(charged, 300)).status_code == 200
    await sandbox.idle()
    assert [one.status for one in await sandbox.orders(charged)] == ["done", "refused"]


async def test_what_a_rail_does_not_hear_it_does_not_refuse(sandbox: World) -> None:
    await mood(sandbox, mood="down", requests=1, refuse=1)
    states = [(await charge(sandbox))["stateId"] for _ in range(3)]
    assert states == ["ERRORED", "FAILED", "EFFECTED"]


async def test_a_slow_rail_answers_late(sandbox: World) -> None:
    await mood(sandbox, mood="slow", seconds=1.0, requests=1)
    loop = asyncio.get_running_loop()
    before = loop.time()
    async with asyncio.timeout(20):
        assert (await charge(sandbox))["stateId"] == "EFFECTED"
    assert loop.time() - before >= 1


async def test_a_mood_is_felt_by_one_tenant_alone(sandbox: World) -> None:
    other = await open_world(sandbox.house)
    await mood(sandbox, mood="down")
    assert (await charge(other))["stateId"] == "EFFECTED"
    assert (await other.call("GET", "/v1/sandbox/rail")).json() == {"mood": "normal"}


# With the worker beside it.


async def test_controls_and_the_worker_settle_everything_once(sandbox: World) -> None:
    accounts = [await sandbox.fund(1000) for _ in range(6)]
    with nobody_notices(sandbox):
        made = [await sandbox.paid_out(account, 600) for account in accounts]
    assert {tx["stateId"] for tx in made} == {"ACCEPTED"}
    async with asyncio.timeout(60):
        answers, *_ = await asyncio.gather(
            asyncio.gather(*(control(sandbox, tx, "settle") for tx in made)),
            *(sandbox.run("see to orders", "hear the news of rails") for _ in range(6)),
        )
    assert [one.status_code for one in answers] == [200] * len(made)
    for tx in made:
        assert (await sandbox.states(tx))[-1] == "EFFECTED"
        assert (await sandbox.events(tx)).count("effected") == 1


async def test_of_two_controls_that_contradict_each_other_one_wins(sandbox: World) -> None:
    for _ in range(5):
        tx = await payout(sandbox, PENDING_BANK)
        names = ("settle", "fail", "settle", "fail")
        answers = await asyncio.gather(*(control(sandbox, tx, name) for name in names))
        state = await sandbox.state(tx)
        won = {"EFFECTED": "settle", "FAILED": "fail"}[state]
        for name, answer in zip(names, answers, strict=True):
            assert answer.status_code in ({200, 409} if name == won else {409})
        assert any(one.status_code == 200 for one in answers)


async def test_disputes_and_arrivals_race_with_the_worker(sandbox: World) -> None:
    account = await sandbox.account()
    text = await sandbox.reference(account)
    made = [await sandbox.charged(account, 100) for _ in range(4)]
    async with asyncio.timeout(60):
        answers, *_ = await asyncio.gather(
            asyncio.gather(
                *(control(sandbox, tx, "dispute") for tx in made),
                *(arrive(sandbox, text, "10") for _ in range(4)),
            ),
            *(sandbox.run("see to orders", "hear the news of rails") for _ in range(6)),
        )
    assert [one.status_code for one in answers] == [200] * 8
    found = await sandbox.amounts(account)
    assert (found["complete"], found["disputed"]) == (440, 400)


# Who may, and where.


async def test_controls_are_for_the_tenant_and_the_operator_alone(sandbox: World) -> None:
    tx = await charge(sandbox)
    owner = (await sandbox.tx(tx))["toOwnerId"]
    token = await sandbox.tenant.token_for(owner)
    for name in CONTROLS:
        assert problem(await control(sandbox, tx, name, token=token)) == (403, "forbidden")
    refused = await sandbox.call("GET", "/v1/sandbox/rail", token=token)
    assert problem(refused) == (403, "forbidden")
    for token in (sandbox.tenant.token, sandbox.tenant.operator):
        assert (await control(sandbox, tx, "dispute", token=token)).status_code == 200
        assert (await control(sandbox, tx, "dispute/win", token=token)).status_code == 200


async def test_the_object_of_another_tenant_does_not_exist(sandbox: World) -> None:
    other, tx = await open_world(sandbox.house), await charge(sandbox)
    for name in CONTROLS:
        theirs = await control(other, tx, name)
        missing = await control(other, f"transaction/{new_id()}", name)
        assert problem(theirs) == problem(missing) == (404, "not_found")


async def test_in_live_there_are_no_controls(sandbox: World) -> None:
    service = sandbox.house.service
    live = structs.replace(service.settings, environment="live")
    transport = httpx2.ASGITransport(app=build(replace(service, settings=live)))
    controls = [one for one in OPERATIONS if one.sandbox_only]
    assert len(controls) >= len(CONTROLS)
    assert all(one.sandbox_only == one.path.startswith("/v1/sandbox/") for one in OPERATIONS)
    async with httpx2.AsyncClient(transport=transport, base_url="http://farthing.test") as client:
        nowhere = await client.post("/v1/nowhere", headers={"X-Request-Id": "request-12345678"})
        for one in controls:
            path = one.path.replace("{id}", f"{ids.in_path(one.noun or '')}/{new_id()}")
            for credential in (sandbox.tenant.key, "", sandbox.tenant.operator):
                headers = {"X-Token": credential, "X-Request-Id": "request-12345678"}
                answer = await client.request(one.method, path, headers=headers)
                assert (answer.status_code, answer.content) == (404, nowhere.content), one.id


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("rail", {"mood": "sad"}, "/mood"),
        ("rail", {}, "/mood"),
        ("rail", {"mood": "down", "seconds": 3}, "/seconds"),
        ("rail", {"mood": "slow", "seconds": 0}, "/seconds"),
        ("rail", {"mood": "slow", "seconds": 61}, "/seconds"),
        ("rail", {"mood": "slow", "seconds": "3"}, "/seconds"),
        ("rail", {"mood": "slow", "seconds": True}, "/seconds"),
        ("rail", {"mood": "down", "requests": 0}, "/requests"),
        ("rail", {"mood": "normal", "refuse": 0}, "/refuse"),
        ("rail", {"mood": "down", "forMinutes": 1.5}, "/forMinutes"),
        ("inbound", {"reference": "x", "amount": "0", "currencyISO": "GBP"}, "/amount"),
        ("inbound", {"reference": "x", "amount": 5, "currencyISO": "GBP"}, "/amount"),
        ("inbound", {"reference": "x", "amount": "5", "currencyISO": "gbp"}, "/currencyISO"),
        ("inbound", {"reference": "", "amount": "5", "currencyISO": "GBP"}, "/reference"),
        ("inbound", {"amount": "5", "currencyISO": "GBP"}, "/reference"),
        ("dispute", {"amount": "0"}, "/amount"),
        ("dispute", {"amount": "-1"}, "/amount"),
        ("dispute", {"sum": "1"}, "/sum"),
        ("dispute/lose", {"amount": "0"}, "/amount"),
        ("fail", {"reason": ""}, "/reason"),
        ("return", {"reason": 1}, "/reason"),
        ("challenge", {"approve": "yes"}, "/approve"),
        ("challenge", {}, "/approve"),
    ],
)
async def test_bad_input_is_named_and_changes_nothing(
    sandbox: World, path: str, body: object, pointer: str
) -> None:
    tx, before = await charge(sandbox), await head(sandbox)
    place = path if path in {"rail", "inbound"} else f"tx/tx/{uuid_of(tx['id'])}/{path}"
    answer = await sandbox.call("POST", f"/v1/sandbox/{place}", body)
    assert answer.status_code == 422, answer.text
    assert [fault["pointer"] for fault in answer.json()["errors"]] == [pointer]
    assert await head(sandbox) == before
    assert (await sandbox.call("GET", "/v1/sandbox/rail")).json() == {"mood": "normal"}
