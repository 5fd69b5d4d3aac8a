"""What every object can do by the same pattern: be read, listed, updated and moved."""

import base64
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar
from uuid import UUID

import msgspec
from msgspec import Struct

from farthing.core import ids
from farthing.core.actors import Grant
from farthing.core.clock import say_time
from farthing.core.errors import Fault, NotFound, RequirementsUnresolved, ValidationFailed
from farthing.core.fields import MOST_LABELS
from farthing.core.rows import ObjectRow
from farthing.core.wire import ListQuery, PossibleStep, StepView, TransitionsView
from farthing.db.calls import Call
from farthing.db.commands import Command, Need
from farthing.db.draft import Draft
from farthing.db.hearings import Matter, Step, Whereabouts
from farthing.db.tables import ObjectTable

Obj = TypeVar("Obj", bound=ObjectRow)

_HISTORY_SQL: Final = """
SELECT source, target, actor, principal, reason, request_id, created_at
FROM history WHERE tenant_id = $1 AND object_id = $2 ORDER BY version
"""

# How a field of a query becomes a condition; any other field is the name of its column.
_CONDITIONS: Final = {
    "cursor": "id < {}",
    "tag": "tags <> '[]' AND tags @> {}",
    "created_from": "created_at >= {}",
    "created_to": "created_at < {}",
}


# What a query says beside which objects are wanted.
_NO_FILTERS: Final = frozenset({"limit", "include"})
# What a caller calls an id, and may write like one of ours.
_NO_IDENTIFIERS: Final = frozenset({"group_id"})


async def fetch(call: Call[Any], table: ObjectTable[Obj]) -> tuple[Obj, Struct]:
    """Read one object that the caller may see, with its view."""
    row, beside = await _fetch(call, table)
    return row, table.view(row, *beside)


async def _fetch(call: Call[Any], table: ObjectTable[Obj]) -> tuple[Obj, list[Any]]:
    row = await find(call, table, call.id)
    if row is None:
        raise NotFound(f"There is no such {table.noun}.")
    beside = await _beside(call, table, [row])
    return row, beside[row.id]


async def fetch_many(
    call: Call[Any], table: ObjectTable[Any], keys: Iterable[UUID]
) -> dict[UUID, Struct]:
    """Read those of these objects that the caller may see, each with its view."""
    sql = f"{table.select_sql} WHERE tenant_id = $1 AND id = ANY($2::uuid[])"
    records = await call.pool.fetch(sql, call.principal.tenant_id, list(keys))
    rows = [table.read(record) for record in records]
    seen = [row for row in rows if call.principal.sees(*row.owners())]
    beside = await _beside(call, table, seen)
    return {row.id: table.view(row, *beside[row.id]) for row in seen}


async def find(call: Call[Any], table: ObjectTable[Obj], row_id: UUID) -> Obj | None:
    """Read an object that a request names, if it is there and the caller may see it."""
    sql = f"{table.select_sql} WHERE tenant_id = $1 AND id = $2"
    record = await call.pool.fetchrow(sql, call.principal.tenant_id, row_id)
    row = None if record is None else table.read(record)
    return row if row is not None and call.principal.sees(*row.owners()) else None


async def fetch_page(
    call: Call[Any], table: ObjectTable[Obj], owner_columns: Sequence[str] = ("owner_id",)
) -> tuple[list[Obj], list[Struct], str | None]:
    """Read one page of a collection, newest first: rows, views, the cursor of the next page."""
    query: ListQuery = call.body
    conditions, values = _conditions(call, owner_columns)
    sql = (
        f"{table.select_sql} WHERE {' AND '.join(conditions)} "
        f"ORDER BY id DESC LIMIT {query.limit + 1}"
    )
    rows = [table.read(record) for record in await call.pool.fetch(sql, *values)]
    shown = rows[: query.limit]
    beside = await _beside(call, table, shown)
    cursor = _say_cursor(shown[-1].id) if len(rows) > len(shown) else None
    return shown, [table.view(row, *beside[row.id]) for row in shown], cursor


async def fetch_transitions(call: Call[Any], table: ObjectTable[Obj]) -> TransitionsView:
    """Read the history of an object and what the caller can do with it now."""
    row, beside = await _fetch(call, table)
    records = await call.pool.fetch(_HISTORY_SQL, call.principal.tenant_id, call.id)
    actor = call.principal.actor
    steps = [one for one in table.machine.table if one.source == row.state_id and actor in one.who]
    possible = [
        PossibleStep(to_state_id=step.target, why=step.why)
        for step in steps
        if not row.unresolved() and step.unmet(call.now, row, *beside) is None
    ]
    return TransitionsView(
        state_id=row.state_id, history=[show_step(record) for record in records], possible=possible
    )


def needs_of(table: ObjectTable[Any], row_id: UUID) -> list[Need]:
    """Name an object and what is kept beside it."""
    named = [one for one in table.beside if one.of is not None]

    def follow(row: Any) -> list[Need]:
        return [Need(one.table, one.key(row)) for one in named]

    same = [Need(one.table, row_id) for one in table.beside if one.of is None]
    return [Need(table, row_id, follow), *same]


def updating(
    call: Call[Any], table: ObjectTable[Obj], changes: Callable[[Obj], dict[str, Any]]
) -> Command:
    """Make the command that changes what an object says of itself."""

    def decide(draft: Draft) -> Struct:
        old = draft.require(table, call.id)
        return draft.change(table, old, msgspec.structs.replace(old, **changes(old)), "updated")

    return Command(decide, needs=needs_of(table, call.id))


