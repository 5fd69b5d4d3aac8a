"""The only commit: commands that wait together are written together.

Each tenant has lanes. A lane takes the commands that wait at this moment, runs them as one batch
in one database transaction, and answers their callers after the commit. What arrives meanwhile
forms the next batch, so the load itself decides how large batches are.
"""

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import asyncpg
import structlog

from farthing.core.clock import Clock, system_clock
from farthing.core.errors import IdempotencyInProgress, InternalError, Problem, Unavailable
from farthing.db.batch import Batch, Repeated
from farthing.db.clocks import ClockMoved, Clocks
from farthing.db.commands import PEEK, Answer, Command, Context
from farthing.db.pool import Pool, is_away
from farthing.db.repeats import Outcome
from farthing.db.tables import APP_ROLE, KEEPER_ROLE, AppendTable

# The database asks to try the whole transaction again.
_AGAIN: Final = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.LockNotAvailableError,
)
_TRIES: Final = 6
# Somebody who moves a clock from one due moment to the next can be quicker than a batch.
_CLOCK_TRIES: Final = 100

_MOST_ANSWERED: Final = 50_000

# The tenant, the principal and the key of a request.
_Claim = tuple[UUID, str, str]
Preparation = Callable[[], Awaitable[Command]]
Listener = Callable[[Sequence[Any]], None]

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
    ) -> None:
        self._pool = pool
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
        self._listeners: dict[AppendTable[Any], Listener] = {}
        self.waiting = 0

    def listen(self, table: AppendTable[Any], listener: Listener) -> None:
        """Tell somebody of every row of a table that this process has written, once it is durable.

        Only a hint that spares waiting: whoever listens must find the rows by itself too.
        """
        self._listeners[table] = listener

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

    async def sweep(self, statement: str, *values: object) -> None:
        """Run housekeeping on which no decision depends, such as forgetting what has expired."""
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute(statement, *values)

    async def rewrite(
        self,
        tenant_id: UUID,
        statements: Sequence[tuple[Any, ...]],
        then: Sequence[tuple[Context, Command]] = (),
    ) -> list[Outcome]:
        """Replace what a tenant of a sandbox has, in one transaction for which its writers wait.

        The statements come with their values and take the keeper's role; the first is to hold the
        head of the tenant's log, so that nobody writes beside them.
        """
        if not self.clocks.may_move:
            raise TypeError("only what a tenant of a sandbox has can be replaced")
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute(f"SET LOCAL ROLE {KEEPER_ROLE}")
            for statement, *values in statements:
                await connection.execute(statement, *values)
            await connection.execute(f"SET LOCAL ROLE {APP_ROLE}")
            batch = Batch(connection, tenant_id, self.clocks.machine())
            outcomes = await batch.run(then, recall=False) if then else []
        self.clocks.forget(tenant_id)
        return outcomes

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
        try:
            while tenant.waiting:
                count = min(len(tenant.waiting), self._batch_size)
                await self._answer(tenant_id, [tenant.waiting.popleft() for _ in range(count)])
        finally:
            tenant.lanes -= 1
            self._forget_idle(tenant_id, tenant)

    def _forget_idle(self, tenant_id: UUID, tenant: _Tenant) -> None:
        if not (tenant.held or tenant.lanes or tenant.waiting):
            self._tenants.pop(tenant_id, None)

    async def _answer(self, tenant_id: UUID, batch: list[_Waiting]) -> None:
        outcomes = await self._run(tenant_id, [(one.context, one.command) for one in batch])
        for one, outcome in zip(batch, outcomes, strict=True):
            if not one.outcome.done():
                one.outcome.set_result(outcome)

    async def _run(
        self, tenant_id: UUID, submissions: Sequence[tuple[Context, Command]]
    ) -> list[Outcome]:
        """Commit together; if the database refuses, each by itself, so only the guilty fails."""
        try:
            return await self._commit_patiently(tenant_id, submissions)
        except Problem as problem:
            # It is about the tenant, not about one of its requests.
            return [problem for _ in submissions]
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody's request hangs
            if is_away(error):
                log.warning("database_away", error=repr(error))
                return [_away() for _ in submissions]
            if len(submissions) == 1:
                return [await self._run_last_time(tenant_id, submissions[0])]
            log.warning("batch_taken_apart", size=len(submissions), **_told(error))
        alone = [await self._run(tenant_id, [submission]) for submission in submissions]
        return [outcome for outcomes in alone for outcome in outcomes]

    async def _run_last_time(self, tenant_id: UUID, one: tuple[Context, Command]) -> Outcome:
        """Try a refused command once more, alone.

        The refusal may have been a race that is over now: two processes that made the same row.
        """
        try:
            return (await self._commit_patiently(tenant_id, [one]))[0]
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody's request hangs
            if is_away(error):
                return _away()
            log.error("command_refused_by_database", request_id=one[0].request_id, **_told(error))  # noqa: TRY400 - see below
            return InternalError()

    async def _commit_patiently(
        self, tenant_id: UUID, submissions: Sequence[tuple[Context, Command]]
    ) -> list[Outcome]:
        recall = any(
            command is PEEK or _claim(context) in self._answered_keys
            for context, command in submissions
        )
        for attempt in range(_TRIES):
            try:
                return await self._commit_on_time(tenant_id, submissions, recall=recall)
            except Repeated:
                recall = True
            except _AGAIN as error:
                log.info("batch_tried_again", error=type(error).__name__, attempt=attempt)
                await asyncio.sleep(random.uniform(0, 0.01 * 2**attempt))  # noqa: S311 - jitter, no secret
        return [_busy() for _ in submissions]

    async def _commit_on_time(
        self, tenant_id: UUID, submissions: Sequence[tuple[Context, Command]], *, recall: bool
    ) -> list[Outcome]:
        """Commit, and decide anew if the tenant's clock was moved meanwhile."""
        for _ in range(_CLOCK_TRIES):
            try:
                return await self._commit(tenant_id, submissions, recall=recall)
            except ClockMoved:
                await self.clocks.reload(tenant_id)
        return [_busy() for _ in submissions]

    async def _commit(
        self, tenant_id: UUID, submissions: Sequence[tuple[Context, Command]], *, recall: bool
    ) -> list[Outcome]:
        ahead = await self.clocks.ahead(tenant_id)
        async with self._pool.acquire() as connection, connection.transaction():
            batch = Batch(connection, tenant_id, self.clocks.at(ahead), ahead)
            outcomes = await batch.run(submissions, recall=recall)
        for table, listener in self._listeners.items():
            if rows := batch.written(table):
                listener(rows)
        return outcomes


def _told(error: Exception) -> dict[str, Any]:
    """Tell what is wrong; the database's own words would repeat what a caller has sent."""
    if not isinstance(error, asyncpg.PostgresError):
        return {"exc_info": error}
    named = {"table": error.table_name, "constraint": error.constraint_name}
    return {"error": type(error).__name__, "sqlstate": error.sqlstate, **named}


def _claim(context: Context) -> _Claim | None:
    key, principal = context.idempotency, context.principal
    return None if key is None else (principal.tenant_id, principal.name, key.key)


def _away() -> Problem:
    return Unavailable(
        "The database is away, and whether this request took effect is not known. "
        "Repeat it with the same Idempotency-Key."
    )


def _busy() -> Problem:
    return Unavailable("Others hold what this request needs. Repeat it in a moment.")
