"""With what and by whom one pays: preferred instruments, cards for one use, owners in use."""

import pytest
from tests.resources.money import World, faults, problem, uuid_of
from tests.resources.outside import says


async def has_number(world: World, card: str) -> bool:
    sql = "SELECT 1 FROM vault.numbers WHERE id = $1"
    return bool(await world.house.database.fetch(sql, uuid_of(card)))


async def test_a_card_for_one_use_is_used_once_and_its_number_erased_after_the_charge(
    world: World,
) -> None:
    account = await world.account()
    card = await world.card(await world.owner(account), storageType="ONE_TIME_USE")
    world.rail.script["charge"].append(says("pending"))
    tx = await world.charged(account, 10, paymentInstrumentId=card)
    assert (await world.call("GET", f"/v1/cards/{card}")).json()["stateId"] == "INACTIVE"
    assert await has_number(world, card), "the rail may have to be told again"
    again = await world.inbound(account, 10, paymentInstrumentId=card)
    assert problem(again) == (409, "instrument_not_usable")
    world.rail.decide(world.tenant.id, await world.order_of(tx), 10, "done")
    await world.later(seconds=61)
    assert await world.state(tx) == "EFFECTED"
    assert not await has_number(world, card)


async def test_a_card_for_one_use_pays_one_of_two_that_wait(world: World) -> None:
    account = await world.account()
    card = await world.card(await world.owner(account), storageType="ONE_TIME_USE")
    fields = {"paymentInstrumentId": card, "targetStateId": "PENDING"}
    first, second = [(await world.inbound(account, 10, **fields)).json() for _ in range(2)]
    await world.moved(first, "PROCESSING")
    assert problem(await world.move(second, "PROCESSING")) == (409, "instrument_not_usable")
    assert await world.state(second) == "PENDING"
    await world.moved(second, "CANCELLED")


@pytest.mark.parametrize("how", ["cancelled", "vouched", "failed"])
async def test_the_number_is_erased_however_the_charge_ends(world: World, how: str) -> None:
    account = await world.account()
    card = await world.card(await world.owner(account), storageType="ONE_TIME_USE")
    world.rail.script["charge"].append(says("pending"))
    tx = await world.charged(account, 10, paymentInstrumentId=card)
    target = {"cancelled": "CANCELLED", "vouched": "EFFECTED", "failed": "FAILED"}[how]
    await world.moved(tx, target, token=world.tenant.operator)
    if how == "vouched":
        world.rail.decide(world.tenant.id, await world.order_of(tx), 10, "done")
    assert not await has_number(world, card)


async def test_accounts_that_are_not_enabled_move_no_money(world: World) -> None:
    account, other = await world.fund(100), await world.account()
    owner = await world.owner(account)
    bank, card = await world.bank_account(owner), await world.card(owner)
    held = await world.sent(account, other, 10, targetStateId="HELD")
    waiting = await world.sent(account, other, 10, targetStateId="PENDING")
    path = f"/v1/accounts/{account}/state"
    await world.call("PATCH", path, {"toStateId": "DISABLED"})
    answers = [
        await world.inbound(account, 10, paymentInstrumentId=card),
        await world.outbound(account, 10, paymentInstrumentId=bank),
        await world.internal(account, other, 10),
        await world.internal(other, account, 10),
        await world.move(held, "EFFECTED"),
        await world.move(waiting, "HELD"),
        await world.move(waiting, "PROCESSING"),
    ]
    assert [problem(one) for one in answers] == [(409, "account_not_active")] * 7
    assert await world.amounts(other) == {"credits": 10}


async def test_owners_that_are_not_enabled_move_no_money(world: World) -> None:
    account, other = await world.fund(100), await world.account()
    owner = await world.owner(account)
    bank, card = await world.bank_account(owner), await world.card(owner)
    held = await world.sent(account, other, 10, targetStateId="HELD")
    waiting = await world.sent(other, account, 10, targetStateId="PENDING")
    path = f"/v1/customers/{owner}/state"
    assert (await world.call("PATCH", path, {"toStateId": "DISABLED"})).status_code == 200
    answers = [
        await world.inbound(account, 10, paymentInstrumentId=card),
        await world.inbound(other, 10, paymentInstrumentId=card),
        await world.outbound(account, 10, paymentInstrumentId=bank),
        await world.internal(account, other, 10),
        await world.internal(other, account, 10),
        await world.move(held, "EFFECTED"),
        await world.move(waiting, "HELD"),
        await world.move(waiting, "PROCESSING"),
    ]
    assert [problem(one) for one in answers] == [(409, "owner_not_active")] * 8
    assert await world.amounts(other) == {"credits": 10}
    assert (await world.moved(held, "CANCELLED"))["stateId"] == "CANCELLED", "it may go back"


async def test_without_an_instrument_the_preferred_one_is_used(world: World) -> None:
    account = await world.account()
    owner = await world.owner(account)
    for answer in (await world.inbound(account, 10), await world.outbound(account, 10)):
        assert faults(answer) == {"/paymentInstrumentId": "required"}
    await world.card(owner)
    card = await world.card(owner, setAsPreferred=True)
    await world.bank_account(owner)
    bank = await world.bank_account(owner, setAsPreferred=True)
    tx = (await world.inbound(account, 10)).json()
    assert tx["paymentInstrumentId"] == card
    await world.idle()
    assert (await world.outbound(account, 10)).json()["paymentInstrumentId"] == bank
