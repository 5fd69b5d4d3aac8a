"""Disputes: opened by the rail, set aside, won or lost, and never paid twice."""

import asyncio

import pytest
from tests.resources.money import World, problem
from tests.resources.outside import says

from farthing.core.ids import new_id
from farthing.rails.base import Dispute, DisputeEnd


def lost(amount: object) -> dict[str, dict[str, str]]:
    return {"options": {"amount": str(amount)}}


async def test_a_dispute_sets_all_aside_by_default(world: World) -> None:
    account = await world.account()
    tx = await world.disputed(await world.charged(account, 1000))
    assert tx["stateId"] == "DISPUTED"
    assert await world.amounts(account) == {"complete": 1000, "disputed": 1000}
    last = (await world.tx(tx, "transitions"))["transitions"][-1]
    assert (last["actor"], last["reason"]) == ("PLATFORM", "fraudulent")
    assert (await world.events(tx))[-1] == "disputed"


async def test_the_disputed_part_is_set_aside_and_the_rest_is_free(world: World) -> None:
    account = await world.account()
    await world.disputed(await world.charged(account, 1000), 300)
    assert await world.amounts(account) == {"complete": 1000, "available": 700, "disputed": 300}


async def test_a_dispute_opens_on_adjusted_too_over_what_is_left(world: World) -> None:
    account = await world.account()
    tx = await world.charged(account, 1000)
    await world.refund(tx, 400)
    await world.idle()
    tx = await world.disputed(tx)
    assert tx["stateId"] == "DISPUTED"
    assert await world.amounts(account) == {"complete": 600, "disputed": 600}


async def test_a_dispute_over_more_than_is_left_sets_aside_what_is_left(world: World) -> None:
    account = await world.account()
    tx = await world.charged(account, 1000)
    await world.refund(tx, 400)
    await world.idle()
    tx = await world.disputed(tx, 1000)
    assert tx["stateId"] == "DISPUTED"
    assert await world.amounts(account) == {"complete": 600, "disputed": 600}


async def test_a_dispute_that_is_won_comes_back_to_the_state_before(world: World) -> None:
    account = await world.account()
    tx = await world.disputed(await world.charged(account, 1000))
    tx = await world.dispute_ended(tx, 0)
    assert (tx["stateId"], tx["adjustments"]) == ("EFFECTED", [])
    assert await world.amounts(account) == {"complete": 1000, "available": 1000}


async def test_one_that_is_won_after_a_refund_is_adjusted_again(world: World) -> None:
    account = await world.account()
    tx = await world.charged(account, 1000)
    await world.refund(tx, 400)
    await world.idle()
    tx = await world.dispute_ended(await world.disputed(tx), 0)
    assert tx["stateId"] == "ADJUSTED"
    assert [one["amount"] for one in tx["adjustments"]] == ["400"]
    assert await world.amounts(account) == {"complete": 600, "available": 600}


async def test_a_dispute_that_is_lost_goes_to_the_payer_as_an_adjustment(world: World) -> None:
    account = await world.account()
    tx = await world.disputed(await world.charged(account, 1000))
    tx = await world.dispute_ended(tx, 1000)
    assert tx["stateId"] == "ADJUSTED"
    (adjustment,) = tx["adjustments"]
    assert (adjustment["type"], adjustment["amount"]) == ("CHARGEBACK", "1000")
    assert adjustment["reason"] == "decided"
    assert await world.amounts(account) == {}
    assert world.rail.sends("refund") == [], "the network has taken it already"


async def test_one_that_is_lost_in_part_frees_the_rest(world: World) -> None:
    account = await world.account()
    tx = await world.disputed(await world.charged(account, 1000), 800)
    await world.dispute_ended(tx, 300)
    assert await world.amounts(account) == {"complete": 700, "available": 700}
    assert problem(await world.refund(tx, 701)) == (409, "amount_exceeds_remaining")
    assert (await world.refund(tx, 700)).status_code == 200


