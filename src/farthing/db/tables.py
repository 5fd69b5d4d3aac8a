"""Tables: which row lives where, and the SQL that follows from it."""

import functools
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

import msgspec
from msgspec import Raw, Struct

from farthing.core.machine import Machine
from farthing.core.rows import ObjectRow, Sum, VersionedRow

R = TypeVar("R", bound=Struct)
V = TypeVar("V", bound=VersionedRow)
Obj = TypeVar("Obj", bound=ObjectRow)

SCHEMA: Final = "farthing"

# The role that may read and add, but not rewrite what is written for ever.
APP_ROLE: Final = "farthing_app"
# The role that throws away what a tenant of a sandbox has.
KEEPER_ROLE: Final = "farthing_keeper"

_SQL_TYPES: Final[dict[Any, str]] = {
    UUID: "uuid",
    int: "bigint",
    str: "text",
    bool: "boolean",
    bytes: "bytea",
    Sum: "numeric",
    datetime: "timestamptz",
    Raw: "json",
}


def _sql_type(annotation: Any) -> str:
    if isinstance(annotation, types.UnionType):
        annotation = next(one for one in typing.get_args(annotation) if one is not types.NoneType)
    # Lists and objects are kept as documents.
    return _SQL_TYPES.get(annotation, "jsonb")


@dataclass(frozen=True, eq=False)
class AppendTable(Generic[R]):
    """A table of which rows are only ever added."""

    name: str
    row: type[R]
    # A table with a role of its own is out of the application's reach but through that role.
    role: str = APP_ROLE
    # Rows are locked in the order of rank, and written in its reverse: what a foreign key
    # refers to ranks higher than what refers to it.
    rank: int = 0
    # The rows of a log are numbered without a gap within their tenant, by the table that is named
    # here. Whoever adds to it is alone until the commit, so that no number is seen before a lower.
    # No row is dated before the one that it follows, so that a time can be found without an index.
    heads: str | None = None
    # A row whose key is known already is left out; the others are counted.
    unless_known: bool = False
    # These rows are only added together with the log: not if what the batch took for granted is not
    # so, because then they may be there already.
    with_log: bool = False
    # A change of these rows changes the rules by which others are judged.
    governs: bool = False

    @property
    def schema(self) -> str:
        """The schema that the table is in, if its name does not say another."""
        return self.name.rpartition(".")[0] or SCHEMA

    @functools.cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns in the order of the row's fields."""
        return self.row.__struct_fields__

    @functools.cached_property
    def insert_sql(self) -> str:
        """Add the rows of a document, whose place in the statement is left open."""
        read = [self._read_back(name) for name in self.columns]
        if self.heads is None:
            return (
                f"INSERT INTO {self.name} ({', '.join(self.columns)}) "
                f"SELECT {', '.join(read)} FROM {self._document()}"
                + (" WHERE EXISTS (SELECT 1 FROM head)" if self.with_log else "")
                + (" ON CONFLICT DO NOTHING RETURNING 1" if self.unless_known else "")
            )
        read[self.columns.index("created_at")] = "greatest(u.created_at, head.moved_at)"
        return (
            f"INSERT INTO {self.name} ({', '.join(self.columns)}, position) "
            f"SELECT {', '.join(read)}, head.base + u.ordinality FROM head, {self._numbered()}"
        )

    @functools.cached_property
    def head_sql(self) -> str:
        """Take the next numbers of a log: none if what the batch took for granted is not so.

        The tenant, the count, the time, how far the clock was ahead, the version of the rules if
        anything was judged by them, by how much it goes up, and where the log ended if the batch
        relies on that are left open. Whoever relies on it must be alone with those who count.
        """
        return (
            f"INSERT INTO {self.heads} AS h (tenant_id, position, moved_at, rules) "
            "VALUES ({tenant}, {count}, {now}, {change}) ON CONFLICT (tenant_id) DO UPDATE "
            "SET position = h.position + excluded.position, "
            "moved_at = greatest(h.moved_at, excluded.moved_at), rules = h.rules + {change} "
            "WHERE h.ahead = {ahead} AND h.rules = coalesce({rules}, h.rules) "
            "AND ({position} IS NULL OR h.position = {position} "
            "AND pg_try_advisory_xact_lock(uuid_hash_extended({tenant}, 1))) "
            "RETURNING position - {count} AS base, moved_at"
        )

    @functools.cached_property
    def _sql_types(self) -> dict[str, str]:
        hints = typing.get_type_hints(self.row)
        return {column: _sql_type(hints[column]) for column in self.columns}

    def _document(self, *more: str) -> str:
        return f"json_to_recordset({{}}) AS u ({', '.join([self._sent(), *more])})"

    def _sent(self) -> str:
        kinds = self._sql_types.items()
        return ", ".join(f"{name} {'text' if kind == 'bytea' else kind}" for name, kind in kinds)

    def _numbered(self) -> str:
        return (
            f"ROWS FROM (json_to_recordset({{}}) AS ({self._sent()})) WITH ORDINALITY "
            f"AS u ({', '.join([*self.columns, 'ordinality'])})"
        )

    def _read_back(self, name: str) -> str:
        # JSON has no bytes, which travel in base 64.
        is_bytes = self._sql_types[name] == "bytea"
        return f"decode(u.{name}, 'base64')" if is_bytes else f"u.{name}"


