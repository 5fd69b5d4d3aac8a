"""One batch: lock, decide in memory, write everything at once."""

import functools
import os
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
import structlog
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from msgspec import Struct

from farthing.core.errors import IdempotencyKeyReused, InternalError, Problem
from farthing.db.commands import (
    IDEMPOTENCY,
    PEEK,
    Answer,
    Command,
    Context,
    IdempotencyKey,
    IdempotencyRow,
    Need,
    RowKey,
    Rows,
)
from farthing.db.draft import Draft
from farthing.db.pool import Connection
from farthing.db.tables import APP_ROLE, AppendTable, Table

Outcome = Answer | Problem
ReadRows = Callable[[Table[Any], Iterable[UUID]], Awaitable[list[Any]]]

_NONCE_BYTES = 12
# Lateral, so that every plan looks each key up: a planner that knows nothing of the table yet
# would rather read all keys of the tenant.
_RECALL_SQL = """
SELECT i.scope, i.key, i.fingerprint, i.status, i.body
FROM unnest($2::text[], $3::text[]) AS asked (scope, key)
CROSS JOIN LATERAL (
    SELECT * FROM idempotency AS one
    WHERE one.tenant_id = $1 AND one.scope = asked.scope AND one.key = asked.key LIMIT 1
) AS i
"""

log = structlog.get_logger()


class StaleRow(Exception):
    """A locked row had another version at its update: the lock was not what we thought."""


