"""Refunds: partial and repeated, never beyond what is left, and through the rail for cards."""

import asyncio

from tests.resources.money import World, problem
from tests.resources.outside import is_lost, is_silent, says


async def test_refunds_are_partial_and_repeated_up_to_what_is_left(world: World) -> None:
    account = await world.account()
    tx = await world.charged(account, 1000)
    first = (await world.refund(tx, 300)).json()
    assert first["stateId"] == "ADJUSTED"
    assert [(one["type"], one["amount"]) for one in first["adjustments"]] == [("REFUND", "300")]
    assert set(first["adjustments"][0]) == {"id", "type", "amount", "createdAt"}
    assert problem(await world.refund(tx, 701)) == (409, "amount_exceeds_remaining")
    second = (await world.refund(tx, 700)).json()
    assert [one["amount"] for one in second["adjustments"]] == ["300", "700"]
    assert len({one["id"] for one in second["adjustments"]}) == 2
    assert problem(await world.refund(tx, 1)) == (409, "amount_exceeds_remaining")
    await world.idle()
    assert len(world.rail.sends("refund")) == 2
    assert await world.amounts(account) == {}
    assert await world.events(tx) == [
        "created", "accepted", "processing", "effected", "adjusted", "refunded", "adjusted",
        "refunded",
    ]  # fmt: skip


async def test_no_concurrency_refunds_more_than_is_left(world: World) -> None:
    account = await world.fund(10_000)
    tx = await world.charged(account, 1000)
    answers = await asyncio.gather(*(world.refund(tx, 150) for _ in range(30)))
    assert [one.status_code for one in answers].count(200) == 6
    refused = {problem(one) for one in answers if one.status_code != 200}
    assert refused == {(409, "amount_exceeds_remaining")}
    assert await world.available(account) == 10_000 + 100


async def test_a_refund_takes_nothing_that_the_receiver_has_spent(world: World) -> None:
    account, other = await world.account(), await world.account()
    tx = await world.charged(account, 1000)
    await world.sent(account, other, 600)
    assert problem(await world.refund(tx, 401)) == (409, "insufficient_funds")
    assert (await world.refund(tx, 400)).status_code == 200


async def test_between_two_accounts_the_money_goes_back_at_once_and_no_rail_is_asked(
    world: World,
) -> None:
    payer, payee = await world.fund(1000), await world.account()
    tx = await world.sent(payer, payee, 400)
    calls = list(world.rail.calls)
    assert (await world.refund(tx, 150)).json()["stateId"] == "ADJUSTED"
    await world.idle()
    assert world.rail.calls == calls
    assert (await world.available(payer), await world.available(payee)) == (750, 250)


async def test_a_refund_that_the_rail_refuses_puts_the_money_back_and_says_so(
    world: World,
) -> None:
    world.rail.script["refund"].append(says("refused", "refund_refused"))
    account = await world.account()
    tx = await world.charged(account, 1000)
    assert (await world.refund(tx, 300)).status_code == 200
    assert await world.available(account) == 700
    await world.idle()
    assert await world.available(account) == 1000
    now = await world.tx(tx, "transitions,entries")
    assert (now["stateId"], now["adjustments"]) == ("ADJUSTED", [])
    last = now["transitions"][-1]
    assert (last["fromStateId"], last["toStateId"]) == ("ADJUSTED", "ADJUSTED")
    assert (last["actor"], last["reason"]) == (
        "PLATFORM",
        "The rail said: refused (refund_refused).",
    )
    assert now["entries"][-1]["effect"] == "restore"
    assert (await world.events(tx))[-2:] == ["adjusted", "refund_refused"]
    assert (await world.refund(tx, 1000)).status_code == 200, "all of it is there again"
    await world.idle()
    assert await world.amounts(account) == {}


