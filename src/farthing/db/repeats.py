"""Repeats: what a request with a key was answered, and who may read it again."""

import os
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import asyncpg
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from farthing.core.actors import Principal
from farthing.core.errors import IdempotencyKeyReused, Problem
from farthing.db.commands import Answer, IdempotencyKey, IdempotencyRow
from farthing.db.pool import Connection

Outcome = Answer | Problem
# By principal and key.
Recalled = dict[tuple[str, str], asyncpg.Record]

_NONCE_BYTES: Final = 12
# Lateral, so that every plan looks each key up: a planner that knows nothing of the table yet
# would rather read all keys of the tenant.
_RECALL_SQL: Final = """
SELECT i.scope, i.key, i.fingerprint, i.status, i.body
FROM unnest($2::text[], $3::text[]) AS asked (scope, key)
CROSS JOIN LATERAL (
    SELECT * FROM idempotency AS one
    WHERE one.tenant_id = $1 AND one.scope = asked.scope AND one.key = asked.key LIMIT 1
) AS i
"""


async def recall(
    connection: Connection, tenant_id: UUID, asked: Sequence[tuple[str, str]]
) -> Recalled:
    """Find what was answered to these principals and keys."""
    if not asked:
        return {}
    scopes, keys = zip(*asked, strict=True)
    records = await connection.fetch(_RECALL_SQL, tenant_id, scopes, keys)
    return {(record["scope"], record["key"]): record for record in records}


def replay(key: IdempotencyKey, record: asyncpg.Record) -> Outcome:
    """Return the answer that a request got before; another request with its key gets none."""
    if record["fingerprint"] != key.fingerprint:
        return IdempotencyKeyReused()
    return Answer(record["status"], _unseal(key, record["body"]), replayed=True)


def remember(
    key: IdempotencyKey, principal: Principal, answer: Answer, now: datetime
) -> IdempotencyRow:
    """Return what is kept of an answer."""
    return IdempotencyRow(
        tenant_id=principal.tenant_id,
        scope=principal.name,
        key=key.key,
        fingerprint=key.fingerprint,
        status=answer.status,
        body=_seal(key, answer.body),
        created_at=now,
    )


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