def moving(
    call: Call[Any],
    table: ObjectTable[Obj],
    changes: Callable[[Obj, str], dict[str, Any]] = lambda _, __: {},
    found_at: Whereabouts | None = None,
) -> Command:
    """Make the command that moves an object to another state, by its machine.

    `changes` gets the object and its new state, and returns what else of it changes thereby.
    Rules have a say if it is told where it stands whose matter it is.
    """
    body = call.body

    def decide(draft: Draft) -> Struct:
        old = draft.require(table, call.id)
        refuse_unresolved(table.noun, old)
        actor = draft.principal.actor
        step = table.machine.check(old.state_id, body.from_state_id, body.to_state_id, actor)
        if step.needs is not None:
            step.needs(draft.now, old, *draft.beside(table, old))
        new = msgspec.structs.replace(
            old, state_id=step.target, **merged_labels(old, body), **changes(old, step.target)
        )
        reason = body.reason
        if found_at is not None:
            verdict = draft.judge(table, old, Step(old.state_id, step.target))
            verdict.refuse_to_wait(f"a move to {step.target}")
            new, reason = verdict.label(new), verdict.explain(reason)
        return draft.change(table, old, new, step.target.lower(), reason)

    matter = None if found_at is None else Matter(f"{table.noun}.transition", found_at=found_at)
    return Command(decide, needs=needs_of(table, call.id), matter=matter)


def merged_labels(row: ObjectRow, body: Any) -> dict[str, Any]:
    """Return the labels of an object united with those that a move brings."""
    tags = list(dict.fromkeys([*row.tags, *(body.tags or ())]))
    annotations = {**row.annotations, **(body.annotations or {})}
    refuse_too_many(tags, annotations)
    return {"tags": tags, "annotations": annotations}


def refuse_unresolved(noun: str, row: ObjectRow) -> None:
    """Keep an object where it is while something has to be resolved first."""
    if open_ones := row.unresolved():
        raise RequirementsUnresolved(
            f"The {noun} stays in {row.state_id} until its requirements are resolved: "
            f"{', '.join(open_ones)}.",
            currentStateId=row.state_id,
            allowedStateIds=[],
        )


def refuse_too_many(tags: list[str], annotations: dict[str, str]) -> None:
    """Keep what a move adds from growing past what an object may carry."""
    faults = [
        Fault(f"/{name}", "too_many", f"The object would have more than {MOST_LABELS} {name}.")
        for name, labels in (("tags", tags), ("annotations", annotations))
        if len(labels) > MOST_LABELS
    ]
    if faults:
        raise ValidationFailed(faults)


def replaced(body: Struct, *fields: str) -> dict[str, Any]:
    """Return the fields that an update names; the others stay as they are."""
    given = {name: getattr(body, name) for name in fields}
    return {name: value for name, value in given.items() if value is not None}


def _conditions(call: Call[Any], owner_columns: Sequence[str]) -> tuple[list[str], list[Any]]:
    conditions: list[str] = ["tenant_id = $1"]
    values: list[Any] = [call.principal.tenant_id]

    def add(condition: str, value: object) -> None:
        values.append(value)
        conditions.append(condition.format(f"${len(values)}"))

    owned = " OR ".join(f"{column} = {{0}}" for column in owner_columns)
    if call.principal.grant is Grant.CUSTOMER_TOKEN:
        add(f"({owned})", call.principal.customer_id)
    for name in call.body.__struct_fields__:
        value = getattr(call.body, name)
        if name == "owner_id" and value is not None:
            add(f"({owned})", _value(name, value))
        elif value is not None and name not in _NO_FILTERS:
            add(_CONDITIONS.get(name, f"{name} = {{}}"), _value(name, value))
    for name, value in call.annotations:
        add("annotations <> '{{}}' AND annotations @> {}", {name: value})
    return conditions, values


def _value(name: str, value: Any) -> Any:
    if name == "cursor":
        return ids.of_bytes(base64.urlsafe_b64decode(value + "=="))
    if name == "tag":
        return [value]
    if name.endswith("_id") and "/" in value and name not in _NO_IDENTIFIERS:
        return ids.take(value)
    return value


def _say_cursor(row_id: UUID) -> str:
    return base64.urlsafe_b64encode(row_id.bytes).decode().rstrip("=")


async def _beside(
    call: Call[Any], table: ObjectTable[Any], rows: Sequence[Any]
) -> dict[UUID, list[Any]]:
    """Read the rows beside each object, in the order in which the view takes them."""
    found: dict[UUID, list[Any]] = {row.id: [] for row in rows}
    for one in table.beside:
        keys = list({one.key(row) for row in rows})
        sql = f"{one.table.select_sql} WHERE tenant_id = $1 AND id = ANY($2::uuid[])"
        records = await call.pool.fetch(sql, call.principal.tenant_id, keys)
        by_id = {record["id"]: one.table.read(record) for record in records}
        for row in rows:
            found[row.id].append(by_id[one.key(row)])
    return found


def show_step(record: Any) -> StepView:
    """Show a step of an object's history."""
    return StepView(
        from_state_id=record["source"],
        to_state_id=record["target"],
        actor=record["actor"],
        by=record["principal"],
        reason=record["reason"],
        request_id=record["request_id"],
        created_at=say_time(record["created_at"]),
    )
