"""Rules of which a test says what they want, in the place of those of a tenant."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import httpx2
import msgspec

from farthing.core import ids
from farthing.core.actors import Grant, Principal
from farthing.core.errors import RefusedByRule
from farthing.core.ids import new_id
from farthing.core.rows import ObjectRow
from farthing.db.commands import Command, Context
from farthing.db.draft import Draft
from farthing.db.hearings import FREE, Matter, Step, Verdict
from farthing.db.pool import Connection
from farthing.db.tables import ObjectTable
from farthing.http.service import Service
from farthing.resources.approvals.actions import ask
from farthing.resources.customers import actions as customers
from farthing.resources.customers.model import Customer

RULE = new_id()
REASON = "The rule of the test wants it."
LIFETIME = timedelta(hours=1)


@dataclass(frozen=True)
class Wish:
    """What the rules want of an object."""

    verdict: Verdict = FREE
    approval: bool = False
    four_eyes: bool = False
    lifetime: timedelta = LIFETIME
    refusal: str | None = None


@dataclass
class Bench:
    """A shelf, its only book and its only hearing: it does as it is told."""

    # By what is judged, such as card.create.
    wants: dict[str, Wish] = field(default_factory=dict)
    judged: list[tuple[str, Step | None]] = field(default_factory=list)
    # What was brought before it, with whose matter it is, as the database says.
    matters: list[tuple[str, UUID | None, str | None]] = field(default_factory=list)
    version: int = 0
    size: int = 0

    def clear(self) -> None:
        """Want nothing any more, and forget what was heard."""
        self.wants.clear()
        self.judged.clear()
        self.matters.clear()

    async def book(self, _: UUID) -> "Bench":
        return self

    def forget(self, _: UUID) -> None:
        """Know nothing by heart."""

    def open(self, _: UUID, __: datetime) -> "Bench":
        return self

    def keep(self, _: Any, __: int, ___: int) -> None:
        """Remember nothing."""

    def doubt(self) -> None:
        """Rely on nothing."""

    async def prepare(self, connection: Connection, matters: Sequence[Any]) -> Sequence[Any]:
        for one in matters:
            self.matters.append(await _whose(connection, one[-1]))
        return ()

    async def withdraw(self, _: Connection) -> None:
        """Begin nothing."""

    @property
    def relies_on(self) -> int | None:
        return None

    def settle(self, _: Draft) -> None:
        """Count nothing."""

    def find(self, _: Draft, __: str, ___: Any, ____: Step | None) -> Sequence[Any]:
        """Say nothing that nobody wanted."""
        return ()

    def judge(
        self, draft: Draft, table: ObjectTable[Any], row: ObjectRow, step: Step | None
    ) -> Verdict:
        # Rules see an object as callers do.
        table.view(row, *draft.beside(table, row))
        trigger = f"{table.noun}.{'create' if step is None else 'transition'}"
        self.judged.append((trigger, step))
        wish = self.wants.get(trigger, Wish())
        verdict = wish.verdict
        if wish.refusal is not None:
            raise RefusedByRule(wish.refusal, ruleId=ids.say("rule", RULE))
        if wish.approval:
            how = {"four_eyes": wish.four_eyes, "lifetime": wish.lifetime, "message": "Is it so?"}
            approval_id = new_id()
            ask(draft, approval_id, RULE, table.noun, row.id, **how)  # type: ignore[arg-type]  # each has its type
            verdict = msgspec.structs.replace(verdict, approval_id=approval_id, reason=REASON)
        return verdict


async def _whose(connection: Connection, matter: Matter) -> tuple[str, UUID | None, str | None]:
    where = matter.found_at
    if where is None:
        return matter.on, matter.owner_id, matter.currency
    sql = f"SELECT {where.owner}, {where.currency} FROM {where.table.name} WHERE id = $1"  # noqa: S608 - our own names
    record = await connection.fetchrow(sql, where.id)
    return (matter.on, None, None) if record is None else (matter.on, record[0], record[1])


async def new_approval(service: Service, tenant_id: UUID) -> str:
    """Take a customer whom somebody has to approve first, and return the approval."""
    approval_id, customer_id = new_id(), new_id()

    def decide(draft: Draft) -> Any:
        how = {"four_eyes": False, "lifetime": LIFETIME, "message": "Do we know them?"}
        ask(draft, approval_id, RULE, "customer", customer_id, **how)  # type: ignore[arg-type]  # each has its type
        customer = Customer(
            tenant_id=tenant_id,
            id=customer_id,
            version=1,
            created_at=draft.now,
            updated_at=draft.now,
            state_id="PENDING",
            tags=[],
            annotations={},
            type="INDIVIDUAL",
            name="Ada Lovelace",
            email=None,
            phone=None,
            address=None,
            approval_id=approval_id,
        )
        return customers.add(draft, customer, "Somebody has to approve it.")

    context = Context(Principal(tenant_id, Grant.API_KEY), "req-earlier-example")
    answer = await service.committer.submit(context, Command(decide, status=201))
    assert answer.status == httpx2.codes.CREATED
    return ids.say("approval", approval_id)
