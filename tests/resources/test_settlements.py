"""What rails say and do not say: outcomes that nobody knows, orders that were lost, recalls."""

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.resources.money import World, problem
from tests.resources.outside import Stall, breaks, is_lost, is_silent, says

from farthing.resources.orders.model import pause_after

if TYPE_CHECKING:
    from uuid import UUID


async def asked_at(world: World, order: "UUID", upto: timedelta) -> list[int]:
    """Let time pass second by second as the worker would, and note when the rail is asked."""
    begin, seen, moments = world.house.clock.now, 0, []
    while world.house.clock.now - begin < upto:
        world.house.clock.now += timedelta(seconds=5)
        await world.house.teller.see_to_due_orders()
        if world.rail.sends("ask").count(order) > seen:
            seen += 1
            moments.append(int((world.house.clock.now - begin).total_seconds()))
    await world.later()
    return moments


@pytest.mark.parametrize("step", [is_silent, is_lost, breaks, says("unknown", "processing_error")])
async def test_an_unknown_outcome_is_errored_with_the_money_still_reserved(
    world: World, step: Any
) -> None:
    world.rail.script["pay_out"].append(step)
    account = await world.fund(1000)
    tx = await world.paid_out(account, 400)
    assert tx["stateId"] == "ERRORED"
    assert await world.amounts(account) == {"complete": 1000, "available": 600, "debits": 400}
    last = (await world.tx(tx, "transitions"))["transitions"][-1]
    assert last["reason"].startswith("The rail said: unknown (")
    # Settled, so that the books of the test are those of the rail.
    world.rail.decide(world.tenant.id, await world.order_of(tx), 400, "done")
    await world.later(hours=1)
    assert await world.state(tx) == "EFFECTED"
    assert await world.amounts(account) == {"complete": 600, "available": 600}


async def test_a_rail_that_takes_too_long_has_an_unknown_outcome(world: World) -> None:
    stall = Stall()
    world.rail.script["pay_out"].append(stall)
    account = await world.fund(1000)
    tx = await world.paid_out(account, 400)
    assert (tx["stateId"], stall.reached.is_set()) == ("ERRORED", True)
    await world.later(hours=1)
    assert await world.state(tx) == "EFFECTED", "it was not heard, so it is sent again"
    assert len(set(world.rail.sends("pay_out"))) == 1


async def test_the_janitor_asks_again_with_backoff_and_settles_it(world: World) -> None:
    world.rail.script["pay_out"].append(says("unknown"))
    account = await world.fund(1000)
    tx = await world.paid_out(account, 400)
    moments = await asked_at(world, await world.order_of(tx), timedelta(minutes=16))
    gaps = [after - before for before, after in zip([0, *moments], moments, strict=False)]
    assert gaps == [30, 60, 120, 240, 480]
    assert await world.state(tx) == "ERRORED"
    assert await world.amounts(account) == {"complete": 1000, "available": 600, "debits": 400}
    assert len(world.rail.sends("pay_out")) == 1, "only asked about, never sent again"
    world.rail.decide(world.tenant.id, await world.order_of(tx), 400, "done")
    await world.later(hours=6)
    assert (await world.states(tx))[-3:] == ["ERRORED", "PROCESSING", "EFFECTED"]
    assert await world.amounts(account) == {"complete": 600, "available": 600}


def test_the_pause_grows_to_a_limit_so_that_nothing_is_forgotten() -> None:
    pauses = [pause_after(attempts) for attempts in range(40)]
    assert pauses == sorted(pauses)
    assert pauses[0] == timedelta(seconds=15)
    assert max(pauses) == timedelta(hours=6)


async def test_what_the_janitor_learns_was_refused_is_free_again(world: World) -> None:
    world.rail.script["pay_out"].append(says("unknown"))
    account = await world.fund(1000)
    tx = await world.paid_out(account, 400)
    world.rail.decide(world.tenant.id, await world.order_of(tx), 400, "refused")
    await world.later(hours=1)
    assert (await world.states(tx))[-3:] == ["ERRORED", "PROCESSING", "FAILED"]
    assert await world.amounts(account) == {"complete": 1000, "available": 1000}


async def test_an_order_of_which_the_rail_never_heard_is_sent_again_under_the_same_id(
    world: World,
) -> None:
    world.rail.script["charge"] += [is_lost, is_lost]
    account = await world.account()
    tx = await world.charged(account, 400)
    assert tx["stateId"] == "ERRORED"
    for _ in range(3):
        await world.later(minutes=5)
    assert await world.state(tx) == "EFFECTED"
    sent = world.rail.sends("charge")
    assert (len(sent), set(sent)) == (3, {await world.order_of(tx)})
    assert await world.available(account) == 400


