"""What can be done with tenants of a sandbox."""

from typing import Any, Final
from uuid import UUID

from farthing.core import ids
from farthing.core.clock import say_time
from farthing.core.errors import Fault, NotFound, ValidationFailed
from farthing.core.ids import new_id
from farthing.db.calls import Call
from farthing.db.commands import Command
from farthing.db.committer import Committer
from farthing.resources.access.actions import found_tenant, issue_api_key, platform, settle_in
from farthing.resources.tenants import store
from farthing.resources.tenants.model import (
    NOUN,
    SNAPSHOT,
    DeletedView,
    NewTenantView,
    SnapshotView,
    TenantView,
)
from farthing.resources.tenants.store import KnownTenant

# What is kept is one value of the database, and made while the tenant's writers wait.
MOST_EVENTS: Final = 100_000
MOST_SNAPSHOTS: Final = 20


async def create(call: Call[Any]) -> Command:
    """Found a tenant with a key of its own."""
    committer = call.part(Committer)
    tenant_id = await found_tenant(committer, call.body.name)
    key = await issue_api_key(committer, call.settings.environment, tenant_id)
    tenant = await _require(call, tenant_id)
    made = NewTenantView(
        id=ids.say(NOUN, tenant.id),
        customer_id=ids.say("customer", tenant.id),
        name=tenant.name,
        created_at=say_time(tenant.created_at),
        snapshots=[],
        api_key=key,
    )
    return Command(lambda _: made, status=201)


async def read(call: Call[Any]) -> TenantView:
    """Show a tenant."""
    return await _show(call)


async def reset(call: Call[Any]) -> Command:
    """Bring a tenant back to where it began."""
    tenant = await _require(call, call.id)
    committer = call.part(Committer)
    settle = Command(lambda draft: settle_in(draft, tenant.name), status=201)
    now = committer.clocks.machine()
    await committer.rewrite(call.id, store.reset(call.id, now), [(platform(call.id), settle)])
    shown = await _show(call)
    return Command(lambda _: shown)


async def keep(call: Call[Any]) -> Command:
    """Keep a tenant as it is."""
    await _require(call, call.id)
    if await store.count_events(call.pool, call.id) > MOST_EVENTS:
        detail = f"A tenant with more than {MOST_EVENTS:,} events is too large to be kept."
        raise ValidationFailed([Fault("/id", "too_large", detail)])
    if len(await store.find_snapshots(call.pool, call.id)) >= MOST_SNAPSHOTS:
        detail = f"A tenant has at most {MOST_SNAPSHOTS} snapshots. Delete the tenant, or use one."
        raise ValidationFailed([Fault("/id", "too_many", detail)])
    committer = call.part(Committer)
    snapshot_id, now = new_id(), committer.clocks.machine()
    await committer.rewrite(call.id, store.keep(call.id, snapshot_id, now))
    kept = SnapshotView(id=ids.say(SNAPSHOT, snapshot_id), created_at=say_time(now))
    return Command(lambda _: kept, status=201)


async def put_back(call: Call[Any]) -> Command:
    """Put a tenant back to where it was when it was kept."""
    await _require(call, call.id)
    snapshot_id = ids.take(call.body.snapshot_id)
    if snapshot_id not in [one for one, _ in await store.find_snapshots(call.pool, call.id)]:
        detail = "There is no such snapshot of this tenant."
        raise ValidationFailed([Fault("/snapshotId", "unknown_snapshot", detail)])
    committer = call.part(Committer)
    await committer.rewrite(call.id, store.put_back(call.id, snapshot_id))
    shown = await _show(call)
    return Command(lambda _: shown)


async def delete(call: Call[Any]) -> Command:
    """Throw a tenant away with all that it has."""
    await _require(call, call.id)
    committer = call.part(Committer)
    now = committer.clocks.machine()
    await committer.rewrite(call.id, store.delete(call.id, now))
    gone = DeletedView(id=ids.say(NOUN, call.id), deleted_at=say_time(now))
    return Command(lambda _: gone)


async def _require(call: Call[Any], tenant_id: UUID) -> KnownTenant:
    found = await store.find(call.pool, tenant_id)
    if found is None:
        raise NotFound("There is no such tenant.")
    return found


async def _show(call: Call[Any]) -> TenantView:
    tenant = await _require(call, call.id)
    kept = await store.find_snapshots(call.pool, tenant.id)
    return TenantView(
        id=ids.say(NOUN, tenant.id),
        customer_id=ids.say("customer", tenant.id),
        name=tenant.name,
        created_at=say_time(tenant.created_at),
        snapshots=[
            SnapshotView(id=ids.say(SNAPSHOT, one), created_at=say_time(at)) for one, at in kept
        ],
    )
