"""What others got wrong: each a test that is named after it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from tests.resources.houses import open_client, start
from tests.resources.money import World, problem
from tests.resources.outside import Stall, is_silent, says


@asynccontextmanager
async def second_process(world: World) -> AsyncIterator[World]:
    """Give the same tenant through another process on the same database."""
    house = world.house
    service = await start(house.database, house.rail, house.clock)
    async with open_client(service) as client:
        known = world.tenant
        yield World(house, replace(known, _client=client))
    await service.stop()


async def escrow(world: World, amount: int = 400) -> tuple[dict[str, Any], str, str]:
    payer, payee = await world.fund(1000), await world.account()
    return await world.sent(payer, payee, amount, targetStateId="HELD"), payer, payee


async def test_forty_concurrent_refunds_of_the_whole_amount_one_succeeds(world: World) -> None:
    account = await world.fund(100_000)
    tx = await world.charged(account, 1000)
    async with second_process(world) as other:
        answers = await asyncio.gather(*((world, other)[n % 2].refund(tx, 1000) for n in range(40)))
        await world.idle()
    assert [one.status_code for one in answers].count(200) == 1
    refused = {problem(one) for one in answers if one.status_code != 200}
    assert refused == {(409, "amount_exceeds_remaining")}
    assert await world.available(account) == 100_000
    await world.later(minutes=5)
    assert len(await world.orders(tx)) == 2
    assert len(set(world.rail.sends("refund"))) == 1


async def test_refund_and_cancel_at_once(world: World) -> None:
    account = await world.account()
    for _ in range(5):
        tx = await world.charged(account, 400, targetStateId="HELD")
        both = await asyncio.gather(
            world.move(tx, "EFFECTED"), world.move(tx, "CANCELLED"), world.refund(tx, 400)
        )
        await world.idle()
        assert [one.status_code for one in both][:2].count(200) == 1
        assert len(world.rail.sends("refund")) <= 1
        state = await world.state(tx)
        left = {"EFFECTED": 400, "CANCELLED": 0, "ADJUSTED": 0}[state]
        assert await world.amounts(account) == (
            {"complete": left, "available": left} if left else {}
        )
        if left:
            await world.refund(tx, 400)
            await world.idle()
        world.rail.calls.clear()


@pytest.mark.parametrize("end", ["rejected", "cancelled"])
async def test_commit_of_a_rejected_or_cancelled_transaction(world: World, end: str) -> None:
    account = await world.fund(1000)
    world.rail.script["pay_out"].append(says("refused" if end == "rejected" else "pending"))
    tx = await world.paid_out(account, 400)
    if end == "cancelled":
        await world.moved(tx, "CANCELLED")
    state = await world.state(tx)
    assert state == ("FAILED" if end == "rejected" else "CANCELLED")
    for token in (world.tenant.token, world.tenant.operator):
        for target in ("EFFECTED", "PROCESSING", "PENDING", "HELD", "ADJUSTED", "ERRORED"):
            options = {"adjustment": {"adjustmentAmount": "1"}} if target == "ADJUSTED" else None
            answer = await world.move(tx, target, token=token, options=options)
            assert problem(answer) == (409, "transition_not_allowed")
            assert answer.json()["currentStateId"] == state
            assert answer.json()["allowedStateIds"] == []
    assert await world.amounts(account) == {"complete": 1000, "available": 1000}


@pytest.mark.parametrize(("verb", "kept"), [("charge", 400), ("pay_out", -400)])
async def test_a_late_success_after_a_cancel(world: World, verb: str, kept: int) -> None:
    account = await world.fund(1000)
    stall = Stall()
    world.rail.script[verb].append(stall)
    owner = await world.owner(account)
    if verb == "charge":
        card = await world.card(owner)
        answer = await world.inbound(account, 400, paymentInstrumentId=card)
    else:
        bank = await world.bank_account(owner)
        answer = await world.outbound(account, 400, paymentInstrumentId=bank)
    tx = answer.json()
    await stall.reached.wait()
    # The rail says that it recalled it, and carries it out all the same.
    await world.moved(tx, "CANCELLED")
    stall.go.set()
    await world.idle()
    assert await world.state(tx) == "CANCELLED"
    assert await world.amounts(account) == {"complete": 1000, "available": 1000}
    assert await world.in_suspense() == kept
    (late,) = (await world.call("GET", "/v1/tx?tag=suspense")).json()["results"]
    assert late["annotations"] == {"lateOutcomeOf": tx["id"]}
    assert (late["stateId"], late["amount"]) == ("EFFECTED", "400")
    if verb == "charge":
        assert (await world.refund(late, 400, token=world.tenant.operator)).status_code == 200
    else:
        suspense = await world.suspense()
        assert suspense is not None
        await world.sent(account, suspense["id"], 400)
    await world.idle()
    assert await world.in_suspense() == 0, "the operator can put it right"


async def test_more_captured_than_held(world: World) -> None:
    tx, payer, payee = await escrow(world, 400)
    answers = await asyncio.gather(*(world.move(tx, "EFFECTED") for _ in range(20)))
    assert [one.status_code for one in answers].count(200) == 1
    assert (await world.available(payer), await world.available(payee)) == (600, 400)
    more = await world.move(tx, "EFFECTED", options={"amount": "500"})
    assert more.status_code in {409, 422}
    assert await world.available(payee) == 400


async def fail_with(world: World, sqlstate: str, times: int) -> None:
    """Let the database ask for a repetition this many times at each entry of this tenant."""
    await world.house.database.execute(f"""
        CREATE SEQUENCE attempts; GRANT USAGE ON attempts TO farthing_app;
        CREATE FUNCTION fail_often() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF NEW.tenant_id = '{world.tenant.id}'
                AND nextval('farthing.attempts') <= {times} THEN
                RAISE 'again' USING ERRCODE = '{sqlstate}';
            END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER fail_often BEFORE INSERT ON entries
            FOR EACH ROW EXECUTE FUNCTION fail_often();
    """)


async def mend(world: World) -> None:
    await world.house.database.execute("DROP FUNCTION fail_often CASCADE; DROP SEQUENCE attempts")


@pytest.mark.parametrize("sqlstate", ["40001", "40P01"])
async def test_a_serialization_failure_reported_as_insufficient_funds(
    world: World, sqlstate: str
) -> None:
    payer, payee = await world.fund(1000), await world.account()
    await fail_with(world, sqlstate, 3)
    try:
        answer = await world.internal(payer, payee, 400)
    finally:
        await mend(world)
    assert (answer.status_code, answer.json()["stateId"]) == (201, "EFFECTED")
    await fail_with(world, sqlstate, 1_000_000)
    try:
        answer = await world.internal(payer, payee, 400, Idempotency_Key="patience")
    finally:
        await mend(world)
    assert problem(answer) == (503, "unavailable")
    assert answer.headers["retry-after"]
    assert await world.available(payer) == 600
    again = await world.internal(payer, payee, 400, Idempotency_Key="patience")
    assert again.status_code == 201, "a 5xx is never remembered"
    assert await world.available(payer) == 200


async def test_a_repeat_of_a_transition_that_is_done_with_the_same_key_and_with_none(
    world: World,
) -> None:
    tx, _, payee = await escrow(world)
    first = await world.move(tx, "EFFECTED", Idempotency_Key="pay it")
    second = await world.move(tx, "EFFECTED", Idempotency_Key="pay it")
    assert (second.status_code, second.content) == (200, first.content)
    assert second.headers["idempotency-replayed"] == "true"
    third = await world.move(tx, "EFFECTED")
    assert problem(third) == (409, "transition_not_allowed")
    assert third.json()["currentStateId"] == "EFFECTED"
    assert await world.available(payee) == 400


async def test_a_repeat_in_another_process_recalls_and_refunds_nothing_again(
    world: World,
) -> None:
    world.rail.script["pay_out"].append(says("pending"))
    account = await world.fund(1000)
    tx = await world.paid_out(account, 400)
    first = await world.move(tx, "CANCELLED", Idempotency_Key="stop it")
    async with second_process(world) as other:
        again = await other.move(tx, "CANCELLED", Idempotency_Key="stop it")
    assert (again.status_code, again.content) == (200, first.content)
    assert len(world.rail.sends("recall")) == 1
    charge = await world.charged(account, 500)
    first = await world.refund(charge, 200, Idempotency_Key="back")
    async with second_process(world) as other:
        again = await other.refund(charge, 200, Idempotency_Key="back")
    assert again.content == first.content
    await world.idle()
    assert await world.available(account) == 1300


async def test_an_adjustment_of_a_disputed_amount(world: World) -> None:
    account = await world.fund(10_000)
    tx = await world.disputed(await world.charged(account, 1000), 600)
    for amount in (1, 400, 600, 1000):
        assert problem(await world.refund(tx, amount)) == (409, "transition_not_allowed")
    operator = await world.refund(tx, 100, token=world.tenant.operator)
    assert operator.status_code == 422, "for the operator ADJUSTED means that it is lost"
    await world.dispute_ended(tx, 600)
    assert problem(await world.refund(tx, 401)) == (409, "amount_exceeds_remaining")
    assert (await world.refund(tx, 400)).status_code == 200
    await world.idle()
    assert await world.available(account) == 10_000


async def test_the_same_transfer_both_ways_at_once_without_deadlock(world: World) -> None:
    one, two = await world.fund(10_000), await world.fund(10_000)
    async with second_process(world) as other:
        there = (world.internal(one, two, 1) for _ in range(60))
        back = (other.internal(two, one, 1) for _ in range(60))
        answers = await asyncio.gather(*there, *back)
    assert {answer.status_code for answer in answers} == {201}
    assert (await world.available(one), await world.available(two)) == (10_000, 10_000)


@pytest.mark.slow
async def test_a_thousand_payers_to_one_hot_account(world: World) -> None:
    bank, hot = await world.fund(1_000_000), await world.account()
    payers: list[str] = []

    async def pay(payer: str) -> int:
        await world.sent(bank, payer, 7)
        return (await world.internal(payer, hot, 7)).status_code

    async with asyncio.timeout(120):
        for _ in range(10):
            payers += await asyncio.gather(*(world.account() for _ in range(100)))
        answers = await asyncio.gather(*(pay(payer) for payer in payers))
    assert (len(set(payers)), set(answers)) == (1000, {201})
    assert await world.amounts(hot) == {"complete": 7000, "available": 7000}


async def test_an_outcome_that_is_told_twice_moves_the_money_once(world: World) -> None:
    world.rail.script["pay_out"].append(is_silent)
    account = await world.fund(1000)
    tx = await world.paid_out(account, 400)
    await world.later(minutes=5)
    (order,) = await world.orders(tx)
    await asyncio.gather(*(world.house.teller.see_to(order) for _ in range(5)))
    await world.later(hours=6)
    assert (await world.events(tx)).count("effected") == 1
    assert await world.amounts(account) == {"complete": 600, "available": 600}


async def test_money_is_spent_once_however_many_ask_for_it(world: World) -> None:
    account, other = await world.fund(1000), await world.account()
    bank = await world.bank_account(await world.owner(account))
    ways = [
        *(world.internal(account, other, 300) for _ in range(10)),
        *(world.outbound(account, 300, paymentInstrumentId=bank) for _ in range(10)),
        *(world.internal(account, other, 300, targetStateId="HELD") for _ in range(10)),
    ]
    answers = await asyncio.gather(*ways)
    await world.idle()
    assert [one.status_code for one in answers].count(201) == 3
    assert {problem(one) for one in answers if one.status_code != 201} == {
        (409, "insufficient_funds")
    }
    assert await world.available(account) == 100
