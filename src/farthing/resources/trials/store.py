"""How backtests are kept, and how what has passed is read once more."""

import functools
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
from msgspec import Meta, Struct

from farthing.core import ids, validation
from farthing.core.actors import Actor, Grant, Principal
from farthing.core.errors import Fault, ValidationFailed
from farthing.core.expressions import INT, Type, Window
from farthing.core.expressions.limits import LEAST_INT, MOST_INT
from farthing.core.fields import MOST_LABELS
from farthing.core.money import AMOUNT_PATTERN, CURRENCIES
from farthing.core.wire import Request
from farthing.db.checks import Check
from farthing.db.commands import Rows
from farthing.db.due import Due
from farthing.db.pool import Connection, Pool
from farthing.db.tables import ObjectTable
from farthing.resources.customers.store import CUSTOMERS
from farthing.resources.rules.store import TABLES, type_of_object
from farthing.resources.tallies.store import list_sql
from farthing.resources.transactions.model import Transaction
from farthing.resources.transactions.store import TRANSACTIONS
from farthing.resources.trials import model
from farthing.resources.trials.model import Backtest, Mark

BACKTESTS: Final = ObjectTable(
    "backtests", Backtest, rank=8, machine=model.MACHINE, view=model.view
)
DUE: Final = Due(BACKTESTS, "due_at", "due_at IS NOT NULL")

CHECKS: Final = (
    Check(
        "Every backtest that is running falls due, and no other does.",
        """
        SELECT tenant_id, id, state_id, due_at FROM backtests
        WHERE (state_id = 'RUNNING') <> (due_at IS NOT NULL)
        """,
    ),
    Check(
        "No backtest has found more than it has gone through.",
        """
        SELECT tenant_id, id, total, processed, matched, failed FROM backtests
        WHERE matched + failed > processed OR processed > total
           OR (state_id = 'DONE' AND processed IS DISTINCT FROM total)
        """,
    ),
)

# No time can be said before it.
_FIRST: Final = datetime(1, 1, 1, tzinfo=UTC)
CHUNK: Final = 500

_RUNNING: Final = "SELECT count(*) FROM backtests WHERE tenant_id = $1 AND due_at IS NOT NULL"
# Who made it is the first line of its history.
_PERIOD: Final = (
    "FROM transactions AS t WHERE t.tenant_id = $1 AND t.created_at >= $2 AND t.created_at < $3"
)
_COUNT: Final = f"SELECT count(*) {_PERIOD}"
_MADE: Final = f"""
SELECT h.actor, h.principal, {", ".join(f"t.{name}" for name in TRANSACTIONS.columns)}
FROM (SELECT * {_PERIOD}) AS t
JOIN history AS h ON h.tenant_id = t.tenant_id AND h.object_id = t.id AND h.source IS NULL
ORDER BY t.created_at, t.id
"""  # noqa: S608 - our own names
# It is sorted before anything of it is read.
_PATIENCE: Final = "SET LOCAL statement_timeout = '5min'"

_AMOUNT: Final = re.compile(AMOUNT_PATTERN)
_PLAIN: Final[dict[str, Any]] = {
    "string": str,
    "bool": bool,
    "int": Annotated[int, Meta(ge=LEAST_INT, le=MOST_INT)],
}


class Made(Struct, frozen=True):
    """A transaction as it was when it was made, and by whom that was."""

    tx: Transaction
    principal: Principal


class Past:
    """What was made of a tenant within a period, as it is known at one moment."""

    def __init__(self, connection: Connection, backtest: Backtest) -> None:
        self._connection = connection
        self._tenant_id = backtest.tenant_id
        self._begin, self._until = backtest.begin, backtest.until

    async def total(self) -> int:
        """Count the transactions."""
        values = (self._tenant_id, self._begin, self._until)
        return int(await self._connection.fetchval(_COUNT, *values))

    async def transactions(self) -> AsyncIterator[list[Made]]:
        """Yield the transactions in the order in which they were made, chunk by chunk."""
        cursor = await self._connection.cursor(_MADE, self._tenant_id, self._begin, self._until)
        while records := await cursor.fetch(CHUNK):
            yield [self._made(record) for record in records]

    async def marks(self, windows: Sequence[Window]) -> AsyncIterator[Mark]:
        """Yield whatever can be inside of a window, in the order in which it was made."""
        if not windows:
            return
        lead = timedelta(seconds=max(window.seconds for window in windows))
        sql = list_sql(sorted({window.what for window in windows}))
        after = self._begin - lead if self._begin - _FIRST > lead else _FIRST
        values = (self._tenant_id, after, self._until)
        cursor = await self._connection.cursor(sql, *values)
        while records := await cursor.fetch(CHUNK):
            for record in records:
                yield Mark(*record)

    def _made(self, record: Any) -> Made:
        actor, name, *columns = record
        tx = TRANSACTIONS.read(columns)
        born = {"state_id": "PENDING", "updated_at": tx.created_at, "version": 1}
        tx = msgspec.structs.replace(tx, **born, requirements={}, adjustments=[])
        return Made(tx, _principal(self._tenant_id, actor, name))


