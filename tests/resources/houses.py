"""A house for tests of money: a service on a database of its own, with an outside that obeys."""

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import httpx2
from tests.conftest import OnlyDeclaredProblems
from tests.resources.outside import ScriptedRail

from farthing.agenda import keep_time
from farthing.catalog import CHECKS
from farthing.core.clock import system_clock
from farthing.db.checks import run_checks
from farthing.db.committer import Committer
from farthing.db.hearings import Shelf
from farthing.dispatch import Dispatcher
from farthing.http.app import build
from farthing.http.service import Service
from farthing.rails.base import Rail
from farthing.resources.cards.vault import Vault
from farthing.resources.clocks.actions import Timekeeper
from farthing.resources.settlements.api import Teller

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.conftest import Database

    from farthing.db.calls import Parts


@dataclass
class Clock:
    """A clock that is set by hand."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now


@dataclass(frozen=True)
class House:
    """A service on a database of its own, with a scripted outside."""

    service: Service
    client: httpx2.AsyncClient
    database: "Database"
    rail: ScriptedRail
    clock: Clock

    @property
    def teller(self) -> Teller:
        found: Teller = self.service.parts[Teller]
        return found

    async def fetch(self, sql: str, *values: object) -> list[Any]:
        """Read what the service may read, over one of its connections."""
        return list(await self.service.pool.fetch(sql, *values))

    async def discrepancies(self) -> list[tuple[str, Any]]:
        """Return what `farthing verify` would find."""
        found = run_checks(self.database.admin_url, CHECKS, 5)
        return [(one.check.sentence, one.discrepancies) async for one in found if one.discrepancies]


async def start(
    database: "Database", rail: Rail, clock: Clock, shelf: Shelf | None = None, **settings: Any
) -> Service:
    """Start a service whose rail is another than the sandbox's, and its rules if wanted."""
    service = await Service.start(database.settings(rail_seconds=3, **settings), clock)
    if shelf is not None:
        committer = Committer(service.pool, clock=clock, shelf=shelf)
        service = replace(
            service, committer=committer, parts={**service.parts, Committer: committer}
        )
    vault = service.parts[Vault]
    parts = (service.settings, service.pool, service.committer, vault, rail)
    teller = Teller(*parts)
    dispatcher = service.parts[Dispatcher]
    keeper = keep_time(service.settings, service.pool, service.committer, teller, dispatcher)
    own: Parts = {Rail: rail, Teller: teller, Timekeeper: keeper}
    return replace(service, parts={**service.parts, **own})


@asynccontextmanager
async def open_client(service: Service) -> "AsyncIterator[httpx2.AsyncClient]":
    """Open a client of a service that sees only declared problems."""
    app = OnlyDeclaredProblems(build(service), service)
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://farthing.test") as client:
        yield client


@asynccontextmanager
async def open_house(server: "Database", shelf: Shelf | None = None) -> "AsyncIterator[House]":
    """Open a house on a new database."""
    database = await server.create_current()
    rail, clock = ScriptedRail(), Clock(system_clock())
    service = await start(database, rail, clock, shelf)
    async with open_client(service) as client:
        yield House(service, client, database, rail, clock)
    await service.stop()