@dataclass(frozen=True, eq=False)
class Table(AppendTable[V], Generic[V]):
    """A table whose rows are found by id, locked, and changed.

    Rows are locked table by table in the order of rank, and by id within a table, so that no
    two batches can wait for each other.
    """

    @functools.cached_property
    def select_sql(self) -> str:
        """The columns of a row, for reading."""
        return f"SELECT {', '.join(self.columns)} FROM {self.name}"

    @functools.cached_property
    def look_sql(self) -> str:
        """Read rows as they are."""
        return f"{self.select_sql} WHERE tenant_id = $1 AND id = ANY($2::uuid[])"

    @functools.cache  # noqa: B019 - tables are as old as the program
    def look_along_sql(self, along: "Along") -> str:
        """Read rows as they are, and after each the one that it names."""
        mine = [f"t.{name}" for name in self.columns]
        others = [f"o.{name}" for name in along.table.columns]
        return (
            f"SELECT {', '.join([*mine, *others])} FROM {self.name} AS t "
            f"JOIN {along.table.name} AS o "
            f"ON o.tenant_id = t.tenant_id AND o.id = t.{along.column} "
            "WHERE t.tenant_id = $1 AND t.id = ANY($2::uuid[])"
        )

    @functools.cached_property
    def lock_sql(self) -> str:
        """Lock rows in the order of their ids.

        Not FOR UPDATE: that would also wait for, and hold up, the mere foreign keys to a row.
        """
        return f"{self.look_sql} ORDER BY id FOR NO KEY UPDATE"

    @functools.cached_property
    def delete_sql(self) -> str:
        """Remove rows."""
        return f"DELETE FROM {self.name} WHERE tenant_id = $1 AND id = ANY($2::uuid[])"

    @functools.cached_property
    def update_sql(self) -> str:
        """Change many rows at once, each only if it still has the version that was locked.

        The place of the document in the statement is left open.
        """
        changed = [name for name in self.columns if name not in {"tenant_id", "id"}]
        values = ", ".join(f"{name} = {self._read_back(name)}" for name in changed)
        return (
            f"UPDATE {self.name} AS t SET {values} FROM {self._document('seen bigint')} "
            "WHERE t.tenant_id = u.tenant_id AND t.id = u.id AND t.version = u.seen RETURNING 1"
        )

    def with_versions(self, rows: Sequence[V], seen: Sequence[int]) -> list[dict[str, Any]]:
        """Return rows, each with the version that was seen, as the update takes them."""
        return [
            {**msgspec.structs.asdict(row), "seen": version}
            for row, version in zip(rows, seen, strict=True)
        ]

    def read(self, record: Any) -> V:
        """Make the row of a record whose columns stand in order."""
        return self.row(*record)


@dataclass(frozen=True)
class Along:
    """A table with the row that a column names, which a foreign key promises."""

    table: Table[Any]
    column: str


@dataclass(frozen=True, eq=False)
class Beside:
    """A table with a row for each object: of the same id, or of the id that the object names."""

    table: Table[Any]
    of: Callable[[Any], UUID] | None = None

    def key(self, row: Any) -> UUID:
        """Return the id of the row beside this one."""
        key: UUID = row.id if self.of is None else self.of(row)
        return key


@dataclass(frozen=True, eq=False, kw_only=True)
class ObjectTable(Table[Obj], Generic[Obj]):
    """A table of objects: each change of one writes its history and its event.

    The view is the object as the outside sees it, made from the row and from the rows that are
    kept beside it.
    """

    machine: Machine
    view: Callable[..., Struct]
    beside: tuple["Beside", ...] = ()
    # What can happen to an object beside being created, updated and moved: a word, and when.
    happenings: Mapping[str, str] = field(default_factory=dict)

    @property
    def noun(self) -> str:
        """The word before the slash in the identifiers of these objects."""
        return self.machine.noun

    @functools.cached_property
    def shown(self) -> type[Struct]:
        """The type of the view."""
        return typing.cast("type[Struct]", typing.get_type_hints(self.view)["return"])

    @functools.cached_property
    def events(self) -> dict[str, str]:
        """The words for everything that can happen to an object, each with a sentence."""
        name = self.noun.replace("_", " ")
        moves = dict.fromkeys(row.target for row in self.machine.table)
        return {
            "created": f"The {name} was made.",
            "updated": f"What the {name} says of itself has changed.",
            **{state.lower(): f"The {name} has moved to {state}." for state in moves},
            **self.happenings,
        }
