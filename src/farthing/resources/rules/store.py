"""How rules are kept, and what their expressions can speak of."""

import functools
import types
import typing
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, cast
from uuid import UUID

import msgspec
from msgspec import Struct

from farthing.core import ids
from farthing.core.actors import Grant, Principal
from farthing.core.expressions import (
    BOOL,
    INT,
    STRING,
    TIMESTAMP,
    Type,
    list_of,
    map_of,
    record,
)
from farthing.db.draft import Draft
from farthing.db.hearings import Step
from farthing.db.pool import Pool
from farthing.db.tables import ObjectTable
from farthing.resources.accounts.store import ACCOUNTS
from farthing.resources.bank_accounts.store import BANK_ACCOUNTS
from farthing.resources.cards.store import CARDS
from farthing.resources.customers.model import Customer
from farthing.resources.customers.store import CUSTOMERS
from farthing.resources.references.store import REFERENCES
from farthing.resources.rules import model
from farthing.resources.rules.model import Rule
from farthing.resources.tallies.model import COUNTED, NOUNS
from farthing.resources.transactions.model import Transaction
from farthing.resources.transactions.store import TRANSACTIONS

RULES: Final = ObjectTable(
    "rules", Rule, rank=7, machine=model.MACHINE, view=model.view, governs=True
)

_TRANSACTION: Final = TRANSACTIONS.noun
_CUSTOMER: Final = CUSTOMERS.noun

# What rules are about.
TABLES: Final[dict[str, ObjectTable[Any]]] = {
    table.noun: table
    for table in (ACCOUNTS, BANK_ACCOUNTS, CARDS, CUSTOMERS, REFERENCES, TRANSACTIONS)
}
# What rules see otherwise than callers do: amounts as numbers, and some facts more.
_SEEN: Final[dict[str, dict[str, Type]]] = {
    "transaction": {
        "amount": INT,
        "currencyISO": STRING,
        "fromAccountId": STRING,
        "toAccountId": STRING,
        "targetStateId": STRING,
    },
}
_PLAIN: Final[dict[Any, Type]] = {str: STRING, int: INT, bool: BOOL}
_ACTOR: Final = record({"type": STRING, "name": STRING}, {"customerId": STRING})
_STEP: Final = record({"from": STRING, "to": STRING, "amount": INT})

_ENABLED: Final = f"""
SELECT h.rules, {", ".join(f"r.{name}" for name in RULES.columns)}
FROM (SELECT coalesce(max(rules), 0) AS rules FROM event_heads WHERE tenant_id = $1) AS h
LEFT JOIN rules AS r ON r.tenant_id = $1 AND r.state_id = 'ENABLED'
ORDER BY r.priority, r.id
"""  # noqa: S608 - our own names


async def fetch_enabled(pool: Pool, tenant_id: UUID) -> tuple[int, list[Rule]]:
    """Return the version of a tenant's rules, and those that are enabled, in their order."""
    records = await pool.fetch(_ENABLED, tenant_id)
    found = [RULES.read(one[1:]) for one in records if one["id"] is not None]
    return records[0]["rules"], found


@functools.cache
def names_of(trigger: str) -> Mapping[str, Type]:
    """Return what an expression on this trigger can speak of, each with its type."""
    noun, _, occasion = trigger.partition(".")
    named = {
        "object": type_of_object(noun),
        "owner": type_of_object("customer"),
        "customer": type_of_object("customer"),
        "actor": _ACTOR,
        "now": TIMESTAMP,
    }
    return {**named, "step": _STEP} if occasion == "transition" else named


@functools.cache
def type_of_object(noun: str) -> Type:
    """Return what rules see of an object: what callers see of it, and some facts more."""
    seen = _type_of(TABLES[noun].shown)
    more = _SEEN.get(noun, {})
    return record({**seen.fields, **more}, {one: seen.fields[one] for one in seen.optional})


def _type_of(annotation: Any) -> Type:
    """Translate the type of a view, which has but few kinds of fields."""
    origin, inside = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in {typing.Annotated, types.UnionType, typing.Union}:
        return _type_of(inside[0])
    if origin is typing.Literal:
        return STRING
    if origin is list:
        return list_of(_type_of(inside[0]))
    if origin is dict:
        return map_of(_type_of(inside[1]))
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return _type_of_struct(annotation)
    return _PLAIN[annotation]


def _type_of_struct(struct: type[Struct]) -> Type:
    hints = typing.get_type_hints(struct)
    names = dict(zip(struct.__struct_fields__, struct.__struct_encode_fields__, strict=True))
    fields = {names[one]: _type_of(hints[one]) for one in names}
    may_miss = [names[one] for one in names if types.NoneType in typing.get_args(hints[one])]
    return record(fields, {one: fields[one] for one in may_miss})


def counted_on(trigger: str) -> tuple[str, ...]:
    """Return what can be counted on a trigger: amounts only where there is a currency."""
    return COUNTED if trigger.startswith(TRANSACTIONS.noun) else tuple(NOUNS.values())


class Described(Struct, frozen=True):
    """An object that is not there, but could be: what rules would see of it."""

    owner_id: UUID
    currency: str | None
    fields: dict[str, Any]


def owner_of(noun: str, row: Any) -> UUID:
    """Return whose history counts: for a transaction, that of the platform's own side."""
    if isinstance(row, Described):
        return row.owner_id
    if noun == _TRANSACTION:
        found = row.to_owner_id if row.flow == "INBOUND" else row.from_owner_id
    else:
        found = row.tenant_id if noun == _CUSTOMER else row.owner()
    return found  # type: ignore[no-any-return]  # whichever row it is, this is a customer


