"""Fairness: whoever floods fills no more of the queue than is left for others."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING
from uuid import UUID

import pytest_asyncio

from farthing.core.actors import Grant, Principal
from farthing.core.errors import Unavailable
from farthing.core.ids import new_id
from farthing.db.commands import Answer, Command, Context
from farthing.db.committer import Committer
from farthing.db.pool import Pool, open_pool

if TYPE_CHECKING:
    from tests.conftest import Database

QUEUE = 12


@pytest_asyncio.fixture
async def pool(database: "Database") -> AsyncIterator[Pool]:
    opened = await open_pool(database.url, size=4)
    yield opened
    await opened.close()


class Door:
    """Something outside that nobody gets past until it opens."""

    def __init__(self) -> None:
        self.opens = asyncio.Event()

    async def pass_through(self) -> Command:
        await self.opens.wait()
        return Command(lambda _: None)


def context(tenant_id: UUID) -> Context:
    return Context(Principal(tenant_id, Grant.PLATFORM), "request")


async def flood(
    committer: Committer, door: Door, tenant_id: UUID, many: int
) -> "list[asyncio.Task[Answer]]":
    """Send many commands that wait, and return when each has a place or was refused."""
    sent = [
        asyncio.create_task(committer.submit(context(tenant_id), door.pass_through))
        for _ in range(many)
    ]
    await asyncio.sleep(0)
    return sent


def refused(sent: "list[asyncio.Task[Answer]]") -> int:
    return sum(one.done() and isinstance(one.exception(), Unavailable) for one in sent)


async def ends_well(
    committer: Committer, door: Door, *floods: "list[asyncio.Task[Answer]]"
) -> None:
    door.opens.set()
    async with asyncio.timeout(20):
        for sent in floods:
            await asyncio.gather(*sent, return_exceptions=True)
    assert committer.waiting == 0


async def test_a_tenant_that_floods_gets_half_and_a_calm_one_is_served(pool: Pool) -> None:
    committer, door = Committer(pool, queue_size=QUEUE), Door()
    noisy = await flood(committer, door, new_id(), 3 * QUEUE)
    assert len(noisy) - refused(noisy) == QUEUE // 2
    async with asyncio.timeout(20):
        answer = await committer.submit(context(new_id()), Command(lambda _: None))
    assert answer.status == 200
    await ends_well(committer, door, noisy)


async def test_however_many_flood_there_is_a_place_for_who_is_calm(pool: Pool) -> None:
    committer, door = Committer(pool, queue_size=QUEUE), Door()
    floods = [await flood(committer, door, new_id(), QUEUE) for _ in range(9)]
    held = [len(sent) - refused(sent) for sent in floods]
    assert all(held), "each of them has at least one"
    assert sum(held) < QUEUE + len(floods)
    async with asyncio.timeout(20):
        answer = await committer.submit(context(new_id()), Command(lambda _: None))
    assert answer.status == 200
    await ends_well(committer, door, *floods)


async def test_places_come_back_when_their_commands_are_answered(pool: Pool) -> None:
    committer, tenant_id = Committer(pool, queue_size=QUEUE), new_id()
    for _ in range(2):
        door = Door()
        sent = await flood(committer, door, tenant_id, QUEUE)
        assert refused(sent) == QUEUE // 2
        await ends_well(committer, door, sent)
