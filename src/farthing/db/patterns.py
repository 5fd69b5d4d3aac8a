"""The operations that every object has by the same pattern."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from farthing.core.actors import Grant
from farthing.core.operation import Operation
from farthing.core.wire import ListQuery, Page, TransitionsView
from farthing.db import objects
from farthing.db.calls import Call
from farthing.db.tables import ObjectTable


@dataclass(frozen=True)
class Include:
    """What a query can ask for beside an object: the query of a single one, and what adds it."""

    query: type[Struct]
    add: Callable[[Call[Any], Sequence[Any], Sequence[Struct]], Awaitable[Sequence[Struct]]]


def reading(
    table: ObjectTable[Any],
    *,
    path: str,
    who: frozenset[Grant],
    query: type[ListQuery],
    page: type[Page],
    view: type[Struct],
    owner_columns: Sequence[str] = ("owner_id",),
    include: Include | None = None,
) -> tuple[Operation, ...]:
    """Return the three ways to read: the collection, one object, and its history."""
    plural = path.rpartition("/")[2]
    name = table.noun.replace("_", " ")

    async def read_page(call: Call[Any]) -> Struct:
        rows, results, cursor = await objects.fetch_page(call, table, owner_columns)
        if include is not None:
            results = list(await include.add(call, rows, results))
        return page(results=results, next_cursor=cursor)  # type: ignore[call-arg]  # each page has results

    async def read_one(call: Call[Any]) -> Struct:
        row, view = await objects.fetch(call, table)
        return view if include is None else (await include.add(call, [row], [view]))[0]

    async def read_transitions(call: Call[Any]) -> Struct:
        return await objects.fetch_transitions(call, table)

    return (
        Operation(
            id=f"{plural}.list",
            method="GET",
            path=path,
            summary=f"List {name}s, newest first",
            who=who,
            read=read_page,
            query=query,
            answer=page,
        ),
        Operation(
            id=f"{plural}.get",
            method="GET",
            path=f"{path}/{{id}}",
            summary=f"Read one {name}",
            who=who,
            read=read_one,
            noun=table.noun,
            query=None if include is None else include.query,
            answer=view,
        ),
        Operation(
            id=f"{plural}.transitions",
            method="GET",
            path=f"{path}/{{id}}/transitions",
            summary=f"Read the history of one {name} and its possible next states",
            who=who,
            read=read_transitions,
            noun=table.noun,
            answer=TransitionsView,
        ),
    )
