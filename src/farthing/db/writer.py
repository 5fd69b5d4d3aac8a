"""The only commit: a batch becomes durable as a whole, or each of its commands by itself."""

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import Any, Final
from uuid import UUID

import asyncpg
import structlog

from farthing.core.errors import InternalError, Problem, Unavailable
from farthing.db.batch import Batch, Repeated
from farthing.db.clocks import ClockMoved, Clocks
from farthing.db.commands import PEEK, Command, Context
from farthing.db.hearings import LogMoved, RulesChanged, Shelf
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
_REWRITES: Final = 50
# Somebody who moves a clock from one due moment to the next can be quicker than a batch.
_CLOCK_TRIES: Final = 100

Submission = tuple[Context, Command]
Listener = Callable[[Sequence[Any]], None]

log = structlog.get_logger()


class Writer:
    """Writes batches, and tells of what it has written."""

    def __init__(
        self, pool: Pool, clocks: Clocks, shelf: Shelf, is_known: Callable[[Context], bool]
    ) -> None:
        self._pool = pool
        self._clocks = clocks
        # The rules of each tenant.
        self._shelf = shelf
        # Tells of a request that it was answered before; it need not know of all.
        self._is_known = is_known
        self._listeners: dict[AppendTable[Any], Listener] = {}

    def listen(self, table: AppendTable[Any], listener: Listener) -> None:
        """Tell somebody of every row of a table that this process has written, once it is durable.

        Only a hint that spares waiting: whoever listens must find the rows by itself too.
        """
        self._listeners[table] = listener

    async def sweep(self, statement: str, *values: object) -> None:
        """Run housekeeping on which no decision depends, such as forgetting what has expired."""
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute(statement, *values)

    async def rewrite(
        self,
        tenant_id: UUID,
        statements: Sequence[tuple[Any, ...]],
        then: Sequence[Submission] = (),
    ) -> list[Outcome]:
        """Replace what a tenant of a sandbox has, in one transaction for which its writers wait.

        The statements come with their values and take the keeper's role; the first is to hold the
        head of the tenant's log, so that nobody writes beside them.
        """
        if not self._clocks.may_move:
            raise TypeError("only what a tenant of a sandbox has can be replaced")
        for attempt in range(_REWRITES):
            try:
                outcomes = await self._rewrite(tenant_id, statements, then)
            except (*_AGAIN, asyncpg.ForeignKeyViolationError) as error:
                # A batch that holds rows waits for the head, and we for the rows: it goes first.
                # So does one that wrote no event and added to what is being removed.
                log.info("rewrite_tried_again", error=type(error).__name__, attempt=attempt)
                await asyncio.sleep(random.uniform(0, 0.05))  # noqa: S311 - jitter, no secret
            else:
                self._clocks.forget(tenant_id)
                self._shelf.forget(tenant_id)
                return outcomes
        raise _busy()

    async def _rewrite(
        self,
        tenant_id: UUID,
        statements: Sequence[tuple[Any, ...]],
        then: Sequence[Submission],
    ) -> list[Outcome]:
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute(f"SET LOCAL ROLE {KEEPER_ROLE}; SET LOCAL lock_timeout = 100")
            for statement, *values in statements:
                await connection.execute(statement, *values)
            await connection.execute(f"SET LOCAL ROLE {APP_ROLE}")
            batch = Batch(connection, tenant_id, self._clocks.machine())
            return await batch.run(then, recall=False) if then else []

    async def write(
        self, tenant_id: UUID, submissions: Sequence[Submission], decided: Callable[[], None]
    ) -> list[Outcome]:
        """Commit together; if the database refuses, each by itself, so only the guilty fails.

        Whoever asks is told when everything is decided and the database is about to get it.
        """
        try:
            return await self._commit_patiently(tenant_id, submissions, decided)
        except Problem as problem:
            # It is about the tenant, not about one of its requests.
            return [problem for _ in submissions]
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody's request hangs
            if is_away(error):
                log.warning("database_away", error=repr(error))
                # It may come back without what it had acknowledged, and nobody would find that out.
                self._shelf.forget(tenant_id)
                return [_away() for _ in submissions]
            if len(submissions) == 1:
                return [await self._run_last_time(tenant_id, submissions[0], decided)]
            log.warning("batch_taken_apart", size=len(submissions), **_told(error))
        alone = [await self.write(tenant_id, [one], decided) for one in submissions]
        return [outcome for outcomes in alone for outcome in outcomes]

    async def _run_last_time(
        self, tenant_id: UUID, one: Submission, decided: Callable[[], None]
    ) -> Outcome:
        """Try a refused command once more, alone.

        The refusal may have been a race that is over now: two processes that made the same row.
        """
        try:
            return (await self._commit_patiently(tenant_id, [one], decided))[0]
        except Problem as problem:
            return problem
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody's request hangs
            if is_away(error):
                return _away()
            log.error("command_refused_by_database", request_id=one[0].request_id, **_told(error))  # noqa: TRY400 - see below
            return InternalError()

    async def _commit_patiently(
        self, tenant_id: UUID, submissions: Sequence[Submission], decided: Callable[[], None]
    ) -> list[Outcome]:
        recall = any(command is PEEK or self._is_known(context) for context, command in submissions)
        for attempt in range(_TRIES):
            try:
                return await self._commit_on_time(tenant_id, submissions, decided, recall=recall)
            except Repeated:
                recall = True
            except _AGAIN as error:
                log.info("batch_tried_again", error=type(error).__name__, attempt=attempt)
                await asyncio.sleep(random.uniform(0, 0.01 * 2**attempt))  # noqa: S311 - jitter, no secret
        return [_busy() for _ in submissions]

    async def _commit_on_time(
        self,
        tenant_id: UUID,
        submissions: Sequence[Submission],
        decided: Callable[[], None],
        *,
        recall: bool,
    ) -> list[Outcome]:
        """Commit, and decide anew if the tenant's clock or rules were changed meanwhile."""
        for _ in range(_CLOCK_TRIES):
            try:
                return await self._commit(tenant_id, submissions, decided, recall=recall)
            except ClockMoved:
                await self._clocks.reload(tenant_id)
            except RulesChanged:
                self._shelf.forget(tenant_id)
            except LogMoved:
                (await self._shelf.book(tenant_id)).doubt()
        return [_busy() for _ in submissions]

    async def _commit(
        self,
        tenant_id: UUID,
        submissions: Sequence[Submission],
        decided: Callable[[], None],
        *,
        recall: bool,
    ) -> list[Outcome]:
        ahead = await self._clocks.ahead(tenant_id)
        book = await self._shelf.book(tenant_id)
        async with self._pool.acquire() as connection, connection.transaction():
            batch = Batch(connection, tenant_id, self._clocks.at(ahead), ahead, book)
            outcomes = await batch.run(submissions, recall=recall, decided=decided)
        batch.close()
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


def _away() -> Problem:
    return Unavailable(
        "The database is away, and whether this request took effect is not known. "
        "Repeat it with the same Idempotency-Key."
    )


def _busy() -> Problem:
    return Unavailable("Others hold what this request needs. Repeat it in a moment.")
