"""The first start: an up-to-date database, a tenant and the keys that open it."""

import asyncio

from farthing.catalog import MACHINES
from farthing.cli.sandbox import Sandbox
from farthing.core import ids
from farthing.core.clock import system_clock
from farthing.db.committer import Committer
from farthing.db.migrate import migrate
from farthing.db.pool import Pool, open_pool
from farthing.resources.access import actions, model, store

DEMO_TENANT = "Demo tenant"


def prepare(database_url: str, master_key: bytes, known: Sandbox | None) -> Sandbox:
    """Migrate, and return the keys of the demo tenant: the known ones if they still open it."""
    del master_key  # Nothing that is made here needs it yet.
    return asyncio.run(_prepare(database_url, known))


async def _prepare(database_url: str, known: Sandbox | None) -> Sandbox:
    await migrate(database_url, MACHINES)
    pool = await open_pool(database_url, size=2)
    try:
        if known is not None and await _still_valid(pool, known):
            return known
        return await _found(Committer(pool))
    finally:
        await pool.close()


async def _still_valid(pool: Pool, known: Sandbox) -> bool:
    """Tell whether both keys are those of this database."""
    shown = [model.read(key) for key in (known.api_key, known.operator_key)]
    now = system_clock()
    return all([one and await store.find_principal(pool, one, now) for one in shown])


async def _found(committer: Committer) -> Sandbox:
    tenant_id = await actions.found_tenant(committer, DEMO_TENANT)
    return Sandbox(
        "",
        await actions.issue_api_key(committer, "sandbox", tenant_id),
        await actions.issue_operator_key(committer, "sandbox"),
        ids.say("customer", tenant_id),
    )
