"""Commands: what a write must see, and what it decides from that."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from msgspec import Raw, Struct

from farthing.core.actors import Principal
from farthing.core.rows import VersionedRow
from farthing.db.hearings import Matter
from farthing.db.tables import Along, AppendTable, Table


class HistoryRow(Struct, frozen=True):
    """One step of an object from state to state; the first has no source."""

    tenant_id: UUID
    object_id: UUID
    version: int
    machine: str
    source: str | None
    target: str
    actor: str
    principal: str
    reason: str | None
    request_id: str
    created_at: datetime


class EventRow(Struct, frozen=True):
    """One change of one object, with the object as it was right after."""

    tenant_id: UUID
    type: str
    noun: str
    object_id: UUID
    object_version: int
    created_at: datetime
    data: Raw


class IdempotencyRow(Struct, frozen=True):
    """The answer to a request, kept for its repeats."""

    tenant_id: UUID
    scope: str
    key: str
    fingerprint: bytes
    status: int
    body: bytes
    created_at: datetime


HISTORY = AppendTable("history", HistoryRow)
EVENTS = AppendTable("events", EventRow, heads="event_heads")
IDEMPOTENCY = AppendTable("idempotency", IdempotencyRow, unless_known=True)


class Need(Struct, frozen=True):
    """A row that a command must see, and the rows that follow from it.

    `follow` gets the row and names further ones, in tables of a higher rank. A row that is only
    looked at is not locked, and must not be changed: it is read once all locks are held, so that
    nobody who needs one of these locks to change it can do so any more. It brings the row along
    that one of its columns names, because a second question would be asked while locks are held.
    """

    table: Table[Any]
    id: UUID
    follow: Callable[[Any], Iterable["Need"]] | None = None
    locked: bool = True
    along: Along | None = None


class IdempotencyKey(Struct, frozen=True):
    """The caller's key with the fingerprint of the request that came with it."""

    key: str
    fingerprint: bytes
    # Encrypts what is kept of an answer that holds a credential.
    seal: bytes | None = None


class Context(Struct, frozen=True):
    """On whose behalf a command runs, and within which request."""

    principal: Principal
    request_id: str
    idempotency: IdempotencyKey | None = None


# What a command answers with: a view, or one that is written already.
Shown = Struct | Raw | None


class Command(Struct, frozen=True):
    """A pure decision over the rows that it needs.

    `decide` reads and writes through the draft that it is given, returns the answer, or raises
    a Problem, in which case nothing of it remains but what rules tell of it if one refuses it.
    """

    decide: Callable[[Any], Shown]
    needs: Sequence[Need] = ()
    status: int = 200
    # Decides on the locked rows like any other, and then nothing of it is written.
    rehearsal: bool = False
    # What of it rules may have a say in.
    matter: Matter | None = None


# Decides nothing and is not remembered: it only asks whether a request is a repeat. It goes with a
# batch like any command, so that many who ask are answered by one query.
PEEK: Final = Command(lambda _: None)


class Answer(Struct, frozen=True):
    """What the caller is told, once it is durable."""

    status: int
    body: bytes
    replayed: bool = False


RowKey = tuple[Table[Any], UUID]
Rows = dict[RowKey, VersionedRow]
