"""A charge that wants the cardholder's approval: it waits, nobody moves it, and it ends once."""

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
import pytest
import pytest_asyncio
from tests.resources.money import World, problem, uuid_of
from tests.resources.outside import is_lost, is_silent, says

from farthing.http.app import build

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

APPROVE, DECLINE = {"decision": "approve"}, {"decision": "decline"}


@pytest_asyncio.fixture
async def page(world: World) -> "AsyncIterator[httpx2.AsyncClient]":
    """Give a cardholder's client: no credential, nothing but the link."""
    transport = httpx2.ASGITransport(app=build(world.house.service))
    async with httpx2.AsyncClient(transport=transport, base_url="http://farthing.test") as opened:
        yield opened


async def asking(world: World, account: str, **fields: Any) -> dict[str, Any]:
    """Charge a card whose network wants the cardholder's approval."""
    world.rail.script["charge"].append(says("challenge"))
    return await world.charged(account, 1250, **fields)


def link(tx: dict[str, Any]) -> str:
    return str(urlsplit(tx["requirements"]["threeDSecure"]).path)


async def has_number(world: World, card: str) -> bool:
    sql = "SELECT 1 FROM vault.numbers WHERE id = $1"
    return bool(await world.house.database.fetch(sql, uuid_of(card)))


async def test_it_stays_in_processing_and_nobody_can_move_it(world: World) -> None:
    account = await world.account()
    tx = await asking(world, account)
    assert tx["stateId"] == "PROCESSING"
    assert list(tx["requirements"]) == ["threeDSecure"]
    owner = await world.tenant.token_for(tx["fromOwnerId"])
    for token in (world.tenant.token, world.tenant.operator, owner):
        for target in ("CANCELLED", "FAILED", "EFFECTED", "HELD", "ERRORED", "PROCESSING"):
            answer = await world.move(tx, target, token=token)
            assert problem(answer) == (409, "requirements_unresolved")
            assert (await world.move(tx, target, token=token, dry=True)).status_code == 409
        told = await world.call("GET", f"{world.path(tx)}/transitions", token=token)
        assert told.json()["possible"] == []
    assert await world.amounts(account) == {"credits": 1250}
    assert "recall" not in [verb for verb, _ in world.rail.calls]


async def test_the_page_shows_what_is_to_be_paid(world: World, page: httpx2.AsyncClient) -> None:
    tx = await asking(world, await world.account())
    shown = await page.get(link(tx))
    assert (shown.status_code, "12.50 GBP" in shown.text) == (200, True)
    assert "VISA ending in 4242" in shown.text


async def test_to_approve_charges_it(world: World, page: httpx2.AsyncClient) -> None:
    account = await world.account()
    tx = await asking(world, account)
    assert (await page.post(link(tx), data=APPROVE)).status_code == 200
    await world.idle()
    now = await world.tx(tx)
    assert (now["stateId"], now["requirements"]) == ("EFFECTED", {})
    assert world.rail.approved[-2:] == [False, True]
    assert len(set(world.rail.sends("charge"))) == 1
    assert await world.amounts(account) == {"complete": 1250, "available": 1250}


async def test_to_approve_escrow_withholds_it(world: World, page: httpx2.AsyncClient) -> None:
    account = await world.account()
    tx = await asking(world, account, targetStateId="HELD")
    await page.post(link(tx), data=APPROVE)
    await world.idle()
    assert await world.amounts(account) == {"complete": 1250, "withheld": 1250}


async def test_to_decline_fails_it(world: World, page: httpx2.AsyncClient) -> None:
    account = await world.account()
    card = await world.card(await world.owner(account), storageType="ONE_TIME_USE")
    tx = await asking(world, account, paymentInstrumentId=card)
    assert await has_number(world, card)
    assert (await page.post(link(tx), data=DECLINE)).status_code == 200
    await world.later(hours=6)
    now = await world.tx(tx, "transitions")
    assert (now["stateId"], now["requirements"]) == ("FAILED", {})
    assert now["transitions"][-1]["reason"] == "The cardholder declined it."
    assert len(world.rail.sends("charge")) == 1
    assert await world.amounts(account) == {}
    assert not await has_number(world, card)


async def test_to_let_the_time_pass_fails_it(world: World, page: httpx2.AsyncClient) -> None:
    account = await world.account()
    tx = await asking(world, account)
    await world.later(minutes=world.house.service.settings.challenge_minutes)
    assert (await page.post(link(tx), data=APPROVE)).status_code == 404
    assert await world.state(tx) == "PROCESSING"
    await world.run("expire challenges")
    now = await world.tx(tx, "transitions")
    assert (now["stateId"], now["requirements"]) == ("FAILED", {})
    assert now["transitions"][-1]["reason"] == "Nobody answered in time."
    assert await world.amounts(account) == {}


async def test_of_many_answers_at_once_one_counts(world: World, page: httpx2.AsyncClient) -> None:
    account = await world.account()
    tx = await asking(world, account)
    both = [APPROVE, DECLINE] * 6
    answers = await asyncio.gather(*(page.post(link(tx), data=one) for one in both))
    (winner,) = [one for one in answers if one.status_code == 200]
    await world.idle()
    state = "EFFECTED" if "Approved" in winner.text else "FAILED"
    assert await world.state(tx) == state


@pytest.mark.parametrize("step", [is_lost, is_silent])
async def test_who_approved_is_not_asked_again_when_the_rail_does_not_answer(
    world: World, page: httpx2.AsyncClient, step: Any
) -> None:
    account = await world.account()
    tx = await asking(world, account)
    world.rail.script["charge"].append(step)
    await page.post(link(tx), data=APPROVE)
    await world.idle()
    assert await world.state(tx) == "ERRORED"
    world.house.clock.now += timedelta(minutes=10)
    await world.later()
    now = await world.tx(tx)
    assert (now["stateId"], now["requirements"]) == ("EFFECTED", {})
    assert await world.available(account) == 1250


async def test_what_a_card_cannot_pay_after_its_approval_fails(
    world: World, page: httpx2.AsyncClient
) -> None:
    account = await world.account()
    tx = await asking(world, account)
    world.rail.script["charge"].append(says("refused", "insufficient_funds"))
    await page.post(link(tx), data=APPROVE)
    await world.idle()
    assert await world.state(tx) == "FAILED"
    assert await world.amounts(account) == {}
