"""The one way to a commit: commands that wait together are written together.

Each tenant has lanes. A lane takes the commands that wait at this moment, runs them as one batch
in one database transaction, and answers their callers after the commit. What arrives meanwhile
forms the next batch, so the load itself decides how large batches are.

Callers are answered, and what they send next is read, while the database writes the batch after
theirs: neither of the two waits for the other for long.
"""

import asyncio
import functools
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

import structlog

from farthing.core.clock import Clock, system_clock
from farthing.core.errors import IdempotencyInProgress, Problem, Unavailable
from farthing.db.clocks import Clocks
from farthing.db.commands import PEEK, Answer, Command, Context
from farthing.db.hearings import EmptyShelf, Shelf
from farthing.db.pool import Pool
from farthing.db.repeats import Outcome
from farthing.db.writer import Writer

_MOST_ANSWERED: Final = 50_000
# So many commands are worth two batches instead of one.
_CROWD: Final = 16
# An answer waits no longer for the batch after it, which may wait for somebody else.
_PATIENCE: Final = 0.02

# The tenant, the principal and the key of a request.
_Claim = tuple[UUID, str, str]
Preparation = Callable[[], Awaitable[Command]]

log = structlog.get_logger()


@dataclass(slots=True)
class _Waiting:
    context: Context
    command: Command
    outcome: "asyncio.Future[Outcome]"


@dataclass(slots=True)
class _Tenant:
    waiting: deque[_Waiting] = field(default_factory=deque)
    lanes: int = 0
    # How many places it holds, those that are still being prepared included.
    held: int = 0


