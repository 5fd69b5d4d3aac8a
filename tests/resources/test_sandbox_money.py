"""The sandbox's cards and sort codes in payments: each does what its table says."""

from datetime import datetime
from typing import Any

import pytest
from tests.resources.houses import House
from tests.resources.money import World, open_world

from farthing.rails.base import Rail
from farthing.rails.numbers import MAGIC_CARDS, MAGIC_SORT_CODES
from farthing.rails.sandbox import DISPUTED_AFTER, SandboxRail

STATES = {
    "done": "EFFECTED",
    "refused": "FAILED",
    "challenge": "PROCESSING",
    "pending": "PROCESSING",
    "unknown": "ERRORED",
}
CHARGEABLE = [one for one in MAGIC_CARDS if one.verification == "verified"]
PAYABLE = [one for one in MAGIC_SORT_CODES if one.verification == "verified"]


async def charged(world: World, number: str, amount: int = 500) -> dict[str, Any]:
    account = await world.account()
    card = await world.card(await world.owner(account), number)
    return await world.charged(account, amount, paymentInstrumentId=card)


def rail_of(world: World) -> SandboxRail:
    found: SandboxRail = world.house.service.parts[Rail]
    return found


@pytest.mark.parametrize("magic", CHARGEABLE, ids=lambda magic: magic.number)
async def test_a_charge_does_what_the_table_says(sandbox: World, magic: Any) -> None:
    tx = await charged(sandbox, magic.number)
    assert tx["stateId"] == STATES[magic.charge]
    assert bool(tx["requirements"]) == (magic.charge == "challenge")
    if magic.charge == "done":
        assert (await sandbox.refund(tx, 500)).status_code == 200
        await sandbox.idle()
        events = await sandbox.events(tx)
        assert events[-1] == ("refunded" if magic.refund == "done" else "refund_refused")


@pytest.mark.parametrize("magic", PAYABLE, ids=lambda magic: magic.sort_code)
async def test_a_payout_does_what_the_table_says(sandbox: World, magic: Any) -> None:
    account = await sandbox.fund(1000)
    bank = await sandbox.bank_account(await sandbox.owner(account), sortCode=magic.sort_code)
    tx = await sandbox.paid_out(account, 400, paymentInstrumentId=bank)
    assert tx["stateId"] == STATES[magic.payout]
    if magic.payout in {"pending", "unknown"}:
        tenant_id, order = sandbox.tenant.id, await sandbox.order_of(tx)
        await rail_of(sandbox).decide(tenant_id, order, "done")
        await sandbox.later(minutes=5)
        assert await sandbox.state(tx) == "EFFECTED"


async def test_a_card_that_is_disputed_is_so_after_a_minute(sandbox: World) -> None:
    (magic,) = [one for one in MAGIC_CARDS if one.disputed]
    tx = await charged(sandbox, magic.number)
    await sandbox.later(seconds=DISPUTED_AFTER.total_seconds() - 1)
    assert await sandbox.state(tx) == "EFFECTED"
    await sandbox.later(seconds=1)
    assert await sandbox.state(tx) == "DISPUTED"


async def test_an_order_that_the_sandbox_forgets_is_sent_again(sandbox: World) -> None:
    (magic,) = [one for one in MAGIC_SORT_CODES if one.payout == "unknown"]
    account = await sandbox.fund(1000)
    bank = await sandbox.bank_account(await sandbox.owner(account), sortCode=magic.sort_code)
    tx = await sandbox.paid_out(account, 400, paymentInstrumentId=bank)
    order = await sandbox.order_of(tx)
    await rail_of(sandbox).forget(sandbox.tenant.id, order)
    await sandbox.later(minutes=5)
    assert [one.id for one in await sandbox.orders(tx)] == [order]
    await rail_of(sandbox).decide(sandbox.tenant.id, order, "done")
    await sandbox.later(minutes=10)
    assert await sandbox.state(tx) == "EFFECTED"


async def test_the_sandbox_tells_of_money_until_it_is_heard(sandbox: World) -> None:
    account = await sandbox.account()
    text = await sandbox.reference(account)
    tx = await sandbox.announced(account, 700)
    await rail_of(sandbox).tell(sandbox.arrival(text, 700))
    await sandbox.later(seconds=2)
    assert await sandbox.state(tx) == "EFFECTED"
    assert await rail_of(sandbox).news() == []


async def test_a_clock_that_is_moved_brings_the_dispute_and_leaves_other_tenants_theirs(
    sandbox: World, sandbox_house: House
) -> None:
    other = await open_world(sandbox_house)
    mine, theirs = [await charged(one, "4000000000000259") for one in (sandbox, other)]
    answer = await sandbox.call("POST", "/v1/sandbox/clock", {"advance": "PT5M"})
    (event,) = answer.json()["events"]
    assert (event["type"], event["objectId"]) == ("transaction.disputed", mine["id"])
    due = sandbox_house.clock.now + DISPUTED_AFTER
    assert datetime.fromisoformat(event["createdAt"]) == due
    await other.run("hear the news of rails")
    assert await other.state(theirs) == "EFFECTED"
    again = await charged(sandbox, "4000000000000259")
    await sandbox.run("hear the news of rails")
    assert await sandbox.state(again) == "EFFECTED"