async def test_what_was_carried_out_in_silence_is_not_sent_again(world: World) -> None:
    world.rail.script["charge"].append(is_silent)
    account = await world.account()
    tx = await world.charged(account, 400)
    await world.later(minutes=5)
    assert await world.state(tx) == "EFFECTED"
    assert len(world.rail.sends("charge")) == 1
    assert await world.available(account) == 400


async def test_while_the_rail_is_away_nothing_ends_and_afterwards_all_does(world: World) -> None:
    account = await world.fund(1000)
    world.rail.away = True
    made = [await world.paid_out(account, 100) for _ in range(3)]
    for _ in range(4):
        await world.later(hours=6)
        assert {await world.state(tx) for tx in made} == {"ERRORED"}
    world.rail.away = False
    await world.later(hours=6)
    assert {await world.state(tx) for tx in made} == {"EFFECTED"}
    assert await world.amounts(account) == {"complete": 700, "available": 700}


async def test_what_is_pending_at_the_rail_is_asked_for_until_it_ends(world: World) -> None:
    world.rail.script["pay_out"].append(says("pending"))
    account = await world.fund(1000)
    tx = await world.paid_out(account, 400)
    for _ in range(3):
        await world.later(hours=6)
        assert await world.state(tx) == "PROCESSING"
    world.rail.decide(world.tenant.id, await world.order_of(tx), 400, "done")
    await world.later(hours=6)
    assert await world.state(tx) == "EFFECTED"


async def test_to_cancel_what_is_processing_asks_the_rail_to_recall_it(world: World) -> None:
    world.rail.script["pay_out"].append(says("pending"))
    account = await world.fund(1000)
    tx = await world.paid_out(account, 400)
    done = await world.moved(tx, "CANCELLED", fromStateId="PROCESSING")
    assert done["stateId"] == "CANCELLED"
    assert world.rail.sends("recall") == [await world.order_of(tx)]
    assert await world.amounts(account) == {"complete": 1000, "available": 1000}
    await world.later(hours=6)
    assert await world.state(tx) == "CANCELLED"
    assert len(world.rail.sends("pay_out")) == 1


@pytest.mark.parametrize("state", ["pending", "unknown"])
async def test_what_the_rail_cannot_recall_is_not_cancelled(world: World, state: str) -> None:
    world.rail.recalls = False
    world.rail.script["pay_out"].append(says(state))
    account = await world.fund(1000)
    tx = await world.paid_out(account, 400)
    answer = await world.move(tx, "CANCELLED")
    assert problem(answer) == (409, "transition_not_allowed")
    assert answer.json()["currentStateId"] == tx["stateId"]
    assert await world.amounts(account) == {"complete": 1000, "available": 600, "debits": 400}


async def test_while_the_rail_is_away_nothing_is_recalled(world: World) -> None:
    world.rail.script["pay_out"].append(says("pending"))
    tx = await world.paid_out(await world.fund(1000), 400)
    world.rail.away = True
    assert problem(await world.move(tx, "CANCELLED")) == (503, "unavailable")
    assert await world.state(tx) == "PROCESSING"


@pytest.mark.parametrize(
    "wrong",
    [
        {"options": {"amount": "5"}},
        {"tags": [f"tag {n}" for n in range(50)]},
        {"fromStateId": "HELD"},
    ],
)
async def test_a_request_that_is_refused_has_recalled_nothing(
    world: World, wrong: dict[str, Any]
) -> None:
    world.rail.script["pay_out"].append(says("pending"))
    account = await world.fund(1000)
    tx = await world.paid_out(account, 400, tags=["one"])
    assert (await world.move(tx, "CANCELLED", **wrong)).status_code in {409, 422}
    customer = await world.tenant.token_for(await world.owner(account))
    assert (await world.move(tx, "CANCELLED", token=customer)).status_code == 409
    assert world.rail.sends("recall") == []