class Committer:
    """Takes commands and answers when what they decided is durable."""

    def __init__(
        self,
        pool: Pool,
        *,
        clock: Clock = system_clock,
        clocks_may_move: bool = True,
        batch_size: int = 128,
        lanes: int = 2,
        queue_size: int = 2048,
        shelf: Shelf | None = None,
    ) -> None:
        self.clocks = Clocks(pool, clock, may_move=clocks_may_move)
        self._batch_size = batch_size
        self._lanes = lanes
        self._queue_size = queue_size
        self._tenants: dict[UUID, _Tenant] = {}
        self._running_keys: set[_Claim] = set()
        # Only a hint that spares questions, and work that is done twice; the truth is in the
        # database.
        self._answered_keys: set[_Claim] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writer = Writer(pool, self.clocks, shelf or EmptyShelf(), self._is_known)
        self.listen, self.sweep = self._writer.listen, self._writer.sweep
        self.rewrite = self._writer.rewrite
        self.waiting = 0

    async def submit(
        self, context: Context, command: Command | Preparation, *, once: bool = False
    ) -> Answer:
        """Queue a command and wait for its answer; raise the Problem that prevented one.

        What must ask the outside before it can decide comes as a preparation, which runs outside
        of any transaction. It may run for a repeat too, unless this process gave the first answer,
        or unless it is to run once.
        """
        tenant_id = context.principal.tenant_id
        tenant = self._tenants.get(tenant_id) or _Tenant()
        self._refuse_more_than_fair(tenant)
        claim = _claim(context)
        if claim is not None:
            self._begin(claim)
        if not tenant.held:
            self._tenants[tenant_id] = tenant
        self.waiting += 1
        tenant.held += 1
        try:
            outcome = await self._outcome(context, command, once=once)
        finally:
            self.waiting -= 1
            tenant.held -= 1
            self._forget_idle(tenant_id, tenant)
            if claim is not None:
                self._end(claim)
        if isinstance(outcome, Problem):
            raise outcome
        return outcome

    async def close(self) -> None:
        """Wait until everything that was taken has been answered."""
        while self._tasks:
            await asyncio.gather(*self._tasks)

    def _refuse_more_than_fair(self, tenant: _Tenant) -> None:
        """Let a tenant hold no more places than are still free, and always one.

        So one that floods gets half of the queue, two get a third each, and whoever is calm is
        never turned away.
        """
        if tenant.held and tenant.held >= self._queue_size - self.waiting:
            raise Unavailable("Too many of your requests are waiting. Repeat in a moment.")

    def _is_known(self, context: Context) -> bool:
        return _claim(context) in self._answered_keys

    def _begin(self, claim: _Claim) -> None:
        if claim in self._running_keys:
            raise IdempotencyInProgress
        self._running_keys.add(claim)

    def _end(self, claim: _Claim) -> None:
        self._running_keys.discard(claim)
        if len(self._answered_keys) > _MOST_ANSWERED:
            self._answered_keys.clear()
        self._answered_keys.add(claim)

    async def _outcome(
        self, context: Context, command: Command | Preparation, *, once: bool
    ) -> Outcome:
        if isinstance(command, Command):
            return await self._enqueue(context, command)
        may_be_known = once or _claim(context) in self._answered_keys
        if may_be_known and (earlier := await self._earlier(context)):
            return earlier
        try:
            prepared = await command()
        except Problem:
            # A repeat gets its first answer also while the outside is away.
            if earlier := await self._earlier(context):
                return earlier
            raise
        return await self._enqueue(context, prepared)

    async def _earlier(self, context: Context) -> Outcome | None:
        """Return the answer that a request got before, if it is a repeat."""
        if context.idempotency is None:
            return None
        found = await self._enqueue(context, PEEK)
        return found if isinstance(found, Problem) or found.replayed else None

    async def _enqueue(self, context: Context, command: Command) -> Outcome:
        tenant_id = context.principal.tenant_id
        tenant = self._tenants.setdefault(tenant_id, _Tenant())
        one = _Waiting(context, command, asyncio.get_running_loop().create_future())
        tenant.waiting.append(one)
        if tenant.lanes < self._lanes:
            tenant.lanes += 1
            task = asyncio.create_task(self._run_lane(tenant_id, tenant))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        # A caller who goes away leaves the command to its lane: it may be committing already.
        return await one.outcome

    async def _run_lane(self, tenant_id: UUID, tenant: _Tenant) -> None:
        answered: list[tuple[_Waiting, Outcome]] = []
        answer = functools.partial(_answer, answered)
        try:
            while await self._gather(tenant):
                count = min(len(tenant.waiting), self._batch_size)
                if not answered and count >= _CROWD:
                    # All came at once; one half goes first, so that the two can take turns.
                    count //= 2
                batch = [tenant.waiting.popleft() for _ in range(count)]
                # Those of the last batch are answered once this one is decided, or after a while.
                at_last = asyncio.get_running_loop().call_later(_PATIENCE, answer)
                submissions = [(one.context, one.command) for one in batch]
                outcomes = await self._writer.write(tenant_id, submissions, decided=answer)
                at_last.cancel()
                answer()
                answered.extend(zip(batch, outcomes, strict=True))
        finally:
            answer()
            tenant.lanes -= 1
            self._forget_idle(tenant_id, tenant)

    async def _gather(self, tenant: _Tenant) -> bool:
        """Let a batch grow as long as more commands come in; tell whether there are any."""
        seen = 0
        while seen < len(tenant.waiting) < self._batch_size:
            seen = len(tenant.waiting)
            await asyncio.sleep(0)
        return bool(tenant.waiting)

    def _forget_idle(self, tenant_id: UUID, tenant: _Tenant) -> None:
        if not (tenant.held or tenant.lanes or tenant.waiting):
            self._tenants.pop(tenant_id, None)


def _answer(answered: list[tuple[_Waiting, Outcome]]) -> None:
    """Tell the callers what came of their commands; nobody is told twice."""
    for one, outcome in answered:
        if not one.outcome.done():
            one.outcome.set_result(outcome)
    answered.clear()


def _claim(context: Context) -> _Claim | None:
    key, principal = context.idempotency, context.principal
    return None if key is None else (principal.tenant_id, principal.name, key.key)
