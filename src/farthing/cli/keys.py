"""Founding tenants and issuing keys on a PostgreSQL of one's own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from farthing.config import Settings
from farthing.core import ids
from farthing.db.committer import Committer
from farthing.db.migrate import require_current
from farthing.db.pool import open_pool
from farthing.resources.access import actions


async def found_tenant(settings: Settings, name: str) -> str:
    """Found a tenant; return its id and its API key as JSON."""
    async with _committer(settings) as committer:
        tenant_id = await actions.found_tenant(committer, name)
        key = await actions.issue_api_key(committer, settings.environment, tenant_id)
    shown = {"tenantId": ids.say("customer", tenant_id), "apiKey": key}
    return msgspec.json.format(msgspec.json.encode(shown)).decode()


async def issue_operator_key(settings: Settings) -> str:
    """Issue an operator's key; return it as JSON."""
    async with _committer(settings) as committer:
        key = await actions.issue_operator_key(committer, settings.environment)
    return msgspec.json.format(msgspec.json.encode({"operatorKey": key})).decode()


@asynccontextmanager
async def _committer(settings: Settings) -> AsyncIterator[Committer]:
    pool = await open_pool(settings.require_database_url(), size=2)
    try:
        await require_current(pool)
        yield Committer(pool)
    finally:
        await pool.close()
