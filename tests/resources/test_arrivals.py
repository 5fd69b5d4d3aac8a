"""Money that arrives: matched by its reference and amount, or kept in suspense, and booked once."""

import asyncio

import pytest
from tests.conftest import make_tenant
from tests.resources.money import World, problem

from farthing.rails.base import Arrival


async def close(world: World, path: str, state: str = "CLOSED") -> None:
    answer = await world.call("PATCH", f"{path}/state", {"toStateId": state})
    assert answer.status_code == 200, answer.text


async def test_a_transfer_that_was_announced_is_effected(world: World) -> None:
    account = await world.account()
    text = await world.reference(account)
    tx = await world.announced(account, 700)
    written = f"thanks {text[:4]} {text[4:11].lower()} {text[11:]}"
    await world.hear(world.arrival(written, 700))
    assert await world.states(tx) == ["PENDING", "EFFECTED"]
    assert await world.amounts(account) == {"complete": 700, "available": 700}
    assert await world.suspense() is None


async def test_of_several_that_wait_the_oldest_of_this_amount_is_effected(world: World) -> None:
    account = await world.account()
    text = await world.reference(account)
    made = [await world.announced(account, amount) for amount in (500, 700, 700)]
    await world.hear(world.arrival(text, 700))
    assert [await world.state(tx) for tx in made] == ["PENDING", "EFFECTED", "PENDING"]


async def test_however_many_wait_the_one_of_this_amount_is_found(world: World) -> None:
    account = await world.account()
    text = await world.reference(account)
    for _ in range(21):
        await asyncio.gather(*(world.announced(account, 500) for _ in range(5)))
    tx = await world.announced(account, 700)
    await world.hear(world.arrival(text, 700))
    assert await world.state(tx) == "EFFECTED"


async def test_escrow_that_arrives_is_withheld(world: World) -> None:
    account = await world.account()
    text = await world.reference(account)
    tx = await world.announced(account, 700, targetStateId="HELD")
    await world.hear(world.arrival(text, 700))
    assert await world.state(tx) == "HELD"
    assert await world.amounts(account) == {"complete": 700, "withheld": 700}


async def test_what_is_held_before_it_arrives_is_withheld_when_it_does(world: World) -> None:
    account = await world.account()
    text = await world.reference(account)
    tx = await world.announced(account, 700)
    await world.moved(tx, "HELD")
    assert problem(await world.move(tx, "EFFECTED")) == (409, "transition_not_allowed")
    assert await world.amounts(account) == {"credits": 700}
    await world.hear(world.arrival(text, 700))
    assert await world.amounts(account) == {"complete": 700, "withheld": 700}
    await world.moved(tx, "EFFECTED")
    assert await world.amounts(account) == {"complete": 700, "available": 700}


async def test_what_nobody_announced_is_a_deposit_to_the_account_of_its_reference(
    world: World,
) -> None:
    account = await world.account()
    text = await world.reference(account)
    await world.hear(world.arrival(text, 700))
    (tx,) = (await world.call("GET", "/v1/tx")).json()["results"]
    told = {name: tx[name] for name in ("stateId", "flow", "method", "purpose", "reference")}
    assert told == {
        "stateId": "EFFECTED",
        "flow": "INBOUND",
        "method": "bankAccount",
        "purpose": "DEPOSIT",
        "reference": text,
    }
    assert (tx["amount"], tx["toOwnerId"]) == ("700", await world.owner(account))
    assert await world.available(account) == 700


async def test_a_deposit_is_from_the_payer_for_whom_the_reference_was_made(world: World) -> None:
    account, payer = await world.account(), await world.customer()
    text = await world.reference(account, fromId=payer)
    await world.hear(world.arrival(text, 700))
    (tx,) = (await world.call("GET", "/v1/tx")).json()["results"]
    assert tx["fromOwnerId"] == payer


@pytest.mark.parametrize(
    "why",
    [
        "no reference",
        "a reference of nobody",
        "wrong amount",
        "closed reference",
        "disabled account",
        "disabled owner",
        "other currency",
        "announced to a disabled account",
        "announced in another currency",
    ],
)
async def test_whatever_cannot_be_placed_is_in_suspense(world: World, why: str) -> None:
    account = await world.account()
    text, currency = await world.reference(account), "GBP"
    waiting = None
    if why == "no reference":
        text = "for the fish"
    elif why == "a reference of nobody":
        text = "RF33XMPQ2346789CDF"
    elif why == "wrong amount":
        waiting = await world.announced(account, 701)
    elif why == "closed reference":
        found = (await world.call("GET", f"/v1/references?reference={text}")).json()["results"]
        await close(world, f"/v1/references/{found[0]['id']}")
    elif why == "other currency":
        currency = "EUR"
    elif why == "announced in another currency":
        waiting, currency = await world.announced(account, 700), "EUR"
    elif why == "disabled owner":
        await close(world, f"/v1/customers/{await world.owner(account)}", "DISABLED")
    else:
        waiting = await world.announced(account, 700) if "announced" in why else None
        await close(world, f"/v1/accounts/{account}", "DISABLED")
    await world.hear(world.arrival(text, 700, currency))
    assert await world.amounts(account) == {}
    assert waiting is None or await world.state(waiting) == "PENDING"
    kept = await world.suspense(currency)
    assert kept is not None
    assert (kept["tags"], kept["ownerId"]) == (["suspense"], world.tenant.customer)
    assert kept["availableBalance"] == "700"
    (tx,) = (await world.call("GET", "/v1/tx?tag=suspense")).json()["results"]
    assert (tx["stateId"], tx["amount"], tx["reference"]) == ("EFFECTED", "700", text)
    assert world.rail.untold == []


