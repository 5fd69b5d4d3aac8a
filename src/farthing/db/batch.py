"""One batch: lock, decide in memory, write everything at once."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
import structlog
from msgspec import Struct

from farthing.core.errors import InternalError, Problem, RefusedByRule
from farthing.db import repeats
from farthing.db.clocks import ClockMoved
from farthing.db.commands import (
    EVENTS,
    IDEMPOTENCY,
    PEEK,
    Answer,
    Command,
    Context,
    Need,
    RowKey,
    Rows,
)
from farthing.db.draft import Draft
from farthing.db.hearings import Book, LogMoved
from farthing.db.pool import Connection
from farthing.db.repeats import Outcome, Recalled
from farthing.db.statements import Terms, write_statement
from farthing.db.tables import APP_ROLE, Along, AppendTable, Table

log = structlog.get_logger()


class StaleRow(Exception):
    """A locked row had another version at its update: the lock was not what we thought."""


class Repeated(Exception):
    """A request that the batch took for a new one had been answered before."""


class Batch:
    """The commands of one tenant that share one database transaction."""

    def __init__(
        self,
        connection: Connection,
        tenant_id: UUID,
        now: datetime,
        ahead: int = 0,
        book: Book | None = None,
    ) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._now = now
        self._terms = Terms(tenant_id, ahead)
        self._book = book
        self._hearing = None if book is None else book.open(tenant_id, now)
        self._rows: Rows = {}
        self._seen: set[RowKey] = set()
        self._versions: dict[RowKey, int] = {}
        self._changed: Rows = {}
        self._added: set[RowKey] = set()
        self._removed: set[RowKey] = set()
        self._role = APP_ROLE
        self._appended: defaultdict[AppendTable[Any], list[Struct]] = defaultdict(list)
        self._recalled: Recalled = {}
        # Where the log ended before this batch wrote to it.
        self._log_began: int | None = None

    async def run(
        self,
        submissions: Sequence[tuple[Context, Command]],
        *,
        recall: bool,
        decided: Callable[[], None] = lambda: None,
    ) -> list[Outcome]:
        """Decide every submission and write what they decided; the caller commits.

        Whoever does not recall what was answered before finds out at the end, by Repeated, if
        something was: repeats are rare, and then the batch is run once more. So it is, by
        ClockMoved, RulesChanged or LogMoved, if the tenant's clock or rules have changed since
        the batch took its time and opened the book, or if it relied on nobody else's writing.
        """
        if recall:
            await self._recall([context for context, _ in submissions])
        fresh = [command for context, command in submissions if not self._remembers(context)]
        await self._prepare_hearing(submissions)
        await self._see([need for command in fresh for need in command.needs])
        outcomes = [self._outcome(context, command) for context, command in submissions]
        if not recall and any(
            context.idempotency and isinstance(outcome, Problem)
            for (context, _), outcome in zip(submissions, outcomes, strict=True)
        ):
            # It leaves no trace that could tell whether it is a repeat.
            raise Repeated
        # Whoever waits for this goes on once the statement has been sent.
        decided()
        await self._write()
        if self._terms.rules is not None and not self._appended[EVENTS]:
            # Somebody may have been refused by a rule that is gone, or was told that there is none.
            await self._terms.check(self._connection)
            if self._hearing is not None:
                await self._hearing.withdraw(self._connection)
        return outcomes

    async def _prepare_hearing(self, submissions: Sequence[tuple[Context, Command]]) -> None:
        """See what rules must see of what is brought before them, before anything is locked."""
        matters = [
            (context.principal, command.matter)
            for context, command in submissions
            if command.matter is not None and not self._remembers(context)
        ]
        if not matters or self._book is None:
            self._hearing = None
            return
        self._terms.rules = self._book.version
        if self._hearing is not None:
            needs = await self._hearing.prepare(self._connection, matters)
            self._terms.position = self._hearing.relies_on
            await self._see(needs)

    def close(self) -> None:
        """Let those who judged know that what was decided is durable."""
        events = len(self._appended[EVENTS])
        if self._book is not None and self._log_began is not None and events:
            self._book.keep(self._hearing, self._log_began, self._log_began + events)

    def written(self, table: AppendTable[Any]) -> list[Any]:
        """Return the rows of a table that the batch added or changed, as they are now."""
        if not isinstance(table, Table):
            return self._appended.get(table, [])
        return [row for (owner, _), row in self._changed.items() if owner is table]

    async def _recall(self, contexts: Iterable[Context]) -> None:
        asked = [(one.principal.name, one.idempotency.key) for one in contexts if one.idempotency]
        self._recalled = await repeats.recall(self._connection, self._tenant_id, asked)

    def _remembers(self, context: Context) -> bool:
        key = context.idempotency
        return key is not None and (context.principal.name, key.key) in self._recalled

    async def _see(self, needs: Iterable[Need]) -> None:
        """Lock what is needed, and then look at what is needed but not changed."""
        looks = [need for need in needs if not need.locked]
        looks += await self._lock(need for need in needs if need.locked)
        wanted: defaultdict[tuple[Table[Any], Along | None], set[UUID]] = defaultdict(set)
        for need in looks:
            wanted[need.table, need.along].add(need.id)
        for (table, along), ids in wanted.items():
            await self._look(table, along, ids)

    async def _lock(self, needs: Iterable[Need]) -> list[Need]:
        """Lock rows table by table in the order of rank, following as it goes.

        Return what is only to be looked at, for later.
        """
        waiting: defaultdict[Table[Any], dict[UUID, list[Need]]] = defaultdict(dict)
        later: list[Need] = []
        for need in needs:
            waiting[need.table].setdefault(need.id, []).append(need)
        while waiting:
            table = min(waiting, key=lambda one: one.rank)
            wanted = waiting.pop(table)
            for row in await self._lock_rows(table, list(wanted)):
                follows = [need.follow(row) for need in wanted[row.id] if need.follow]
                for further in itertools.chain.from_iterable(follows):
                    if not further.locked:
                        later.append(further)
                        continue
                    if further.table.rank <= table.rank:
                        raise TypeError(f"{further.table.name} must be seen before {table.name}")
                    waiting[further.table].setdefault(further.id, []).append(further)
        return later

    async def _lock_rows(self, table: Table[Any], ids: list[UUID]) -> list[Any]:
        await self._act_as(table.role)
        records = await self._connection.fetch(table.lock_sql, self._tenant_id, ids)
        found = [table.read(record) for record in records]
        self._note(table, ids, found)
        self._versions.update(((table, row.id), row.version) for row in found)
        return found

    async def _look(self, table: Table[Any], along: Along | None, wanted: set[UUID]) -> None:
        """Read what is not locked anyway, and what it names."""
        if along is None:
            wanted = {row_id for row_id in wanted if (table, row_id) not in self._seen}
        if not wanted:
            return
        await self._act_as(table.role)
        sql = table.look_sql if along is None else table.look_along_sql(along)
        records = await self._connection.fetch(sql, self._tenant_id, wanted)
        width = len(table.columns)
        self._note(table, wanted, [table.read(record[:width]) for record in records])
        if along is not None:
            others = [along.table.read(record[width:]) for record in records]
            self._note(along.table, [row.id for row in others], others)

    def _note(self, table: Table[Any], ids: Iterable[UUID], found: list[Any]) -> None:
        """Keep the rows that were asked for and found."""
        self._seen.update((table, row_id) for row_id in ids)
        self._rows.update(((table, row.id), row) for row in found)

    def _outcome(self, context: Context, command: Command) -> Outcome:
        key = context.idempotency
        if key and self._remembers(context):
            return repeats.replay(key, self._recalled[context.principal.name, key.key])
        answer = self._decide(context, command)
        if key and command is not PEEK and isinstance(answer, Answer):
            row = repeats.remember(key, context.principal, answer, self._now)
            self._appended[IDEMPOTENCY].append(row)
        return answer

    def _decide(self, context: Context, command: Command) -> Outcome:
        """Let one command decide; a Problem or a fault of it leaves the others whole."""
        draft = Draft(self._rows, self._seen, context, self._now, self._book, self._hearing)
        try:
            view = command.decide(draft)
        except Problem as problem:
            if problem.status >= 500:  # noqa: PLR2004 - HTTP's own line
                # It says nothing of the request itself, so that it is not remembered.
                return problem
            if isinstance(problem, RefusedByRule) and not command.rehearsal:
                self._merge(draft.refused())
            return Answer(problem.status, problem.encode(context.request_id))
        except Exception:
            # Whatever it is, it is this command's own fault, and its neighbours are not to suffer.
            log.exception("command_failed", request_id=context.request_id)
            return InternalError()
        if not command.rehearsal:
            self._merge(draft)
        return Answer(command.status, b"" if view is None else msgspec.json.encode(view))

    def _merge(self, draft: Draft) -> None:
        for key in draft.removed:
            self._rows.pop(key, None)
            self._changed.pop(key, None)
        self._removed |= draft.removed - self._added
        self._added -= draft.removed
        self._rows.update(draft.changed)
        self._changed.update(draft.changed)
        self._added |= draft.added
        for table, rows in draft.appended.items():
            self._appended[table] += rows
        if self._hearing is not None:
            self._hearing.settle(draft)

    async def _write(self) -> None:
        for table in {key[0] for key in self._removed}:
            await self._act_as(table.role)
            ids = [row_id for owner, row_id in self._removed if owner is table]
            await self._connection.execute(table.delete_sql, self._tenant_id, ids)
        updates: defaultdict[Table[Any], list[Any]] = defaultdict(list)
        inserts = self._appended
        for (table, row_id), row in self._changed.items():
            (inserts if (table, row_id) in self._added else updates)[table].append(row)
        # The role that is taken already comes first.
        roles = {table.role for table in (*inserts, *updates)}
        for role in sorted(roles, key=lambda one: one != self._role):
            await self._act_as(role)
            await self._write_as(role, inserts, updates)

    async def _write_as(self, role: str, inserts: Any, updates: Any) -> None:
        """Write everything that a role may write in one statement; its parts are documents."""
        added = [table for table in inserts if table.role == role]
        changed = [table for table in updates if table.role == role]
        documents = [msgspec.json.encode(inserts[table]) for table in added]
        for table in changed:
            seen = [self._versions[table, row.id] for row in updates[table]]
            documents.append(msgspec.json.encode(table.with_versions(updates[table], seen)))
        statement = write_statement(tuple(added), tuple(changed), role)
        terms = self._terms.values() if role == APP_ROLE else []
        if events := sum(len(inserts[table]) for table in added if table.heads):
            governs = any(table.governs for table in (*added, *changed))
            terms += [events, self._now, int(governs)]
        counts = list(await self._connection.fetchrow(statement, *documents, *terms) or ())
        if terms:
            self._log_began = counts.pop()
            if self._log_began is None:
                await self._terms.check(self._connection)
                # Or somebody looks at tallies just now.
                raise ClockMoved if self._terms.position is None else LogMoved
        sent = [(table, inserts[table]) for table in added if table.unless_known]
        sent += [(table, updates[table]) for table in changed]
        for (table, rows), count in zip(sent, counts, strict=True):
            if count == len(rows):
                continue
            if table is IDEMPOTENCY:
                raise Repeated
            raise StaleRow(f"{count} instead of {len(rows)} rows of {table.name}")

    async def _act_as(self, role: str) -> None:
        """Take the role that a table asks for; the end of the transaction takes it back."""
        if role != self._role:
            await self._connection.execute(f"SET LOCAL ROLE {role}")
            self._role = role
