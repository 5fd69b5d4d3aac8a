"""Processes that die: whatever they left behind is taken over, and money moves exactly once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from tests.resources.houses import start
from tests.resources.money import World
from tests.resources.outside import Died, Stall, Step, breaks, is_lost, is_silent, kills, says

from farthing.core.actors import Grant, Principal
from farthing.db.commands import Context
from farthing.http.service import Service
from farthing.resources.orders.model import CLAIM, OrderRow
from farthing.resources.orders.store import DUE, ORDERS
from farthing.resources.settlements.actions import record
from farthing.resources.settlements.api import Teller


@asynccontextmanager
async def deaf(world: World) -> AsyncIterator[None]:
    """Let the process write orders down, and die before it sees to them."""
    committer, teller = world.house.service.committer, world.house.teller
    committer.listen(ORDERS, lambda _: None)
    yield
    committer.listen(ORDERS, teller._notice)  # noqa: SLF001 - as it was before


@asynccontextmanager
async def another_process(world: World) -> AsyncIterator[Service]:
    house = world.house
    service = await start(house.database, house.rail, house.clock)
    yield service
    await service.stop()


async def left_behind(world: World, tx: dict[str, Any]) -> OrderRow:
    """Return the order of a transaction as the process that died had found it."""
    due = await DUE.find(world.house.service.pool, world.house.clock(), 500)
    (mine,) = [order for order in due if order.id == (await world.orders(tx))[-1].id]
    return mine


async def take_over(world: World) -> None:
    """Let the claim run out, and another process look for work."""
    async with another_process(world) as other:
        teller: Teller = other.parts[Teller]
        await teller.see_to_due_orders()
        world.house.clock.now += CLAIM - timedelta(seconds=1)
        await teller.see_to_due_orders()
        world.house.clock.now += timedelta(seconds=1)
        await teller.see_to_due_orders()
        await teller.idle()
    await world.later()


async def payment(world: World, flow: str) -> tuple[dict[str, Any], str]:
    """Start a payment whose process is deaf; nothing is sent."""
    account = await world.fund(1000)
    async with deaf(world):
        if flow == "charge":
            return await world.charged(account, 400), account
        if flow == "pay_out":
            return await world.paid_out(account, 400), account
    tx = await world.charged(account, 400)
    async with deaf(world):
        assert (await world.refund(tx, 400)).status_code == 200
    return tx, account


# What is available before and after, and the state at the end.
FLOWS = [("charge", 1400, "EFFECTED"), ("pay_out", 600, "EFFECTED"), ("refund", 1000, "ADJUSTED")]


@pytest.mark.parametrize(("flow", "available", "state"), FLOWS)
async def test_who_dies_after_the_intent_and_before_the_rail_is_replaced(
    world: World, flow: str, available: int, state: str
) -> None:
    tx, account = await payment(world, flow)
    order = await left_behind(world, tx)
    assert order.id not in world.rail.sends(flow)
    await take_over(world)
    assert world.rail.sends(flow).count(order.id) == 1
    assert await world.state(tx) == state
    assert await world.amounts(account) == {"complete": available, "available": available}


@pytest.mark.parametrize(("flow", "available", "state"), FLOWS)
async def test_who_dies_with_the_claim_and_before_the_rail_is_replaced(
    world: World, flow: str, available: int, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tx, account = await payment(world, flow)
    order, teller = await left_behind(world, tx), world.house.teller

    async def dies(_: object) -> None:
        raise Died

    with monkeypatch.context() as patched:
        patched.setattr(teller, "_outcome", dies)
        with pytest.raises(Died):
            await teller.see_to(order)
    assert order.id not in world.rail.sends(flow)
    await take_over(world)
    assert world.rail.sends(flow).count(order.id) == 1
    assert await world.state(tx) == state
    assert await world.amounts(account) == {"complete": available, "available": available}


@pytest.mark.parametrize(("flow", "available", "state"), FLOWS)
async def test_who_dies_after_the_rail_and_before_the_outcome_is_replaced(
    world: World, flow: str, available: int, state: str
) -> None:
    tx, account = await payment(world, flow)
    order = await left_behind(world, tx)
    world.rail.script[flow].append(kills)
    with pytest.raises(Died):
        await world.house.teller.see_to(order)
    assert world.rail.known[order.id].status == "done"
    await take_over(world)
    assert world.rail.sends(flow).count(order.id) == 1, "it is asked about, not sent again"
    assert world.rail.sends("ask").count(order.id) == 1, "and not before the claim runs out"
    assert await world.state(tx) == state
    assert await world.amounts(account) == {"complete": available, "available": available}


async def test_who_wakes_up_after_another_took_over_moves_nothing_twice(world: World) -> None:
    tx, account = await payment(world, "pay_out")
    order = await left_behind(world, tx)
    stall = Stall()
    world.rail.script["pay_out"].append(stall)
    sleeper = asyncio.create_task(world.house.teller.see_to(order))
    await stall.reached.wait()
    await take_over(world)
    stall.go.set()
    await sleeper
    assert await world.state(tx) == "EFFECTED"
    assert await world.amounts(account) == {"complete": 600, "available": 600}


@pytest.mark.slow
async def test_no_transaction_stays_in_flight_for_ever(world: World) -> None:
    account, boss = await world.fund(10_000), world.tenant.operator
    steps: list[Step] = [is_lost, is_silent, breaks, says("unknown"), says("pending"), Stall()]
    made = []
    for verb, pay in (("charge", world.charged), ("pay_out", world.paid_out)):
        for step in steps:
            world.rail.script[verb].append(step)
            made.append(await pay(account, 100))
    async with deaf(world):
        made += [await world.charged(account, 100), await world.paid_out(account, 100)]
        said_too_early = await world.paid_out(account, 100)
        await world.moved(said_too_early, "ERRORED", token=boss)
    made.append(said_too_early)
    assert {await world.state(tx) for tx in made} == {"ACCEPTED", "PROCESSING", "ERRORED"}
    await world.later(hours=6)
    for tx in made:
        for order in await world.orders(tx):
            if world.rail.known[order.id].status in {"unknown", "pending"}:
                world.rail.decide(order.tenant_id, order.id, order.amount, "done")
    await world.later(hours=6)
    assert {await world.state(tx) for tx in made} == {"EFFECTED"}
    assert len(set(world.rail.sends())) == len(made) + 1, "one order each, and the first charge"
    assert await world.available(account) == 10_000 - 100


@pytest.mark.parametrize("status", ["done", "refused"])
@pytest.mark.parametrize("verb", ["charge", "pay_out", "refund"])
async def test_an_outcome_that_two_processes_bring_is_written_once(
    world: World, verb: str, status: str
) -> None:
    account, teller = await world.fund(10_000), world.house.teller
    tx = await world.charged(account, 1000)
    await world.refund(tx, 300)
    await world.idle()
    world.rail.script[verb].append(says(status))
    if verb == "charge":
        tx = await world.charged(account, 300)
    elif verb == "pay_out":
        tx = await world.paid_out(account, 300)
    else:
        await world.refund(tx, 300)
        await world.idle()
    order = (await world.orders(tx))[-1]
    assert order.status == status
    before = await world.amounts(account), await world.events(tx)
    asked = teller._question(world.tenant.id)  # noqa: SLF001 - as the other process has it
    outcome = world.rail.known[order.id]
    context = Context(Principal(world.tenant.id, Grant.PLATFORM), "the other process")
    command = record(order, outcome, world.rail.name, asked)
    await world.house.service.committer.submit(context, command)
    assert (await world.amounts(account), await world.events(tx)) == before
    assert await world.suspense() is None