class Batch:
    """The commands of one tenant that share one database transaction."""

    def __init__(self, connection: Connection, tenant_id: UUID, now: datetime) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._now = now
        self._rows: Rows = {}
        self._seen: set[RowKey] = set()
        self._versions: dict[RowKey, int] = {}
        self._changed: Rows = {}
        self._added: set[RowKey] = set()
        self._removed: set[RowKey] = set()
        self._role = APP_ROLE
        self._appended: defaultdict[AppendTable[Any], list[Struct]] = defaultdict(list)
        self._recalled: dict[tuple[str, str], asyncpg.Record] = {}

    async def run(self, submissions: Sequence[tuple[Context, Command]]) -> list[Outcome]:
        """Decide every submission and write what they decided; the caller commits."""
        await self._recall([context for context, _ in submissions])
        fresh = [command for context, command in submissions if not self._remembers(context)]
        await self._see([need for command in fresh for need in command.needs])
        outcomes = [self._outcome(context, command) for context, command in submissions]
        await self._write()
        return outcomes

    def written(self, table: Table[Any]) -> list[Any]:
        """Return the rows of a table that the batch added or changed, as they are now."""
        return [row for (owner, _), row in self._changed.items() if owner is table]

    async def _recall(self, contexts: Iterable[Context]) -> None:
        asked = [
            (context.principal.name, context.idempotency.key)
            for context in contexts
            if context.idempotency
        ]
        if asked:
            scopes, keys = zip(*asked, strict=True)
            records = await self._connection.fetch(_RECALL_SQL, self._tenant_id, scopes, keys)
            self._recalled = {(record["scope"], record["key"]): record for record in records}

    def _remembers(self, context: Context) -> bool:
        key = context.idempotency
        return key is not None and (context.principal.name, key.key) in self._recalled

    async def _see(self, needs: Sequence[Need]) -> None:
        """Lock what is needed, and then look at what is needed but not changed."""
        looks = [need for need in needs if not need.locked]
        looks += await self._visit([need for need in needs if need.locked], self._lock_rows)
        await self._visit(looks, self._look_at_rows)

    async def _visit(self, needs: Iterable[Need], read: ReadRows) -> list[Need]:
        """Read rows table by table in the order of rank, following as it goes.

        Return what is only to be looked at, for later.
        """
        waiting: defaultdict[Table[Any], dict[UUID, list[Need]]] = defaultdict(dict)
        later: list[Need] = []
        for need in needs:
            waiting[need.table].setdefault(need.id, []).append(need)
        while waiting:
            table = min(waiting, key=lambda one: one.rank)
            wanted = waiting.pop(table)
            for row in await read(table, wanted):
                for need in wanted[row.id]:
                    for further in need.follow(row) if need.follow else ():
                        if need.locked and not further.locked:
                            later.append(further)
                            continue
                        if further.table.rank <= table.rank or further.locked != need.locked:
                            raise TypeError(
                                f"{further.table.name} must be seen before {table.name}"
                            )
                        waiting[further.table].setdefault(further.id, []).append(further)
        return later

    async def _lock_rows(self, table: Table[Any], wanted: Iterable[UUID]) -> list[Any]:
        ids = list(wanted)
        await self._act_as(table.role)
        records = await self._connection.fetch(table.lock_sql, self._tenant_id, ids)
        found = [table.read(record) for record in records]
        self._seen.update((table, row_id) for row_id in ids)
        self._rows.update(((table, row.id), row) for row in found)
        self._versions.update(((table, row.id), row.version) for row in found)
        return found

    async def _look_at_rows(self, table: Table[Any], wanted: Iterable[UUID]) -> list[Any]:
        """Read what is not locked anyway."""
        known = {row_id for row_id in wanted if (table, row_id) in self._seen}
        found = [self._rows[table, row_id] for row_id in known if (table, row_id) in self._rows]
        if ids := [row_id for row_id in wanted if row_id not in known]:
            await self._act_as(table.role)
            records = await self._connection.fetch(table.look_sql, self._tenant_id, ids)
            rows = [table.read(record) for record in records]
            self._seen.update((table, row_id) for row_id in ids)
            self._rows.update(((table, row.id), row) for row in rows)
            found += rows
        return found

    def _outcome(self, context: Context, command: Command) -> Outcome:
        key = context.idempotency
        if key and self._remembers(context):
            return _replay(key, self._recalled[context.principal.name, key.key])
        answer = self._decide(context, command)
        if key and command is not PEEK and isinstance(answer, Answer):
            body = _seal(key, answer.body)
            row = IdempotencyRow(
                tenant_id=self._tenant_id,
                scope=context.principal.name,
                key=key.key,
                fingerprint=key.fingerprint,
                status=answer.status,
                body=body,
                created_at=self._now,
            )
            self._appended[IDEMPOTENCY].append(row)
        return answer

    def _decide(self, context: Context, command: Command) -> Outcome:
        """Let one command decide; a Problem or a fault of it leaves the others whole."""
        draft = Draft(self._rows, self._seen, context, self._now)
        try:
            view = command.decide(draft)
        except Problem as problem:
            if problem.status >= 500:  # noqa: PLR2004 - HTTP's own line
                # It says nothing of the request itself, so that it is not remembered.
                return problem
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
        statement = _statement(tuple(added), tuple(changed))
        counts = await self._connection.fetchrow(statement, *documents)
        for table, count in zip(changed, counts or (), strict=True):
            if count != len(updates[table]):
                raise StaleRow(f"{count} instead of {len(updates[table])} rows of {table.name}")

    async def _act_as(self, role: str) -> None:
        """Take the role that a table asks for; the end of the transaction takes it back."""
        if role != self._role:
            await self._connection.execute(f"SET LOCAL ROLE {role}")
            self._role = role


@functools.cache
def _statement(added: tuple[AppendTable[Any], ...], changed: tuple[Table[Any], ...]) -> str:
    """Say in one statement what a batch adds and changes; its foreign keys look at its end."""
    parts = [table.insert_sql for table in added] + [table.update_sql for table in changed]
    named = [f"w{n} AS ({part.format(f'${n}::json')})" for n, part in enumerate(parts, 1)]
    first = len(added) + 1
    counts = [f"(SELECT count(*) FROM w{n})" for n in range(first, first + len(changed))]
    return f"WITH {', '.join(named)} SELECT {', '.join(counts)}"


def _replay(key: IdempotencyKey, record: asyncpg.Record) -> Outcome:
    if record["fingerprint"] != key.fingerprint:
        return IdempotencyKeyReused()
    return Answer(record["status"], _unseal(key, record["body"]), replayed=True)


def _seal(key: IdempotencyKey, body: bytes) -> bytes:
    if key.seal is None:
        return body
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + AESGCM(key.seal).encrypt(nonce, body, key.key.encode())


def _unseal(key: IdempotencyKey, kept: bytes) -> bytes:
    if key.seal is None:
        return kept
    nonce, sealed = kept[:_NONCE_BYTES], kept[_NONCE_BYTES:]
    return AESGCM(key.seal).decrypt(nonce, sealed, key.key.encode())
