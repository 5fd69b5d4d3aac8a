"""The loop of the worker: each duty at its own pace, and no fault ends it."""

import asyncio
import signal

import structlog

from farthing.config import Settings
from farthing.core.clock import Clock, system_clock
from farthing.core.ids import new_id
from farthing.db.committer import Committer
from farthing.db.migrate import require_current
from farthing.db.pool import AWAY, open_pool
from farthing.dispatch import Dispatcher
from farthing.hearings import RuleShelf
from farthing.rails.choice import choose_rail
from farthing.resources.cards.vault import LocalMasterKey, Vault
from farthing.resources.settlements.api import Teller
from farthing.resources.webhooks.actions import Courier
from farthing.worker.duties import Duty, delivering, duties

log = structlog.get_logger()


async def work(settings: Settings, clock: Clock = system_clock) -> None:
    """Do what falls due until SIGTERM or SIGINT."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    pool = await open_pool(settings.require_database_url(), size=4)
    try:
        await require_current(pool)
        log.info("worker_started")
        is_sandbox = settings.environment == "sandbox"
        committer = Committer(pool, clock=clock, clocks_may_move=is_sandbox, shelf=RuleShelf(pool))
        vault = Vault(pool, committer, LocalMasterKey(settings.require_master_key()))
        await vault.open()
        rail = choose_rail(settings, pool, committer)
        teller = Teller(settings, pool, committer, vault, rail)
        courier = Courier(settings)
        dispatcher = Dispatcher(pool, committer, courier)
        todo = duties(settings, pool, committer, new_id(), teller)
        await run_duties((*todo, *delivering(dispatcher)), stop)
        await dispatcher.close()
        await courier.close()
        await teller.close()
        await committer.close()
    finally:
        await pool.close()
    log.info("worker_stopped")


async def run_duties(todo: tuple[Duty, ...], stop: asyncio.Event) -> None:
    """Run every duty beside the others until told to stop."""
    async with asyncio.TaskGroup() as group:
        for duty in todo:
            group.create_task(_repeat(duty, stop))


async def _repeat(duty: Duty, stop: asyncio.Event) -> None:
    while not stop.is_set():
        try:
            await duty.run()
        except AWAY as error:
            log.warning("database_away", duty=duty.name, error=repr(error))
        except Exception:
            # A fault in one duty must not end the others; the next round tries again.
            log.exception("duty_failed", duty=duty.name)
        try:
            async with asyncio.timeout(duty.every.total_seconds()):
                await stop.wait()
        except TimeoutError:
            continue
