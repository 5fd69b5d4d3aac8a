"""The service of one process: its settings, its connections, its commit path, its keys."""

from dataclasses import dataclass, field
from typing import Self

from farthing.agenda import keep_time
from farthing.catalog import OBJECTS
from farthing.config import Settings
from farthing.core import keys
from farthing.core.clock import Clock, system_clock
from farthing.db.bell import Bell
from farthing.db.calls import Parts
from farthing.db.clocks import Clocks
from farthing.db.committer import Committer
from farthing.db.migrate import require_current
from farthing.db.pool import Pool, open_pool
from farthing.dispatch import Dispatcher
from farthing.hearings import RuleShelf
from farthing.http.metrics import Metrics
from farthing.http.streams import Streams
from farthing.rails.base import Rail
from farthing.rails.choice import choose_rail
from farthing.resources.cards.vault import LocalMasterKey, Vault
from farthing.resources.clocks.actions import Timekeeper
from farthing.resources.events.actions import Feeds
from farthing.resources.events.model import EventTypes
from farthing.resources.settlements.api import Teller
from farthing.resources.webhooks.actions import Courier


@dataclass(frozen=True)
class Service:
    """What every request of this process shares."""

    settings: Settings
    pool: Pool
    committer: Committer
    fingerprint_key: bytes = field(repr=False)
    clock: Clock = system_clock
    parts: Parts = field(default_factory=dict)
    metrics: Metrics = field(default_factory=Metrics)
    streams: Streams = field(default_factory=Streams)

    @classmethod
    async def start(cls, settings: Settings, clock: Clock = system_clock) -> Self:
        """Connect, and refuse to start on a database that is not up to date."""
        master_key = settings.require_master_key()
        pool = await open_pool(settings.require_database_url(), settings.pool_size)
        try:
            return await cls._assemble(settings, clock, pool, master_key)
        except BaseException:
            await pool.close()
            raise

    @classmethod
    async def _assemble(
        cls, settings: Settings, clock: Clock, pool: Pool, master_key: bytes
    ) -> Self:
        await require_current(pool)
        committer = Committer(
            pool,
            clock=clock,
            clocks_may_move=settings.environment == "sandbox",
            batch_size=settings.batch_size,
            lanes=settings.lanes,
            queue_size=settings.queue_size,
            shelf=RuleShelf(pool),
        )
        vault = Vault(pool, committer, LocalMasterKey(master_key))
        await vault.open()
        fingerprint_key = keys.derive(master_key, "idempotency fingerprint")
        rail = choose_rail(settings, pool, committer)
        teller = Teller(settings, pool, committer, vault, rail)
        bell, courier = Bell(pool, committer), Courier(settings)
        dispatcher = Dispatcher(pool, committer, courier)
        parts: Parts = {
            Rail: rail,
            Vault: vault,
            Teller: teller,
            Committer: committer,
            Timekeeper: keep_time(settings, pool, committer, teller, dispatcher),
            Courier: courier,
            Dispatcher: dispatcher,
            Bell: bell,
            Feeds: Feeds(pool, bell),
            EventTypes: EventTypes(OBJECTS.values()),
        }
        return cls(settings, pool, committer, fingerprint_key, clock, parts)

    @property
    def clocks(self) -> Clocks:
        """What time it is for each tenant."""
        return self.committer.clocks

    async def stop(self) -> None:
        """Answer what was taken, hear what rails say to it, then disconnect."""
        self.streams.close()
        await self.parts[Bell].close()
        await self.committer.close()
        await self.parts[Teller].close()
        await self.parts[Dispatcher].close()
        await self.parts[Courier].close()
        await self.committer.close()
        await self.pool.close()