@asynccontextmanager
async def look_back(pool: Pool, backtest: Backtest) -> AsyncIterator[Past]:
    """Look at everything that was there at one and the same moment."""
    async with (
        pool.acquire() as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        await connection.execute(_PATIENCE)
        yield Past(connection, backtest)


async def fetch_customers(pool: Pool, tenant_id: UUID, keys: Iterable[UUID]) -> Rows:
    """Read customers as they are today, with what is kept beside them."""
    wanted = list(set(keys))
    found: Rows = {}
    for table in (CUSTOMERS, *(one.table for one in CUSTOMERS.beside)):
        records = await pool.fetch(table.look_sql, tenant_id, wanted)
        rows = [table.read(record) for record in records]
        found.update(((table, row.id), row) for row in rows)
    return found


async def count_running(pool: Pool, tenant_id: UUID) -> int:
    """Count the backtests of a tenant that are not over."""
    return int(await pool.fetchval(_RUNNING, tenant_id))


def _principal(tenant_id: UUID, actor: str, name: str) -> Principal:
    """Return whoever a line of history names."""
    customer_id = ids.read("customer", name)
    if customer_id is None:
        return Principal(tenant_id, Grant(name))
    is_customer = actor == Actor.CUSTOMER
    grant = Grant.CUSTOMER_TOKEN if is_customer else Grant.CLIENT_TOKEN
    return Principal(tenant_id, grant, customer_id)


@functools.cache
def given_object(noun: str) -> type[Struct]:
    """Return the form in which somebody describes an object: what rules see of it, all optional."""
    made: type[Struct] = _form(type_of_object(noun), f"Given{noun}")
    return made


def _form(of: Type, name: str) -> Any:
    if of.kind == "list":
        return Annotated[list[_form(of.element, name)], Meta(max_length=MOST_LABELS)]  # type: ignore[misc]  # made at run time
    if of.kind == "map":
        return Annotated[dict[str, _form(of.element, name)], Meta(max_length=MOST_LABELS)]  # type: ignore[misc]  # made at run time
    if of.kind != "record":
        return _PLAIN[of.kind]
    fields = [(one, _form(inner, f"{name}_{one}") | None, None) for one, inner in of.fields.items()]
    return msgspec.defstruct(
        name, fields, bases=(Request,), frozen=True, kw_only=True, omit_defaults=True
    )


def read_object(noun: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return what rules see of an object that somebody describes; raise all that is wrong."""
    kinds = type_of_object(noun).fields
    amounts = {name for name, kind in kinds.items() if kind == INT}
    try:
        form = validation.parse(
            given_object(noun),
            {name: _number(one) if name in amounts else one for name, one in given.items()},
        )
    except ValidationFailed as wrong:
        faults = [
            msgspec.structs.replace(one, pointer=f"/object{one.pointer}") for one in wrong.faults
        ]
        raise ValidationFailed(faults) from None
    always = {"stateId": TABLES[noun].machine.initial, "tags": [], "annotations": {}}
    seen: dict[str, Any] = always | msgspec.to_builtins(form)
    if noun == TRANSACTIONS.noun and seen.get("currencyISO") not in CURRENCIES:
        detail = "Must be a currency of ISO 4217 in capitals, such as GBP."
        raise ValidationFailed([Fault("/object/currencyISO", "invalid_value", detail)])
    return seen


def _number(value: Any) -> Any:
    """Read an amount as callers write it."""
    return int(value) if isinstance(value, str) and _AMOUNT.fullmatch(value) else value
