"""What the money proof found, each as a sentence: the books follow what happened outside."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest_asyncio
from tests.resources.money_world import SEED, OrderSeen, Stage, Tx, World
from tests.resources.scripted_rail import RAIL, Mood

if TYPE_CHECKING:
    import httpx2
    from tests.conftest import Database

MINUTES = timedelta(minutes=2)
NEWS = "hear the news of rails"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(database: "Database") -> AsyncIterator[Stage]:
    opened = await Stage.open(database)
    yield opened
    await opened.close()


@pytest_asyncio.fixture(loop_scope="session")
async def world(stage: Stage) -> AsyncIterator[World]:
    made = World(stage)
    await made.begin()
    yield made
    assert await made.verify(everything=True) == []
    held = made.held_outside(await made.look())
    assert held == {currency: RAIL.inside[currency] for currency in held}
    await made.crash()


async def pay(world: World, kind: str, mood: Mood = "does", **fields: Any) -> UUID:
    """Start a payment with the first account, and return it."""
    path, body = await world.payment(kind, 0)
    RAIL.mood = mood
    answer = await world.send("POST", path, {**body, "amount": "100", **fields})
    assert answer.status_code == 201, answer.text
    await world.quiet()
    RAIL.mood = "does"
    return UUID(answer.json()["id"].partition("/")[2])


async def move(
    world: World, tx_id: UUID, target: str, who: str = "client", amount: int = 0
) -> "httpx2.Response":
    body: dict[str, Any] = {"toStateId": target}
    if amount:
        body["options"] = {"adjustment": {"adjustmentAmount": str(amount)}}
    path = f"/v1/tx/tx/{tx_id}/state"
    answer = await world.send("PATCH", path, body, token=world.tokens[who])
    await world.quiet()
    return answer


async def see(world: World, tx_id: UUID) -> Tx:
    return next(tx for tx in (await world.look()).txs if tx.id == tx_id)


async def order_of(world: World, tx_id: UUID) -> OrderSeen:
    look = await world.look()
    tx = next(tx for tx in look.txs if tx.id == tx_id)
    return next(order for order in look.orders if order.id == tx.order_id)


async def suspense(world: World) -> list[tuple[str, int]]:
    """Return the money of which nobody knows whose it is."""
    look = await world.look()
    own = {tx.id for tx in look.txs if tx.from_owner_id == tx.to_owner_id == world.tenant_id}
    return [(tx.state_id, tx.amount) for tx in look.txs if tx.id in own]


async def available(world: World) -> int:
    answer = await world.send("GET", f"/v1/accounts/{world.accounts[0]}")
    return int(answer.json()["availableBalance"])


async def test_money_that_arrives_is_in_the_account_that_its_reference_names(world: World) -> None:
    assert await available(world) == SEED


async def test_the_number_of_a_card_for_one_use_goes_when_its_charge_is_recalled(
    world: World,
) -> None:
    tx_id = await pay(world, "once", "shrugs")
    assert (await move(world, tx_id, "CANCELLED")).status_code == 200
    assert await world.verify(everything=True) == []


async def test_the_number_of_a_card_for_one_use_goes_when_somebody_vouches_for_its_charge(
    world: World,
) -> None:
    tx_id = await pay(world, "once", "waits")
    assert RAIL.settle((await order_of(world, tx_id)).id, done=True)
    assert (await move(world, tx_id, "EFFECTED", "operator")).status_code == 200
    assert await world.verify(everything=True) == []


async def overdraw(world: World) -> None:
    """Spend all that is there, and lose a dispute over a part of it."""
    charged = await pay(world, "card")
    await pay(world, "payout", amount=str(SEED + 100))
    RAIL.open_dispute(RAIL.deeds[(await order_of(world, charged)).id], None)
    await world.work("does", NEWS)
    assert await available(world) == -100


async def test_escrow_comes_into_an_account_that_a_dispute_has_overdrawn_and_goes_back(
    world: World,
) -> None:
    await overdraw(world)
    tx_id = await pay(world, "card", targetStateId="HELD")
    assert (await see(world, tx_id)).state_id == "HELD"
    assert await available(world) == -100
    assert (await move(world, tx_id, "CANCELLED")).status_code == 200
    assert await available(world) == -100


async def test_a_challenge_waits_until_the_transaction_goes_on(world: World) -> None:
    tx_id = await pay(world, "card", "stalls")
    assert (await move(world, tx_id, "HELD", "operator")).status_code == 200
    RAIL.let_go(0, "challenges")
    await world.quiet()
    held = await see(world, tx_id)
    assert (held.state_id, held.requirements) == ("HELD", {})
    assert (await move(world, tx_id, "PROCESSING")).status_code == 200
    asked = await see(world, tx_id)
    assert (asked.state_id, list(asked.requirements)) == ("PROCESSING", ["threeDSecure"])


async def test_a_dispute_waits_until_a_refund_is_decided(world: World) -> None:
    tx_id = await pay(world, "card")
    RAIL.mood = "waits"
    assert (await move(world, tx_id, "ADJUSTED", amount=40)).status_code == 200
    deed = RAIL.deeds[(await order_of(world, tx_id)).id]
    RAIL.open_dispute(deed, None)
    RAIL.end_dispute(deed, 100)
    await world.work("does", NEWS)
    assert (await see(world, tx_id)).state_id == "ADJUSTED"
    # The rail does not give back what was lost already.
    await world.pass_time(MINUTES)
    await world.work("does")
    await world.work("does", NEWS)
    lost = await see(world, tx_id)
    assert (lost.state_id, lost.adjusted, lost.disputed) == ("ADJUSTED", 100, 0)


async def test_a_dispute_finds_its_money_in_suspense(world: World) -> None:
    tx_id = await pay(world, "card", "shrugs_done")
    assert (await move(world, tx_id, "FAILED", "operator")).status_code == 200
    assert await suspense(world) == [("EFFECTED", 100)]
    deed = RAIL.deeds[(await order_of(world, tx_id)).id]
    RAIL.open_dispute(deed, None)
    RAIL.end_dispute(deed, 60)
    await world.work("does", NEWS)
    assert await suspense(world) == [("ADJUSTED", 100)]


async def test_a_charge_that_was_approved_is_asked_about_though_its_card_is_gone(
    world: World,
) -> None:
    tx_id = await pay(world, "card", "challenges")
    link = (await see(world, tx_id)).requirements["threeDSecure"].partition("/challenges/")[2]
    RAIL.mood = "stalls_done"
    await world.stage.client.post(f"/challenges/{link}", content=b"decision=approve")
    await world.quiet()
    await world.crash()
    await world.send("PATCH", f"/v1/cards/{world.cards[0]}/state", {"toStateId": "CLOSED"})
    await world.pass_time(MINUTES)
    await world.work("does")
    assert (await see(world, tx_id)).state_id == "EFFECTED"


async def test_money_for_a_closed_account_goes_into_suspense(world: World) -> None:
    answer = await world.send(
        "POST", "/v1/accounts", {"ownerId": world.customers[0], "currencyISO": "GBP"}
    )
    world.accounts[0] = answer.json()["id"]
    text = await world.new_reference(world.accounts[0])
    tx_id = await pay(world, "transfer")
    path = f"/v1/accounts/{world.accounts[0]}/state"
    assert (await world.send("PATCH", path, {"toStateId": "CLOSED"})).status_code == 200
    RAIL.send(world.tenant_id, 100, "GBP", text)
    await world.work("does", NEWS)
    assert (await see(world, tx_id)).state_id == "PENDING"
    assert await suspense(world) == [("EFFECTED", 100)]


async def test_what_the_operator_declared_failed_is_asked_about_until_the_rail_knows(
    world: World,
) -> None:
    tx_id = await pay(world, "payout", "shrugs")
    RAIL.mood = "waits"
    assert (await move(world, tx_id, "FAILED", "operator")).status_code == 200
    assert (await order_of(world, tx_id)).status == "pending"
    await world.pass_time(MINUTES)
    await world.work("does")
    assert (await order_of(world, tx_id)).status == "done"
    assert (await see(world, tx_id)).state_id == "FAILED"
    assert await suspense(world) == [("EFFECTED", 100)]


async def test_what_the_operator_declared_failed_is_never_sent_again(world: World) -> None:
    tx_id = await pay(world, "payout", "is_deaf")
    assert (await move(world, tx_id, "FAILED", "operator")).status_code == 200
    order = await order_of(world, tx_id)
    assert (order.status, order.id in RAIL.deeds) == ("refused", False)


async def test_a_payout_that_has_left_is_not_held(world: World) -> None:
    tx_id = await pay(world, "payout", "shrugs_done")
    RAIL.mood = "waits"
    assert (await move(world, tx_id, "PENDING")).status_code == 200
    await world.pass_time(MINUTES)
    await world.work("does")
    assert (await see(world, tx_id)).state_id == "EFFECTED"


async def test_a_dispute_over_more_than_is_left_is_over_what_is_left(world: World) -> None:
    tx_id = await pay(world, "card")
    deed = RAIL.deeds[(await order_of(world, tx_id)).id]
    RAIL.open_dispute(deed, 100)
    RAIL.end_dispute(deed, 30)
    # The refund is faster than the news of all that.
    assert (await move(world, tx_id, "ADJUSTED", amount=50)).status_code == 200
    await world.work("does", NEWS)
    lost = await see(world, tx_id)
    assert (lost.state_id, lost.adjusted, lost.disputed) == ("ADJUSTED", 80, 0)