async def test_an_arrival_that_is_told_twice_is_booked_once(world: World) -> None:
    account = await world.account()
    text = await world.reference(account)
    tx = await world.announced(account, 700)
    arrival = world.arrival(text, 700)
    await world.hear(arrival, arrival)
    await world.hear(arrival)
    world.rail.received[world.tenant.id, "GBP"] = 700
    assert world.rail.untold == []
    assert await world.state(tx) == "EFFECTED"
    assert await world.available(account) == 700
    assert len((await world.call("GET", "/v1/tx")).json()["results"]) == 1


async def test_two_processes_that_hear_the_same_arrival_book_it_once(world: World) -> None:
    account = await world.account()
    text = await world.reference(account)
    world.rail.tell(world.arrival(text, 700))
    told = list(world.rail.untold)

    async def hear() -> None:
        world.rail.untold[:] = told
        await world.house.teller._hear(told[0])  # noqa: SLF001 - both before either acknowledges

    await asyncio.gather(*(hear() for _ in range(8)))
    world.rail.untold.clear()
    assert await world.available(account) == 700


async def test_news_is_acknowledged_only_after_it_is_in_the_books(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = await world.account()
    text = await world.reference(account)

    async def away(*_: object) -> None:
        raise ConnectionRefusedError

    world.rail.tell(world.arrival(text, 700))
    with monkeypatch.context() as patched:
        patched.setattr("farthing.resources.arrivals.actions.store.find_waiting", away)
        with pytest.raises(ConnectionRefusedError):
            await world.house.teller.hear_news()
    assert "heard" not in [verb for verb, _ in world.rail.calls]
    # Away only at the commit.
    with monkeypatch.context() as patched:
        patched.setattr(world.house.service.committer._writer, "_commit", away)  # noqa: SLF001 - the database is to be away
        await world.house.teller.hear_news()
    assert "heard" not in [verb for verb, _ in world.rail.calls]
    assert await world.amounts(account) == {}
    await world.later(seconds=2)
    assert await world.available(account) == 700
    assert world.rail.untold == []


async def test_news_that_cannot_be_booked_is_told_again_and_does_not_hold_up_others(
    world: World,
) -> None:
    account = await world.account()
    text = await world.reference(account)
    for _ in range(9):
        world.rail.tell(world.arrival(text, 10**18 - 1))
    await world.hear()
    too_much, small = world.arrival(text, 10**18 - 1), world.arrival(text, 8)
    await world.hear(too_much, small)
    assert world.rail.untold == [too_much], "it is not in the books, so it is not heard"
    assert await world.available(account) == 9 * (10**18 - 1) + 8
    world.rail.received[world.tenant.id, "GBP"] -= too_much.amount


async def test_an_arrival_belongs_to_the_tenant_that_it_names(world: World) -> None:
    account = await world.account()
    text = await world.reference(account)
    stranger = await make_tenant(world.house.service, world.house.client, "Another shop")
    arrival = Arrival(stranger.id, world.arrival("").id, 700, "GBP", text, "A PAYER")
    await world.hear(arrival)
    assert await world.amounts(account) == {}
    assert await world.suspense() is None


async def test_a_transfer_that_does_not_come_expires_by_the_worker(world: World) -> None:
    account = await world.account()
    text = await world.reference(account)
    tx = await world.announced(account, 700)
    pushed = await world.announced(account, 701)
    await world.moved(pushed, "PROCESSING")
    days = world.house.service.settings.transfer_days
    await world.later(days=days, seconds=-1)
    await world.run("expire transactions")
    assert [await world.state(one) for one in (tx, pushed)] == ["PENDING", "PROCESSING"]
    await world.later(seconds=1)
    await world.run("expire transactions")
    assert [await world.state(one) for one in (tx, pushed)] == ["FAILED", "FAILED"]
    last = (await world.tx(tx, "transitions"))["transitions"][-1]
    assert (last["actor"], last["reason"]) == ("PLATFORM", "No transfer came in time.")
    # Better late than never: it still says where it belongs.
    await world.hear(world.arrival(text, 700))
    assert await world.state(tx) == "FAILED"
    assert await world.available(account) == 700


async def test_a_refund_of_a_transfer_goes_back_by_the_bank(world: World) -> None:
    account = await world.account()
    text = await world.reference(account)
    tx = await world.announced(account, 700)
    await world.hear(world.arrival(text, 700))
    assert (await world.refund(tx, 300)).status_code == 200
    await world.idle()
    assert len(world.rail.sends("refund")) == 1
    assert await world.available(account) == 400
