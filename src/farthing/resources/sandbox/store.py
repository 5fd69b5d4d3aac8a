"""How what a control needs is found: orders, arrivals, and the events that it caused."""

from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from msgspec import Struct

from farthing.core import ids
from farthing.db import objects
from farthing.db.calls import Call
from farthing.db.pool import Pool
from farthing.db.tables import ObjectTable
from farthing.rails import moods
from farthing.resources.accounts.model import suspense_account
from farthing.resources.arrivals.store import ARRIVALS
from farthing.resources.events import store as events
from farthing.resources.events.model import Event, EventView
from farthing.resources.events.model import view as show
from farthing.resources.orders.model import OrderRow
from farthing.resources.orders.store import ORDERS
from farthing.resources.sandbox.model import RailView, show_mood
from farthing.resources.settlements.store import Paid, find_transaction_of
from farthing.resources.transactions.model import Transaction
from farthing.resources.transactions.store import TRANSACTIONS

_ORDERS: Final = f"{ORDERS.select_sql} WHERE tenant_id = $1 AND transaction_id = $2 ORDER BY id"
_ARRIVED: Final = f"SELECT transaction_id FROM {ARRIVALS.name} WHERE tenant_id = $1 AND id = $2"  # noqa: S608 - our own names
_AT_ONCE: Final = 500


async def fetch_orders(pool: Pool, tenant_id: UUID, transaction_id: UUID) -> list[OrderRow]:
    """Return all orders of a transaction, oldest first."""
    records = await pool.fetch(_ORDERS, tenant_id, transaction_id)
    return [ORDERS.read(record) for record in records]


async def find_arrived(pool: Pool, tenant_id: UUID, arrival_id: UUID) -> UUID | None:
    """Return the transaction that an arrival ended up in."""
    found: UUID | None = await pool.fetchval(_ARRIVED, tenant_id, arrival_id)
    return found


async def find_paid(call: Call[Any], tx: Transaction) -> Paid | None:
    """Return what a rail knows as the payment of a transaction that came in."""
    if tx.order_id is None or tx.flow != "INBOUND":
        return None
    return await find_transaction_of(call.pool, tx.tenant_id, tx.order_id)


async def fetch_mood(call: Call[Any]) -> RailView:
    """Read the mood of the tenant's rail."""
    return show_mood(await moods.find(call.pool, call.principal.tenant_id, call.now))


async def fetch_controlled(
    call: Call[Any], table: ObjectTable[Any], shown: Callable[..., Struct], position: int
) -> Struct:
    """Read an object as it is after a control, with the events that are about it since then."""
    row, view = await objects.fetch(call, table)
    keys, said = {row.id, row.owner()}, None
    if table is TRANSACTIONS:
        # What ends up in suspense says why, and its account may be new.
        keys = {row.id, suspense_account(row.tenant_id, row.currency)}
        said = ids.say(table.noun, row.id)
    events = await _fetch_caused(call.pool, row.tenant_id, position, keys, said)
    return shown(object=view, events=events)


async def _fetch_caused(
    pool: Pool, tenant_id: UUID, position: int, keys: set[UUID], said: str | None
) -> list[EventView]:
    """Return the events after a position that are of these objects, or name the one that is said.

    The tenant goes on meanwhile, so that not everything after a position has the same cause.
    """
    caused: list[EventView] = []
    while found := await events.fetch_after(pool, tenant_id, position, _AT_ONCE):
        position = found[-1].position
        caused += [show(one) for one in found if _is_about(one, keys, said)]
    return caused


def _is_about(event: Event, keys: set[UUID], said: str | None) -> bool:
    return event.object_id in keys or (said is not None and said.encode() in event.data)
