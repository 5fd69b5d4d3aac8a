"""Faults at the client's wish: what the sandbox does to a request instead of answering it well."""

import asyncio
import time
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import msgspec
import structlog
from starlette.types import Receive, Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from farthing.core.actors import Grant, Principal
from farthing.core.errors import RateLimited, Unavailable
from farthing.core.ids import new_id
from farthing.core.operation import Operation
from farthing.db.commands import Answer, Context
from farthing.http.service import Service
from farthing.resources.faults import store
from farthing.resources.faults.actions import take
from farthing.resources.faults.model import OF_REQUESTS, Taken

# What a process knows to be armed counts for this long from when it began to look. Whoever arms a
# fault is answered only after it, so that by then every process knows.
KNOWN_SECONDS: Final = 0.2

_ARM: Final = "faults.arm"
_CUT: Final = "farthing.cut"
_MOST_KNOWN: Final = 10_000
_PATIENCE: Final = 5.0
_GOOD: Final = 400

log = structlog.get_logger()


@dataclass(slots=True)
class _Known:
    """What is armed; looked up anew while it still counts, so that hardly anybody waits for it."""

    kinds: frozenset[str]
    fresh_until: float
    counts_until: float


class Faults:
    """Lets the faults that a tenant has armed happen to its requests."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._known: dict[UUID, _Known] = {}
        self._looking: set[asyncio.Task[_Known]] = set()

    async def before(self, principal: Principal, operation: Operation) -> None:
        """Delay or refuse a request before anything happens."""
        if operation.sandbox_only:
            # Who plays with the sandbox is not whom it is to be played on.
            return
        armed = await self._armed(principal.tenant_id) - {"cut"}
        if not armed:
            return
        taken = await self._take(principal.tenant_id, armed)
        await asyncio.sleep(taken.milliseconds / 1000)
        if taken.refusal == "rateLimited":
            raise RateLimited("The sandbox was asked to answer this. Go on in a second.")
        if taken.refusal == "unavailable":
            raise Unavailable("The sandbox was asked to answer this. Repeat in a moment.")

    async def cuts(self, principal: Principal, operation: Operation, answer: Answer) -> bool:
        """Tell whether the answer to a write that is done is to be withheld."""
        if operation.id == _ARM:
            await asyncio.sleep(KNOWN_SECONDS)
        if operation.sandbox_only or not operation.writes or answer.status >= _GOOD:
            return False
        armed = await self._armed(principal.tenant_id) & {"cut"}
        return bool(armed) and (await self._take(principal.tenant_id, armed)).cut

    async def _take(self, tenant_id: UUID, kinds: frozenset[str]) -> Taken:
        context = Context(Principal(tenant_id, Grant.PLATFORM), f"fault-{new_id()}")
        answer = await self._service.committer.submit(context, take(kinds))
        return msgspec.json.decode(answer.body, type=Taken)

    async def _armed(self, tenant_id: UUID) -> frozenset[str]:
        known, now = self._known.get(tenant_id), time.monotonic()
        if known is None or now >= known.counts_until:
            return (await self._look(tenant_id)).kinds
        if now >= known.fresh_until:
            known.fresh_until = known.counts_until
            looking = asyncio.create_task(self._look(tenant_id))
            self._looking.add(looking)
            looking.add_done_callback(self._looked)
        return known.kinds

    async def _look(self, tenant_id: UUID) -> _Known:
        began = time.monotonic()
        armed = await store.find_armed(self._service.pool, tenant_id)
        kinds = frozenset(fault.kind for fault in armed) & OF_REQUESTS
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        known = _Known(kinds, began + KNOWN_SECONDS / 2, began + KNOWN_SECONDS)
        self._known[tenant_id] = known
        return known

    def _looked(self, done: "asyncio.Task[_Known]") -> None:
        self._looking.discard(done)
        if not done.cancelled() and done.exception() is not None:
            # Whoever comes next looks for itself, and is told what is wrong.
            log.info("faults_unknown", error=repr(done.exception()))


async def cut(scope: Scope, receive: Receive) -> None:
    """Close the connection without an answer."""
    scope["extensions"][_CUT]["close"]()
    # The server finds out by itself, and must not take the silence for a failure.
    async with asyncio.timeout(_PATIENCE):
        while (await receive())["type"] != "http.disconnect":
            pass


class CuttableProtocol(HttpToolsProtocol):
    """HTTP as uvicorn speaks it, with a way for the application to hang up."""

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self.scope["extensions"] = {_CUT: {"close": self.transport.abort}}
