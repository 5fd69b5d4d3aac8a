"""Deliveries: new events are planned and sent, what is due is sent again, results are recorded.

A webhook has at most so many deliveries under way in a process, and of these at most so many at
the endpoint at once. Whoever has no room left is not even asked about, so that an endpoint that is
slow or dead costs nothing but its own room; its events wait in the log.
"""

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

import structlog

from farthing.core.actors import Grant, Principal
from farthing.core.errors import Problem
from farthing.core.ids import new_id
from farthing.db.commands import Command, Context
from farthing.db.committer import Committer
from farthing.db.pool import Pool
from farthing.dispatch.carrier import Carrier, Parcel
from farthing.outgoing import TIMEOUT_SECONDS
from farthing.resources.deliveries import actions, store
from farthing.resources.deliveries.actions import Outcome
from farthing.resources.deliveries.model import Delivery, by_line, choose
from farthing.resources.events import model as events
from farthing.resources.events import store as events_store
from farthing.resources.faults.model import Mischief
from farthing.resources.webhooks.actions import Courier
from farthing.resources.webhooks.model import Cursor, Webhook

# Claimed at once for one webhook. An endpoint that is so slow that its claims would run out gives
# back what it has not come to.
ROOM: Final = 256
AT_ONCE: Final = 16
# What is read of the log in one go, wanted or not.
_EVENTS_AT_ONCE: Final = 256
_RESULTS_AT_ONCE: Final = 500
_ROUND_SECONDS: Final = 1.0
_PAUSE_SECONDS: Final = 0.05
_LAST_SECONDS: Final = 3.0
# Together two minutes, after which the claims have run out anyway.
_RECORD_TRIES: Final = 240
_RECORD_PAUSE: Final = 0.5

log = structlog.get_logger()