@pytest.mark.parametrize(
    ("when", "then"),
    [
        ('step.to == "CANCELLED"', {"action": "refuse", "message": "No."}),
        ('step.to == "CANCELLED"', {"action": "hold"}),
        ('object.annotations.absent == ""', {"action": "tag", "tag": "x"}),
    ],
)
async def test_what_a_rule_does_not_let_stop_is_not_recalled(
    world: World, when: str, then: dict[str, Any]
) -> None:
    world.rail.script["pay_out"].append(says("pending"))
    account = await world.fund(1000)
    tx = await world.paid_out(account, 400)
    body = {"name": "A rule", "on": "transaction.transition", "when": when, "then": [then]}
    rule = await world.made("/v1/rules", body, token=world.tenant.key)
    assert problem(await world.move(tx, "CANCELLED")) == (409, "refused_by_rule")
    assert world.rail.sends("recall") == []
    assert await world.state(tx) == "PROCESSING"
    await world.call("DELETE", f"/v1/rules/{rule['id']}", token=world.tenant.key)
    await world.moved(tx, "CANCELLED")
    assert world.rail.sends("recall") == [await world.order_of(tx)]


async def test_the_operator_vouches_for_what_the_rail_does_not_say(world: World) -> None:
    world.rail.recalls = False
    world.rail.script["pay_out"] += [says("pending")] * 2
    account, boss = await world.fund(1000), world.tenant.operator
    paid, failed = await world.paid_out(account, 400), await world.paid_out(account, 300)
    assert problem(await world.move(paid, "EFFECTED")) == (409, "transition_not_allowed")
    assert (await world.moved(paid, "EFFECTED", token=boss))["stateId"] == "EFFECTED"
    assert (await world.moved(failed, "FAILED", token=boss))["stateId"] == "FAILED"
    world.rail.decide(world.tenant.id, await world.order_of(paid), 400, "done")
    await world.later(hours=6)
    assert await world.amounts(account) == {"complete": 600, "available": 600}


async def test_what_is_moved_back_to_pending_is_not_sent_until_somebody_says_so(
    world: World,
) -> None:
    world.rail.script["pay_out"].append(is_lost)
    account = await world.fund(1000)
    tx = await world.paid_out(account, 400)
    assert (await world.moved(tx, "PENDING", fromStateId="ERRORED"))["stateId"] == "PENDING"
    await world.later(hours=1)
    assert len(world.rail.sends("pay_out")) == 1
    assert await world.state(tx) == "PENDING"
    await world.moved(tx, "PROCESSING")
    await world.idle()
    assert await world.state(tx) == "EFFECTED"
    assert len(set(world.rail.sends("pay_out"))) == 1


async def test_to_try_again_asks_the_rail_at_once(world: World) -> None:
    world.rail.script["charge"].append(is_silent)
    account = await world.account()
    tx = await world.charged(account, 400)
    assert (await world.moved(tx, "PROCESSING"))["stateId"] == "PROCESSING"
    await world.idle()
    assert await world.state(tx) == "EFFECTED"
    assert len(world.rail.sends("charge")) == 1


async def test_escrow_stays_escrow_however_often_it_is_tried(world: World) -> None:
    world.rail.script["charge"].append(is_lost)
    account = await world.account()
    tx = await world.charged(account, 400, targetStateId="HELD")
    assert tx["stateId"] == "ERRORED"
    await world.moved(tx, "PROCESSING")
    await world.idle()
    assert await world.state(tx) == "HELD"
    assert await world.amounts(account) == {"complete": 400, "withheld": 400}


async def test_what_is_held_while_the_rail_has_it_is_withheld_when_it_is_done(
    world: World,
) -> None:
    world.rail.script["charge"].append(says("pending"))
    account = await world.account()
    tx = await world.charged(account, 400)
    await world.moved(tx, "HELD", token=world.tenant.operator)
    world.rail.decide(world.tenant.id, await world.order_of(tx), 400, "done")
    await world.later(minutes=2)
    assert await world.state(tx) == "HELD"
    assert await world.amounts(account) == {"complete": 400, "withheld": 400}


async def test_a_crowd_of_janitors_settles_each_order_once(world: World) -> None:
    world.rail.script["pay_out"] += [is_silent] * 5
    account = await world.fund(1000)
    made = [await world.paid_out(account, 100) for _ in range(5)]
    world.house.clock.now += timedelta(minutes=5)
    await asyncio.gather(*(world.house.teller.see_to_due_orders() for _ in range(6)))
    await world.later()
    assert {await world.state(tx) for tx in made} == {"EFFECTED"}
    orders = [await world.order_of(tx) for tx in made]
    asked = [world.rail.sends("ask").count(order) for order in orders]
    assert asked == [1] * 5, "whoever claims an order is alone with it"
    assert await world.amounts(account) == {"complete": 500, "available": 500}