async def test_one_refused_refund_leaves_the_others_alone(world: World) -> None:
    world.rail.script["refund"] += [says("done"), says("refused"), says("done")]
    account = await world.account()
    tx = await world.charged(account, 1000)
    for amount in (100, 200, 300):
        assert (await world.refund(tx, amount)).status_code == 200
        await world.idle()
    now = await world.tx(tx)
    assert [one["amount"] for one in now["adjustments"]] == ["100", "300"]
    assert await world.available(account) == 600


async def test_a_refund_of_which_nobody_knows_is_asked_for_until_it_is_known(
    world: World,
) -> None:
    world.rail.script["refund"] += [is_silent, is_lost]
    account = await world.account()
    tx = await world.charged(account, 1000)
    await world.refund(tx, 300)
    await world.idle()
    await world.refund(tx, 200)
    await world.idle()
    assert [one.status for one in await world.orders(tx)] == ["done", "unknown", "unknown"]
    await world.later(seconds=61)
    assert [one.status for one in await world.orders(tx)] == ["done", "done", "done"]
    silent, lost = (one.id for one in (await world.orders(tx))[1:])
    assert world.rail.sends("refund") == [silent, lost, lost], "again under the same id"
    assert await world.available(account) == 500


async def test_what_comes_back_to_a_closed_account_is_in_suspense(world: World) -> None:
    world.rail.script["refund"].append(says("pending"))
    account = await world.account()
    tx = await world.charged(account, 1000)
    await world.refund(tx, 1000)
    await world.idle()
    path = f"/v1/accounts/{account}/state"
    assert (await world.call("PATCH", path, {"toStateId": "CLOSED"})).status_code == 200
    order = (await world.orders(tx))[1].id
    world.rail.decide(world.tenant.id, order, 1000, "refused")
    await world.later(seconds=61)
    assert await world.amounts(account) == {}
    assert await world.in_suspense() == 1000
    (kept,) = (await world.call("GET", "/v1/tx?tag=suspense")).json()["results"]
    assert kept["annotations"] == {"refusedRefundOf": tx["id"]}


async def test_nothing_goes_back_to_an_account_that_is_closed(world: World) -> None:
    payer, payee = await world.fund(400), await world.account()
    tx = await world.sent(payer, payee, 400)
    path = f"/v1/accounts/{payer}/state"
    assert (await world.call("PATCH", path, {"toStateId": "CLOSED"})).status_code == 200
    assert problem(await world.refund(tx, 400)) == (409, "account_not_active")
    assert await world.available(payee) == 400


async def test_only_the_operator_says_that_a_bank_sent_a_payout_back(world: World) -> None:
    account = await world.fund(1000)
    tx = await world.paid_out(account, 400)
    assert problem(await world.refund(tx, 400)) == (409, "transition_not_allowed")
    assert (await world.refund(tx, 400, token=world.tenant.operator)).status_code == 200
    world.rail.received[world.tenant.id, "GBP"] += 400
    await world.idle()
    assert world.rail.sends("refund") == []
    assert await world.available(account) == 1000


async def test_customers_refund_nothing(world: World) -> None:
    account = await world.account()
    tx = await world.charged(account, 100)
    token = await world.tenant.token_for(await world.owner(account))
    assert problem(await world.refund(tx, 10, token=token)) == (409, "transition_not_allowed")


async def test_escrow_that_is_cancelled_goes_back_through_the_rail(world: World) -> None:
    account = await world.account()
    tx = await world.charged(account, 400, targetStateId="HELD")
    assert (await world.moved(tx, "CANCELLED"))["stateId"] == "CANCELLED"
    await world.idle()
    assert len(world.rail.sends("refund")) == 1
    assert await world.amounts(account) == {}
    assert (await world.events(tx))[-2:] == ["cancelled", "refunded"]


async def test_escrow_that_the_rail_does_not_take_back_is_in_suspense(world: World) -> None:
    world.rail.script["refund"].append(says("refused"))
    account = await world.account()
    tx = await world.charged(account, 400, targetStateId="HELD")
    await world.moved(tx, "CANCELLED")
    await world.idle()
    assert await world.state(tx) == "CANCELLED"
    assert await world.amounts(account) == {}
    assert await world.in_suspense() == 400
