"""How a delivery is carried: well, or as badly as the tenant of a sandbox wants it."""

import asyncio
from typing import Final
from uuid import UUID

import msgspec
from msgspec import Struct

from farthing.core.actors import Grant, Principal
from farthing.core.ids import new_id
from farthing.db.commands import Context
from farthing.db.committer import Committer
from farthing.db.pool import Pool
from farthing.outgoing import Reply
from farthing.resources.deliveries.model import Delivery
from farthing.resources.faults.actions import take_on_the_way
from farthing.resources.faults.model import Mischief
from farthing.resources.faults.store import find_mischievous
from farthing.resources.webhooks.actions import Courier
from farthing.resources.webhooks.model import Webhook

# How long something waits, in milliseconds, so that what comes after it arrives before it.
_OVERTAKEN: Final = 500
_NONE: Final = Mischief()
_DROPPED: Final = Reply(None, "", "The sandbox was asked to lose it on the way.", 0)


class Parcel(Struct, frozen=True):
    """A delivery that was claimed, with what is delivered."""

    delivery: Delivery
    body: bytes


class Carrier:
    """Carries parcels to their webhooks."""

    def __init__(self, pool: Pool, committer: Committer, courier: Courier) -> None:
        self._pool, self._committer, self._courier = pool, committer, courier
        # The tenants of a sandbox that want their deliveries to go wrong.
        self._mischievous: frozenset[UUID] = frozenset()

    async def look(self) -> None:
        """Look which tenants want something to go wrong."""
        if self._committer.clocks.may_move:
            self._mischievous = await find_mischievous(self._pool)

    async def mischief(self, tenant_id: UUID) -> Mischief:
        """Return what a tenant wants to go wrong with its next delivery."""
        if tenant_id not in self._mischievous:
            return _NONE
        context = Context(Principal(tenant_id, Grant.PLATFORM), request_id=f"fault-{new_id()}")
        answer = await self._committer.submit(context, take_on_the_way())
        return msgspec.json.decode(answer.body, type=Mischief)

    async def carry(self, webhook: Webhook, parcel: Parcel, mischief: Mischief) -> Reply:
        """Carry a parcel, and say what became of it."""
        late = mischief.milliseconds + (_OVERTAKEN if mischief.reorder else 0)
        await asyncio.sleep(late / 1000)
        if mischief.drop:
            return _DROPPED
        if mischief.duplicate:
            await self._post(webhook, parcel)
        return await self._post(webhook, parcel)

    async def _post(self, webhook: Webhook, parcel: Parcel) -> Reply:
        # Which secrets are good is a matter of the tenant's time.
        now = self._committer.clocks.last_known(webhook.tenant_id)
        return await self._courier.carry(webhook, parcel.delivery.message_id, parcel.body, now)
