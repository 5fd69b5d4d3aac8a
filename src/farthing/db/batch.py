"""One batch: lock, decide in memory, write everything at once."""

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
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
        self._locked: set[RowKey] = set()
        self._seen_versions: dict[RowKey, int] = {}
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
        await self._lock([need for command in fresh for need in command.needs])
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

    async def _lock(self, needs: list[Need]) -> None:
        """Lock what is needed, table by table in the order of rank, following as it goes."""
        waiting: defaultdict[Table[Any], dict[UUID, list[Need]]] = defaultdict(dict)

        def enlist(need: Need) -> None:
            waiting[need.table].setdefault(need.id, []).append(need)

        for need in needs:
            enlist(need)
        while waiting:
            table = min(waiting, key=lambda one: one.rank)
            wanted = waiting.pop(table)
            for row in await self._lock_rows(table, wanted):
                for need in wanted[row.id]:
                    for further in need.follow(row) if need.follow else ():
                        if further.table.rank <= table.rank:
                            raise TypeError(f"{further.table.name} must rank after {table.name}")
                        enlist(further)

    async def _lock_rows(self, table: Table[Any], wanted: Iterable[UUID]) -> list[Any]:
        ids = list(wanted)
        await self._act_as(table.role)
        records = await self._connection.fetch(table.lock_sql, self._tenant_id, ids)
        found = [table.read(record) for record in records]
        self._locked.update((table, row_id) for row_id in ids)
        self._rows.update(((table, row.id), row) for row in found)
        self._seen_versions.update(((table, row.id), row.version) for row in found)
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
        draft = Draft(self._rows, self._locked, context, self._now)
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
        updates: defaultdict[Table[Any], list[Any]] = defaultdict(list)
        inserts = self._appended
        for (table, row_id), row in self._changed.items():
            (inserts if (table, row_id) in self._added else updates)[table].append(row)
        for table in {key[0] for key in self._removed}:
            await self._act_as(table.role)
            ids = [row_id for owner, row_id in self._removed if owner is table]
            await self._connection.execute(table.delete_sql, self._tenant_id, ids)
        # The foreign keys look at once, so what they refer to is written first.
        for growing in sorted(inserts, key=lambda one: -one.rank):
            await self._copy(growing, inserts[growing])
        for table, rows in updates.items():
            await self._update(table, rows)

    async def _act_as(self, role: str) -> None:
        """Take the role that a table asks for; the end of the transaction takes it back."""
        if role != self._role:
            await self._connection.execute(f"SET LOCAL ROLE {role}")
            self._role = role

    async def _copy(self, table: AppendTable[Any], rows: list[Any]) -> None:
        await self._act_as(table.role)
        await self._connection.copy_records_to_table(
            table.name.rpartition(".")[2],
            schema_name=table.schema,
            columns=table.columns,
            records=[table.record(row) for row in rows],
        )

    async def _update(self, table: Table[Any], rows: list[Any]) -> None:
        await self._act_as(table.role)
        seen = [self._seen_versions[table, row.id] for row in rows]
        status = await self._connection.execute(table.update_sql, *table.arrays(rows), seen)
        if status != f"UPDATE {len(rows)}":
            raise StaleRow(f"{status} instead of {len(rows)} rows of {table.name}")


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