async def test_the_operator_decides_a_dispute_as_the_table_says(world: World) -> None:
    account, boss = await world.account(), world.tenant.operator
    won, part, whole = [await world.disputed(await world.charged(account, 1000)) for _ in range(3)]
    for target in ("EFFECTED", "ADJUSTED"):
        assert problem(await world.move(won, target)) == (409, "transition_not_allowed")
    too_much = await world.move(part, "ADJUSTED", token=boss, **lost(1001))
    assert problem(too_much) == (409, "amount_exceeds_remaining")
    nothing = await world.move(part, "ADJUSTED", token=boss, **lost(0))
    assert nothing.json()["errors"][0]["pointer"] == "/options/amount"
    assert (await world.moved(won, "EFFECTED", token=boss))["adjustments"] == []
    lost_part = await world.moved(part, "ADJUSTED", token=boss, **lost(250))
    lost_all = await world.moved(whole, "ADJUSTED", token=boss)
    amounts = [one["adjustments"][0]["amount"] for one in (lost_part, lost_all)]
    assert amounts == ["250", "1000"]
    world.rail.received[world.tenant.id, "GBP"] -= 1250
    assert await world.amounts(account) == {"complete": 1750, "available": 1750}


async def test_one_that_was_adjusted_before_is_won_with_an_amount_of_nothing(
    world: World,
) -> None:
    account, boss = await world.account(), world.tenant.operator
    tx = await world.charged(account, 1000)
    await world.refund(tx, 400)
    await world.idle()
    await world.disputed(tx)
    assert problem(await world.move(tx, "EFFECTED", token=boss)) == (409, "transition_not_allowed")
    done = await world.moved(tx, "ADJUSTED", token=boss, fromStateId="CHARGEBACK", **lost(0))
    assert [one["amount"] for one in done["adjustments"]] == ["400"]
    assert await world.amounts(account) == {"complete": 600, "available": 600}


async def test_a_lost_dispute_takes_available_below_zero_and_later_credits_fill_it_first(
    world: World,
) -> None:
    account, other = await world.account(), await world.account()
    tx = await world.charged(account, 1000)
    await world.sent(account, other, 900)
    await world.disputed(tx)
    assert await world.available(account) == -900
    await world.dispute_ended(tx, 1000)
    assert await world.amounts(account) == {"complete": -900, "available": -900}
    await world.charged(account, 500)
    assert await world.available(account) == -400
    assert problem(await world.internal(account, other, 1)) == (409, "insufficient_funds")
    await world.charged(account, 450)
    assert await world.available(account) == 50
    assert problem(await world.internal(account, other, 51)) == (409, "insufficient_funds")
    await world.sent(account, other, 50)


async def test_refund_and_dispute_cannot_both_pay_the_same_money(world: World) -> None:
    account = await world.fund(10_000)
    made = [await world.charged(account, 1000) for _ in range(6)]
    for tx in made:
        order = await world.order_of(tx)
        world.rail.tell(Dispute(world.tenant.id, new_id(), order, None, "fraudulent"))
    hearing = world.house.teller.hear_news()
    refunds = [world.refund(tx, 1000) for tx in made]
    answers = await asyncio.gather(*refunds, hearing)
    await world.idle()
    for tx, answer in zip(made, answers, strict=False):
        refunded = answer is not None and answer.status_code == 200
        assert await world.state(tx) == ("ADJUSTED" if refunded else "DISPUTED")
        if not refunded:
            tx_now = await world.dispute_ended(tx, 1000)
            assert [one["type"] for one in tx_now["adjustments"]] == ["CHARGEBACK"]
    assert await world.available(account) == 10_000


async def test_a_dispute_waits_until_the_payment_is_known(world: World) -> None:
    world.rail.script["charge"].append(says("pending"))
    account = await world.account()
    tx = await world.charged(account, 1000)
    order = await world.order_of(tx)
    await world.hear(Dispute(world.tenant.id, new_id(), order, 400, "fraudulent"))
    assert len(world.rail.disputes()) == 1, "not heard yet"
    world.rail.decide(world.tenant.id, order, 1000, "done")
    await world.later(seconds=61)
    assert await world.state(tx) == "DISPUTED"
    assert world.rail.disputes() == []
    assert await world.amounts(account) == {"complete": 1000, "available": 600, "disputed": 400}


async def test_a_dispute_that_is_told_twice_is_opened_once(world: World) -> None:
    account = await world.account()
    tx = await world.charged(account, 1000)
    order = await world.order_of(tx)
    told = Dispute(world.tenant.id, new_id(), order, 400, "fraudulent")
    await world.hear(told)
    await world.dispute_ended(tx, 0)
    await world.hear(told)
    assert await world.state(tx) == "EFFECTED"
    assert world.rail.untold == []
    await world.later(days=60)
    await world.run("forget what has expired")
    await world.hear(told)
    assert await world.state(tx) == "EFFECTED", "also when answers to callers are forgotten"


