"""How backtests are kept, and how what has passed is read once more."""

import functools
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
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
from farthing.db.pool import Pool
from farthing.db.tables import ObjectTable
from farthing.resources.customers.store import CUSTOMERS
from farthing.resources.events.store import find_last_before
from farthing.resources.rules.store import TABLES, owner_of, type_of_object
from farthing.resources.tallies.model import FLOWS, NOUNS
from farthing.resources.tallies.store import owners_sql
from farthing.resources.transactions.model import Transaction
from farthing.resources.transactions.store import TRANSACTIONS
from farthing.resources.trials import model
from farthing.resources.trials.model import REPLAYED, Backtest, Mark

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
# How much of the log one statement looks through, and how much if it only counts, so that none
# takes long.
STRETCH: Final = 2_000
_COUNTED_AT_ONCE: Final = 100_000

_RUNNING: Final = "SELECT count(*) FROM backtests WHERE tenant_id = $1 AND due_at IS NOT NULL"
_LOG: Final = "FROM events WHERE tenant_id = $1 AND position > $2 AND position <= $3"
_COUNT: Final = f"SELECT count(*) {_LOG} AND type = '{REPLAYED}d'"
_MADE: Final = (
    f"SELECT position, created_at, noun, object_id {_LOG} AND type = ANY($4) ORDER BY position"
)
# Who made it is the first line of its history.
_TRANSACTIONS: Final = f"""
SELECT h.actor, h.principal, {", ".join(f"t.{name}" for name in TRANSACTIONS.columns)}
FROM transactions AS t
JOIN history AS h ON h.tenant_id = t.tenant_id AND h.object_id = t.id AND h.version = 1
WHERE t.tenant_id = $1 AND t.id = ANY($2)
"""  # noqa: S608 - our own names

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


class Moment(Struct, frozen=True):
    """Something that was made and counts; all of it, if it is to be judged before that."""

    mark: Mark
    made: Made | None


class Past:
    """What was made of a tenant up to the end of a period, stretch by stretch of its log.

    The log is in the order of the commits, and never goes back in time.
    """

    def __init__(self, pool: Pool, backtest: Backtest, after: int, last: int) -> None:
        self._pool = pool
        self._tenant_id, self._begin = backtest.tenant_id, backtest.begin
        # The period in the log: after one position, up to another.
        self._after, self._last = after, last

    async def total(self) -> int:
        """Count the transactions of the period."""
        counts = [
            await self._pool.fetchval(_COUNT, self._tenant_id, *ends)
            for ends in _stretches(self._after, self._last, _COUNTED_AT_ONCE)
        ]
        return sum(counts)

    async def moments(self, windows: Sequence[Window]) -> AsyncIterator[list[Moment]]:
        """Yield all that is to be judged, and what can be inside of a window before it."""
        whats = {window.what for window in windows}
        nouns = {TRANSACTIONS.noun, *(noun for noun, what in NOUNS.items() if what in whats)}
        types = [f"{noun}.created" for noun in nouns]
        for ends in _stretches(await self._lead(windows), self._last, STRETCH):
            records = await self._pool.fetch(_MADE, self._tenant_id, *ends, types)
            made = await self._find_made(_ids_of(records, TRANSACTIONS.noun))
            owners = {
                noun: await self._find_owners(NOUNS[noun], _ids_of(records, noun))
                for noun in nouns - {TRANSACTIONS.noun}
            }
            found = (self._moment(record, made, owners) for record in records)
            yield [one for one in found if one is not None]

    async def _lead(self, windows: Sequence[Window]) -> int:
        """Return the position after which it begins that can be inside of a window."""
        lead = timedelta(seconds=max((window.seconds for window in windows), default=0))
        after = self._begin - lead if self._begin - _FIRST > lead else _FIRST
        return await find_last_before(self._pool, self._tenant_id, after) if lead else self._after

    def _moment(
        self, record: Any, mades: dict[UUID, Made], owners: dict[str, Any]
    ) -> Moment | None:
        position, created_at, noun, object_id = record
        if noun != TRANSACTIONS.noun:
            owner_id = owners[noun].get(object_id)
            mark = None if owner_id is None else Mark(created_at, NOUNS[noun], owner_id, None, 0)
            return None if mark is None else Moment(mark, None)
        made = mades[object_id]
        tx, owner_id = made.tx, owner_of(noun, made.tx)
        mark = Mark(created_at, FLOWS[tx.flow], owner_id, tx.currency, tx.amount)
        return Moment(mark, made if position > self._after else None)

    async def _find_owners(self, what: str, keys: list[UUID]) -> dict[UUID, UUID]:
        records = await self._pool.fetch(owners_sql(what), self._tenant_id, keys) if keys else ()
        return {record[0]: record[1] for record in records}

    async def _find_made(self, keys: list[UUID]) -> dict[UUID, Made]:
        records = await self._pool.fetch(_TRANSACTIONS, self._tenant_id, keys) if keys else ()
        found = [self._made(record) for record in records]
        return {one.tx.id: one for one in found}

    def _made(self, record: Any) -> Made:
        actor, name, *columns = record
        tx = TRANSACTIONS.read(columns)
        born = {"state_id": "PENDING", "updated_at": tx.created_at, "version": 1}
        tx = msgspec.structs.replace(tx, **born, requirements={}, adjustments=[])
        return Made(tx, _principal(self._tenant_id, actor, name))


def _stretches(after: int, last: int, most: int) -> Iterator[tuple[int, int]]:
    """Divide a part of the log."""
    for begin in range(after, last, most):
        yield begin, min(begin + most, last)


def _ids_of(records: Iterable[Any], noun: str) -> list[UUID]:
    return [record["object_id"] for record in records if record["noun"] == noun]


async def look_back(pool: Pool, backtest: Backtest) -> Past:
    """Find the period of a backtest in the log, as far as there is one."""
    after = await find_last_before(pool, backtest.tenant_id, backtest.begin)
    return Past(
        pool, backtest, after, await find_last_before(pool, backtest.tenant_id, backtest.until)
    )


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
