"""Worlds for tests of money: a house for each file, a tenant for each test, true books after it."""

from typing import TYPE_CHECKING

import pytest_asyncio
from tests.resources.houses import Clock, House, open_client, open_house
from tests.resources.money import World, open_world
from tests.resources.outside import ScriptedRail

from farthing.core.clock import system_clock
from farthing.http.service import Service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.conftest import Database


@pytest_asyncio.fixture(scope="module")
async def house(database: "Database") -> "AsyncIterator[House]":
    async with open_house(database) as opened:
        yield opened


@pytest_asyncio.fixture
async def world(house: House) -> "AsyncIterator[World]":
    house.rail.reset()
    opened = await open_world(house)
    yield opened
    await opened.prove()


@pytest_asyncio.fixture(scope="module")
async def sandbox_house(database: "Database") -> "AsyncIterator[House]":
    own, clock = await database.create_current(), Clock(system_clock())
    service = await Service.start(own.settings(), clock)
    async with open_client(service) as client:
        # The scripted outside stands aside: the service has the sandbox's.
        yield House(service, client, own, ScriptedRail(), clock)
    await service.stop()


@pytest_asyncio.fixture
async def sandbox(sandbox_house: House) -> "AsyncIterator[World]":
    opened = await open_world(sandbox_house)
    yield opened
    await opened.idle()
    assert await sandbox_house.discrepancies() == []