async def test_a_second_dispute_while_one_is_open_is_told_and_its_end_is_in_suspense(
    world: World,
) -> None:
    account = await world.account()
    tx = await world.disputed(await world.charged(account, 1000), 400)
    tx = await world.disputed(tx, 300)
    assert (tx["stateId"], (await world.events(tx))[-1]) == ("DISPUTED", "dispute_not_opened")
    assert await world.amounts(account) == {"complete": 1000, "available": 600, "disputed": 400}
    await world.dispute_ended(tx, 0)
    await world.dispute_ended(tx, 300)
    assert await world.amounts(account) == {"complete": 1000, "available": 1000}
    assert await world.in_suspense() == -300


async def test_the_end_of_a_dispute_is_not_written_before_its_beginning(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = await world.account()
    tx = await world.charged(account, 1000)
    order = await world.order_of(tx)
    teller, hear = world.house.teller, world.house.teller._hear  # noqa: SLF001 - one of its steps fails
    told = []

    async def fails_once(news: Dispute | DisputeEnd) -> bool:
        told.append(news)
        return len(told) > 1 and await hear(news)

    monkeypatch.setattr(teller, "_hear", fails_once)
    await world.hear(
        Dispute(world.tenant.id, new_id(), order, None, "fraudulent"),
        DisputeEnd(world.tenant.id, new_id(), order, 0, "decided"),
    )
    assert await world.state(tx) == "EFFECTED"
    assert len(world.rail.untold) == 2, "both are told again"
    await world.hear()
    assert await world.states(tx) == [
        "PENDING", "ACCEPTED", "PROCESSING", "EFFECTED", "DISPUTED", "EFFECTED",
    ]  # fmt: skip


async def test_a_dispute_waits_until_it_is_known_what_became_of_a_refund(world: World) -> None:
    world.rail.script["refund"].append(says("pending"))
    account = await world.account()
    tx = await world.charged(account, 1000)
    await world.refund(tx, 400)
    await world.idle()
    order = (await world.orders(tx))[0].id
    await world.hear(Dispute(world.tenant.id, new_id(), order, None, "fraudulent"))
    assert await world.state(tx) == "ADJUSTED"
    assert len(world.rail.untold) == 1, "it is told again"
    refund = (await world.orders(tx))[1].id
    world.rail.decide(world.tenant.id, refund, 400, "refused")
    await world.later(seconds=61)
    await world.hear()
    assert (await world.events(tx))[-2:] == ["refund_refused", "disputed"]
    assert await world.amounts(account) == {"complete": 1000, "disputed": 1000}
    tx = await world.dispute_ended(tx, 0)
    assert await world.amounts(account) == {"complete": 1000, "available": 1000}
    assert (tx["stateId"], tx["adjustments"]) == ("EFFECTED", [])


async def test_nobody_but_the_rail_opens_a_dispute(world: World) -> None:
    tx = await world.charged(await world.account(), 1000)
    for token in (world.tenant.token, world.tenant.operator):
        answer = await world.move(tx, "DISPUTED", token=token)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/toStateId")


async def test_what_the_network_takes_beyond_what_was_left_is_in_suspense(world: World) -> None:
    account = await world.account()
    tx = await world.charged(account, 1000)
    await world.refund(tx, 400)
    await world.idle()
    await world.disputed(tx, 1000)
    tx = await world.dispute_ended(tx, 1000)
    assert tx["stateId"] == "ADJUSTED"
    assert [(one["type"], one["amount"]) for one in tx["adjustments"]] == [
        ("REFUND", "400"),
        ("CHARGEBACK", "600"),
    ]
    assert await world.amounts(account) == {}
    assert await world.in_suspense() == -400
    (beyond,) = (await world.call("GET", "/v1/tx?tag=suspense")).json()["results"]
    assert beyond["annotations"] == {"disputeOf": tx["id"]}


async def test_a_lost_dispute_over_what_was_cancelled_is_in_suspense(world: World) -> None:
    account = await world.account()
    tx = await world.charged(account, 400, targetStateId="HELD")
    await world.moved(tx, "CANCELLED")
    await world.idle()
    assert (await world.disputed(tx))["stateId"] == "CANCELLED"
    assert (await world.dispute_ended(tx, 400))["stateId"] == "CANCELLED"
    assert world.rail.untold == []
    assert await world.amounts(account) == {}
    assert await world.in_suspense() == -400
