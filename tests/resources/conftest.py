"""Worlds for tests of money: a house for each file, a tenant for each test, true books after it."""

from typing import TYPE_CHECKING

import pytest_asyncio
from tests.resources.houses import House, open_house
from tests.resources.money import World, open_world

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