class Dispatcher:
    """Sends what is to be delivered, of every tenant."""

    def __init__(self, pool: Pool, committer: Committer, courier: Courier) -> None:
        self._pool = pool
        self._committer = committer
        self._carrier = Carrier(pool, committer, courier)
        self._clocks = committer.clocks
        self._under_way: Counter[UUID] = Counter()
        self._gates: defaultdict[UUID, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(AT_ONCE)
        )
        self._tasks: set[asyncio.Task[None]] = set()
        self._outcomes: list[Outcome] = []
        self._recording: asyncio.Task[None] | None = None
        self._room = asyncio.Event()
        self._closing = False

    async def run(self) -> None:
        """Send whatever there is to send; return when there is nothing, or after a moment."""
        deadline = asyncio.get_running_loop().time() + _ROUND_SECONDS
        while asyncio.get_running_loop().time() < deadline:
            self._room.clear()
            if not await self.dispatch() and not await self._room_is_made():
                return

    async def dispatch(self) -> bool:
        """Look once for what is to be sent, and begin to send it; tell whether there was any."""
        await self._carrier.look()
        full = [key for key, count in self._under_way.items() if count >= ROOM]
        due, behind = await asyncio.gather(
            store.find_due(self._pool, self._clocks.machine(), ROOM // 2, full),
            store.find_behind(self._pool, full),
        )
        await self._claim_all(due)
        await asyncio.gather(*(self._plan(webhook, cursor) for webhook, cursor in behind))
        return bool(due or behind)

    async def send_again(self, tenant_id: UUID) -> None:
        """Begin to send what is due for one tenant, but plan nothing that is new."""
        await self._carrier.look()
        now = self._clocks.machine()
        await self._claim_all(await store.find_due_of(self._pool, tenant_id, now, ROOM))

    async def wake(self) -> None:
        """Let lines go on of which nobody takes care, because a process died."""
        await self._committer.sweep(store.WAKE_ALL, self._clocks.machine())

    async def idle(self) -> None:
        """Wait until everything that was begun is recorded."""
        while self._tasks or self._recording is not None:
            running = [*self._tasks, *([self._recording] if self._recording else [])]
            await asyncio.wait(running)

    async def close(self) -> None:
        """Begin nothing more, give what is under way a moment, and record what is known."""
        self._closing = True
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_LAST_SECONDS)
        for task in self._tasks:
            task.cancel()
        await self.idle()

    async def _room_is_made(self) -> bool:
        try:
            async with asyncio.timeout(_PAUSE_SECONDS):
                return await self._room.wait()
        except TimeoutError:
            return False

    def _room_of(self, webhook: Webhook) -> int:
        return max(0, ROOM - self._under_way[webhook.id])

    async def _claim_all(self, due: Sequence[tuple[Webhook, Delivery]]) -> None:
        by_webhook: defaultdict[UUID, list[Delivery]] = defaultdict(list)
        webhooks = {webhook.id: webhook for webhook, _ in due}
        for webhook, delivery in due:
            by_webhook[webhook.id].append(delivery)
        todo = [self._claim(webhooks[key], rows) for key, rows in by_webhook.items()]
        await asyncio.gather(*todo)

    async def _claim(self, webhook: Webhook, due: Sequence[Delivery]) -> None:
        """Claim what is due as far as there is room, and begin to send it."""
        claimed: list[Delivery] = []
        wanted = due[: self._room_of(webhook)]
        if not await self._submit(
            webhook.tenant_id, actions.claim(wanted, self._clocks.machine(), claimed)
        ):
            return
        positions = [one.position for one in claimed]
        found = await store.fetch_events(self._pool, webhook.tenant_id, positions)
        for one in claimed:
            self._begin(webhook, [Parcel(one, events.write(found[one.position]))])

    async def _plan(self, webhook: Webhook, cursor: Cursor) -> None:
        """Plan the deliveries of the next events, and begin to send those that need not wait."""
        tenant_id, room = webhook.tenant_id, self._room_of(webhook)
        log_part = await events_store.fetch_after(
            self._pool, tenant_id, cursor.position, _EVENTS_AT_ONCE
        )
        if not room or not log_part:
            return
        wanted = [event for event in log_part if webhook.wants(event.type)]
        in_line = await store.find_in_line(
            self._pool, webhook, {event.object_id for event in wanted}
        )
        chosen, reached = choose(wanted, in_line, room, log_part[-1].position)
        claimed: list[Delivery] = []
        now = self._clocks.machine()
        command = actions.plan(webhook, cursor, reached, chosen, now, claimed)
        if not await self._submit(tenant_id, command):
            return
        bodies = {event.position: event for event, _ in chosen}
        for line in by_line(claimed):
            parcels = [Parcel(one, events.write(bodies[one.position])) for one in line]
            self._begin(webhook, parcels)
        if waiting := {(webhook.id, event.object_id) for event, now in chosen if not now}:
            # What they wait for may have been delivered since we looked.
            await self._wake(tenant_id, waiting)

    def _begin(self, webhook: Webhook, line: Sequence[Parcel]) -> None:
        self._under_way[webhook.id] += len(line)
        task = asyncio.create_task(self._send_line(webhook, line))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send_line(self, webhook: Webhook, line: Sequence[Parcel]) -> None:
        """Send the parcels of one object one after the other, until one is not taken."""
        left = deque(line)
        try:
            async with self._gates[webhook.id]:
                while left:
                    mischief = await self._carrier.mischief(webhook.tenant_id)
                    if mischief.reorder:
                        left.insert(1, left.popleft())
                    if not await self._send(webhook, left.popleft(), mischief):
                        break
        except Exception:
            # Such as a secret that cannot be opened; the claim runs out, and it is tried again.
            log.exception("delivery_not_sent", webhook_id=str(webhook.id))
        finally:
            for parcel in left:
                self._note(
                    Outcome(parcel.delivery, self._clocks.last_known(webhook.tenant_id), None)
                )
            self._forget(webhook.id)

    async def _send(self, webhook: Webhook, parcel: Parcel, mischief: Mischief) -> bool:
        """Send one parcel, and tell whether the next one may follow."""
        now, delivery = self._clocks.last_known(webhook.tenant_id), parcel.delivery
        until, machine = delivery.claimed_until, self._clocks.machine()
        left = 0.0 if until is None else (until - machine).total_seconds()
        if self._closing or left <= TIMEOUT_SECONDS:
            # The claim could run out under way, and then somebody else would send it too.
            self._note(Outcome(delivery, now, None))
            return False
        try:
            reply = await self._carrier.carry(webhook, parcel, mischief)
        except BaseException:
            # Whether it arrived is not known; once the claim has run out it is sent again.
            self._under_way[webhook.id] -= 1
            raise
        self._note(Outcome(delivery, now, reply))
        return reply.succeeded

    def _note(self, outcome: Outcome) -> None:
        self._under_way[outcome.delivery.webhook_id] -= 1
        self._outcomes.append(outcome)
        if self._recording is None:
            self._recording = asyncio.create_task(self._record_all())

    def _forget(self, webhook_id: UUID) -> None:
        if self._under_way[webhook_id] <= 0:
            del self._under_way[webhook_id]
            self._gates.pop(webhook_id, None)

    async def _record_all(self) -> None:
        """Record what has come together, and then what came together meanwhile."""
        try:
            while self._outcomes:
                taken, self._outcomes = self._outcomes, []
                by_webhook: defaultdict[tuple[UUID, UUID], list[Outcome]] = defaultdict(list)
                for one in taken:
                    by_webhook[one.delivery.tenant_id, one.delivery.webhook_id].append(one)
                await asyncio.gather(*(self._record(*key, of) for key, of in by_webhook.items()))
                self._room.set()
        except Exception:
            # What is not recorded is sent again once its claim has run out.
            log.exception("deliveries_not_recorded")
        finally:
            self._recording = None

    async def _record(self, tenant_id: UUID, webhook_id: UUID, outcomes: list[Outcome]) -> None:
        for start in range(0, len(outcomes), _RESULTS_AT_ONCE):
            part = outcomes[start : start + _RESULTS_AT_ONCE]
            command = actions.record(webhook_id, part)
            for _ in range(_RECORD_TRIES):
                # What was acknowledged must not be sent again, so this is worth some patience.
                if await self._submit(tenant_id, command):
                    break
                await asyncio.sleep(_RECORD_PAUSE)
        await self._wake(tenant_id, {one.delivery.line for one in outcomes})

    async def _wake(self, tenant_id: UUID, lines: Iterable[tuple[UUID, UUID]]) -> None:
        webhooks, objects = zip(*lines, strict=True)
        now = self._clocks.last_known(tenant_id)
        await self._committer.sweep(store.WAKE, tenant_id, webhooks, objects, now)

    async def _submit(self, tenant_id: UUID, command: Command) -> bool:
        """Commit something; if that is not possible now, the next round finds it again."""
        context = Context(Principal(tenant_id, Grant.PLATFORM), request_id=f"deliveries-{new_id()}")
        try:
            await self._committer.submit(context, command)
        except Problem as problem:
            log.warning("deliveries_put_off", tenant_id=str(tenant_id), code=problem.code)
            return False
        return True
