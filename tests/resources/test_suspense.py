"""Money that nobody could place: it waits where all can see it, and the operator assigns it."""

import asyncio

from tests.resources.money import World, problem


async def test_money_in_suspense_is_assigned_by_the_operator_and_never_more_than_is_in_it(
    world: World,
) -> None:
    account = await world.account()
    await world.hear(world.arrival("nobody knows", 700))
    kept = await world.suspense()
    assert kept is not None
    boss = world.tenant.operator
    assert problem(await world.internal(kept["id"], account, 700)) == (403, "forbidden")
    over = await world.internal(kept["id"], account, 701, token=boss)
    assert problem(over) == (409, "insufficient_funds")
    # Neither in one step nor in several.
    parked = [
        (await world.internal(kept["id"], account, 400, targetStateId="PENDING", token=boss)).json()
        for _ in range(2)
    ]
    await world.moved(parked[0], "HELD", token=boss)
    assert problem(await world.move(parked[1], "HELD", token=boss)) == (409, "insufficient_funds")
    await world.moved(parked[0], "CANCELLED", token=boss)
    given = await world.internal(kept["id"], account, 700, token=boss)
    assert (given.status_code, given.json()["stateId"]) == (201, "EFFECTED")
    assert await world.available(account) == 700
    assert await world.in_suspense() == 0


async def test_of_many_assignments_at_once_no_more_goes_through_than_is_there(
    world: World,
) -> None:
    account = await world.account()
    await world.hear(world.arrival("nobody knows", 700))
    kept = await world.suspense()
    assert kept is not None
    answers = await asyncio.gather(
        *(world.internal(kept["id"], account, 200, token=world.tenant.operator) for _ in range(12))
    )
    assert [one.status_code for one in answers].count(201) == 3
    assert await world.in_suspense() == 100


async def test_money_in_suspense_leaves_by_no_other_way(world: World) -> None:
    bank = await world.bank_account(world.tenant.customer)
    await world.hear(world.arrival("nobody knows", 700))
    kept = await world.suspense()
    assert kept is not None
    for token in (world.tenant.token, world.tenant.operator):
        out = await world.outbound(kept["id"], 100, paymentInstrumentId=bank, token=token)
        assert problem(out) == (403, "forbidden")
    (tx,) = (await world.call("GET", "/v1/tx?tag=suspense")).json()["results"]
    assert problem(await world.refund(tx, 700)) == (409, "transition_not_allowed")
    assert await world.in_suspense() == 700


async def test_what_was_assigned_cannot_be_sent_back_too(world: World) -> None:
    account = await world.account()
    await world.hear(world.arrival("nobody knows", 700))
    kept = await world.suspense()
    assert kept is not None
    boss = world.tenant.operator
    assert (await world.internal(kept["id"], account, 500, token=boss)).status_code == 201
    (tx,) = (await world.call("GET", "/v1/tx?tag=suspense&flow=INBOUND")).json()["results"]
    assert problem(await world.refund(tx, 300, token=boss)) == (409, "insufficient_funds")
    assert (await world.refund(tx, 200, token=boss)).status_code == 200
    await world.idle()
    assert len(world.rail.sends("refund")) == 1
    assert await world.in_suspense() == 0


async def test_the_account_of_suspense_is_never_closed(world: World) -> None:
    account = await world.account()
    await world.hear(world.arrival("nobody knows", 700))
    kept = await world.suspense()
    assert kept is not None
    await world.internal(kept["id"], account, 700, token=world.tenant.operator)
    for token in (world.tenant.token, world.tenant.operator):
        path = f"/v1/accounts/{kept['id']}/state"
        answer = await world.call("PATCH", path, {"toStateId": "CLOSED"}, token=token)
        assert problem(answer) == (409, "transition_not_allowed")
