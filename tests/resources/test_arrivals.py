"""Arrivals."""
from tests.resources.money import World

async def test_a_transfer_that_was_announced_is_effected(world: World) -> None:
    account = await world.account()
    text = await world.reference(account)
    tx = await world.announced(account, 700)
    assert (tx["stateId"], tx["reference"]) == ("PENDING", text)
    await world.hear(world.arrival(f"thanks {text.lower()}", 700))
    assert await world.state(tx) == "EFFECTED"
    assert await world.amounts(account) == {"complete": 700, "available": 700}

async def test_x(world: World) -> None:
    account = await world.fund(1000)
    assert await world.amounts(account) == {"complete": 1000, "available": 1000}
