"""A draft: what one command sees and writes, kept apart until it has decided."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

import msgspec
from msgspec import Raw, Struct

from farthing.core.actors import Actor, Principal
from farthing.core.errors import NotFound
from farthing.core.rows import ObjectRow, VersionedRow
from farthing.db.commands import EVENTS, HISTORY, Context, EventRow, HistoryRow, RowKey, Rows
from farthing.db.hearings import FREE, Book, Hearing, Step, Verdict
from farthing.db.tables import AppendTable, ObjectTable, Table

V = TypeVar("V", bound=VersionedRow)
Obj = TypeVar("Obj", bound=ObjectRow)
R = TypeVar("R", bound=Struct)


class Draft:
    """The locked rows as this command sees them, and what it adds and changes."""

    def __init__(
        self,
        rows: Rows,
        locked: set[RowKey],
        context: Context,
        now: datetime,
        book: Book | None = None,
        hearing: Hearing | None = None,
    ) -> None:
        self._rows = rows
        # The tenant's rules, for whoever changes them.
        self.book = book
        self._hearing = hearing
        self._locked = locked
        self._context = context
        self.now = now
        self.changed: Rows = {}
        self.added: set[RowKey] = set()
        self.removed: set[RowKey] = set()
        self._written: dict[UUID, tuple[int, Raw]] = {}
        self.appended: defaultdict[AppendTable[Any], list[Struct]] = defaultdict(list)
        self._told: list[Callable[[Draft], object]] = []

    @property
    def principal(self) -> Principal:
        """Who asks."""
        return self._context.principal

    @property
    def tenant_id(self) -> UUID:
        """The tenant whose rows these are."""
        return self._context.principal.tenant_id

    def find(self, table: Table[V], row_id: UUID) -> V | None:
        """Return a row that was named in the command's needs, if it exists."""
        key = (table, row_id)
        if key in self.removed:
            return None
        row = self.changed.get(key) or self._rows.get(key)
        if row is None and key not in self._locked:
            raise LookupError(f"{table.name} {row_id} is not among the needs of this command")
        return row  # type: ignore[return-value]  # the table of the key gives the row's type

    def require(self, table: ObjectTable[Obj], row_id: UUID) -> Obj:
        """Return an object that the caller may see; any other does not exist."""
        row = self.find(table, row_id)
        if row is None or not self.principal.sees(*row.owners()):
            raise NotFound(f"There is no such {table.noun}.")
        return row

    def beside(self, table: ObjectTable[Obj], row: Obj) -> list[Any]:
        """Return the rows that are kept beside an object."""
        return [self.find(one.table, one.key(row)) for one in table.beside]

    def written(self, row: ObjectRow) -> Raw:
        """Return an object as its last event says it, which need not be written twice."""
        version, written = self._written[row.id]
        if version != row.version:
            raise LookupError("the object has changed without an event")
        return written

    def append(self, table: AppendTable[R], row: R) -> None:
        """Add a row to a table that only grows."""
        self.appended[table].append(row)

    def added_to(self, table: AppendTable[R]) -> Sequence[R]:
        """Return the rows that this command has added to a table that only grows."""
        return self.appended.get(table, ())  # type: ignore[return-value]  # the table gives the type

    def insert(self, table: Table[V], row: V) -> None:
        """Add a row."""
        self.changed[table, row.id] = row
        self.added.add((table, row.id))

    def update(self, table: Table[V], row: V) -> V:
        """Change a row and count its version up."""
        newer: V = msgspec.structs.replace(row, version=row.version + 1)
        self.changed[table, row.id] = newer
        return newer

    def remove(self, table: Table[V], row_id: UUID) -> None:
        """Erase a row, if there is one."""
        if self.find(table, row_id) is not None:
            self.changed.pop((table, row_id), None)
            self.removed.add((table, row_id))

    def tell(self, write: Callable[["Draft"], object]) -> None:
        """Write something that is to be known also if a rule refuses the command."""
        write(self)
        self._told.append(write)

    def refused(self) -> "Draft":
        """Return what remains of this command although a rule refuses it: what it tells."""
        remains = Draft({}, set(), self._context, self.now)
        for write in self._told:
            write(remains)
        return remains

    def judge(self, table: ObjectTable[Obj], row: Obj, step: Step | None = None) -> Verdict:
        """Ask the tenant's rules about an object that is to be made or moved.

        The command must have named its matter. Raise the Problem by which a rule refuses it.
        """
        return FREE if self._hearing is None else self._hearing.judge(self, table, row, step)

    def ask_rules(self, trigger: str, row: Any, step: Step | None = None) -> Sequence[Any]:
        """Ask what each rule on a trigger says of an object, of which nothing comes."""
        return () if self._hearing is None else self._hearing.find(self, trigger, row, step)

    def create(self, table: ObjectTable[Obj], row: Obj, reason: str | None = None) -> Struct:
        """Add an object, with the first line of its history and its event."""
        self.insert(table, row)
        self._record_step(table, row, None, reason)
        return self._record_event(table, row, "created")

    def change(
        self, table: ObjectTable[Obj], old: Obj, new: Obj, what: str, reason: str | None = None
    ) -> Struct:
        """Change an object, with its event, and with its history if the state is another."""
        if new.state_id != old.state_id:
            return self.step(table, old, new, what, reason)
        newer = self.update(table, msgspec.structs.replace(new, updated_at=self.now))
        return self._record_event(table, newer, what)

    def step(
        self,
        table: ObjectTable[Obj],
        old: Obj,
        new: Obj,
        what: str,
        reason: str | None = None,
        actor: Actor | None = None,
    ) -> Struct:
        """Take a step of the object's machine, with history and event.

        The actor is the caller's, unless the platform goes on by itself.
        """
        newer = self.update(table, msgspec.structs.replace(new, updated_at=self.now))
        self._record_step(table, newer, old.state_id, reason, actor)
        return self._record_event(table, newer, what)

    def _record_step(
        self,
        table: ObjectTable[Obj],
        row: Obj,
        source: str | None,
        reason: str | None,
        actor: Actor | None = None,
    ) -> None:
        step = HistoryRow(
            tenant_id=row.tenant_id,
            object_id=row.id,
            version=row.version,
            machine=table.noun,
            source=source,
            target=row.state_id,
            actor=(actor or self.principal.actor).value,
            principal=self.principal.name,
            reason=reason,
            request_id=self._context.request_id,
            created_at=self.now,
        )
        self.append(HISTORY, step)

    def _record_event(self, table: ObjectTable[Obj], row: Obj, what: str) -> Struct:
        if what not in table.events:
            raise LookupError(f"{table.noun}.{what} is not among the events of its table")
        view = table.view(row, *self.beside(table, row))
        written = Raw(msgspec.json.encode(view))
        self._written[row.id] = (row.version, written)
        event = EventRow(
            tenant_id=row.tenant_id,
            type=f"{table.noun}.{what}",
            noun=table.noun,
            object_id=row.id,
            object_version=row.version,
            created_at=self.now,
            data=written,
        )
        self.append(EVENTS, event)
        return view