def parties_of(principal: Principal, owner_id: UUID) -> dict[str, UUID]:
    """Return the owner, and the customer who asks: the owner again, for whom the client does."""
    is_customer = principal.grant is Grant.CUSTOMER_TOKEN
    asking = principal.customer_id or owner_id if is_customer else owner_id
    return {"owner": owner_id, "customer": asking}


# What rules read of transactions most, without making all that callers see of them.
_READ: Final[dict[str, Callable[[Transaction], Any]]] = {
    "amount": lambda tx: tx.amount,
    "annotations": lambda tx: tx.annotations,
    "currencyISO": lambda tx: tx.currency,
    "flow": lambda tx: tx.flow,
    "fromAccountId": lambda tx: ids.say("account", tx.from_account_id),
    "fromOwnerId": lambda tx: ids.say("customer", tx.from_owner_id),
    "method": lambda tx: tx.method,
    "purpose": lambda tx: tx.purpose,
    "stateId": lambda tx: tx.state_id,
    "tags": lambda tx: tx.tags,
    "targetStateId": lambda tx: tx.target_state_id,
    "toAccountId": lambda tx: ids.say("account", tx.to_account_id),
    "toOwnerId": lambda tx: ids.say("customer", tx.to_owner_id),
}


_READ_CUSTOMER: Final[dict[str, Callable[[Customer], Any]]] = {
    "annotations": lambda customer: customer.annotations,
    "id": lambda customer: ids.say("customer", customer.id),
    "name": lambda customer: customer.name,
    "stateId": lambda customer: customer.state_id,
    "tags": lambda customer: customer.tags,
    "type": lambda customer: customer.type,
}


class Facts:
    """What is known of an object while it is judged, as far as somebody asks for it."""

    def __init__(
        self,
        draft: Draft,
        noun: str,
        row: Any,
        step: Step | None,
        parties: Mapping[str, UUID],
    ) -> None:
        self._draft = draft
        self._noun = noun
        self.row = row
        self._step = step
        self._parties = parties

    @property
    def principal(self) -> Principal:
        """Who asks."""
        return self._draft.principal

    def read(self, reads: Mapping[str, frozenset[str]]) -> dict[str, Any]:
        """Return the facts of which somebody speaks."""
        return {name: _FACTS[name](self, fields) for name, fields in reads.items()}

    def object(self, fields: frozenset[str]) -> dict[str, Any]:
        """Return what is asked of the object itself."""
        if isinstance(self.row, Described):
            return self.row.fields
        if self._noun == TRANSACTIONS.noun and _READ.keys() >= fields:
            return {name: _READ[name](self.row) for name in fields}
        shown = self._show(TABLES[self._noun], self.row)
        if self._noun == TRANSACTIONS.noun:
            shown |= {name: _READ[name](self.row) for name in _SEEN[self._noun]}
        return shown

    def of_party(self, which: str, field: str) -> Any:
        """Return one field of a customer; None if there is no such customer."""
        row = self._draft.find(CUSTOMERS, self._parties[which])
        return None if row is None else _READ_CUSTOMER[field](row)

    def party(self, which: str, fields: frozenset[str]) -> dict[str, Any]:
        """Return what is asked of a customer."""
        row = self._draft.find(CUSTOMERS, self._parties[which])
        if row is None:
            return {}
        if _READ_CUSTOMER.keys() >= fields:
            return {name: _READ_CUSTOMER[name](row) for name in fields}
        return self._show(CUSTOMERS, row)

    def actor(self) -> dict[str, Any]:
        """Return who asks."""
        principal = self.principal
        named = {"type": principal.actor.value, "name": principal.name}
        customer_id = principal.customer_id
        return named if customer_id is None else named | {"customerId": principal.name}

    def now(self) -> datetime:
        """Return the tenant's time."""
        return self._draft.now

    def step(self) -> dict[str, Any]:
        """Return the move that is asked for."""
        step = self._step or Step("", "")
        return {"from": step.source, "to": step.target, "amount": step.amount}

    def _show(self, table: ObjectTable[Any], row: Any) -> dict[str, Any]:
        shown = table.view(row, *self._draft.beside(table, row))
        return cast("dict[str, Any]", msgspec.to_builtins(shown))


# What can be read at a glance of the facts about a transaction, and how.
_AT_A_GLANCE: Final = ("annotations", "stateId", "tags")
GLANCES: Final[dict[str, dict[str, str]]] = {
    "object": {
        "amount": "row.amount",
        "annotations": "row.annotations",
        "currencyISO": "row.currency",
        "flow": "row.flow",
        "method": "row.method",
        "purpose": "row.purpose",
        "stateId": "row.state_id",
        "tags": "row.tags",
        "targetStateId": "row.target_state_id",
    },
    "actor": {"type": "facts.principal.actor", "name": "facts.principal.name"},
    "owner": {field: f"facts.of_party('owner', '{field}')" for field in _AT_A_GLANCE},
    "customer": {field: f"facts.of_party('customer', '{field}')" for field in _AT_A_GLANCE},
}

_FACTS: Final[dict[str, Callable[[Facts, frozenset[str]], Any]]] = {
    "object": lambda facts, fields: facts.object(fields),
    "owner": lambda facts, fields: facts.party("owner", fields),
    "customer": lambda facts, fields: facts.party("customer", fields),
    "actor": lambda facts, _: facts.actor(),
    "now": lambda facts, _: facts.now(),
    "step": lambda facts, _: facts.step(),
}
