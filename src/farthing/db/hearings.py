"""Where rules are heard: between what a command sees and what it decides.

The commit path knows that there are rules, but not what they say. For each batch it asks a book
for a hearing: that names what it must see too, and then judges object by object.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Protocol, TypeVar
from uuid import UUID

import msgspec
from msgspec import Struct

from farthing.core import ids
from farthing.core.actors import Principal
from farthing.core.errors import RefusedByRule
from farthing.core.fields import MOST_LABELS
from farthing.core.rows import ObjectRow
from farthing.db.pool import Connection
from farthing.db.tables import ObjectTable, Table

Obj = TypeVar("Obj", bound=ObjectRow)


class Whereabouts(Struct, frozen=True):
    """Where it stands whose matter a command is, if the request does not say it.

    The columns are SQL over one row, and hold what never changes: an owner and a currency.
    """

    table: Table[Any]
    id: UUID
    owner: str = "owner_id"
    currency: str = "NULL::text"


class Matter(Struct, frozen=True):
    """What a command brings before the rules, known before anything is locked."""

    # Such as `transaction.create`.
    on: str
    # The customer whose history counts, and the currency of its sums.
    owner_id: UUID | None = None
    currency: str | None = None
    found_at: Whereabouts | None = None
    # What is counted if an object comes of it; without it, whatever the trigger says.
    counts: str | None = None


class Step(Struct, frozen=True):
    """A move that somebody asks for."""

    source: str
    target: str
    amount: int = 0


class Verdict(Struct, frozen=True):
    """What the rules want of an object that they do not refuse."""

    tags: tuple[str, ...] = ()
    annotations: Mapping[str, str] = {}
    # It is to be kept from going on until somebody releases it.
    hold: bool = False
    # One of them could not be asked, so that nobody knows whether it would have let this pass.
    failed: bool = False
    # The approval that it waits for.
    approval_id: UUID | None = None
    # The first rule that lets it wait.
    rule_id: UUID | None = None
    # Which rules said so, for the object's history.
    reason: str | None = None

    def label(self, row: Obj) -> Obj:
        """Return an object with the labels that rules give it, as far as there is room."""
        if not self.tags and not self.annotations:
            return row
        tags = list(dict.fromkeys([*row.tags, *self.tags]))[:MOST_LABELS]
        merged = {**row.annotations, **self.annotations}
        annotations = dict(list(merged.items())[:MOST_LABELS])
        return msgspec.structs.replace(row, tags=tags, annotations=annotations)

    def explain(self, reason: str | None) -> str | None:
        """Return a reason with what the rules said."""
        return " ".join(one for one in (reason, self.reason) if one) or None

    @property
    def requirements(self) -> dict[str, str]:
        """What has to be resolved before the object goes on."""
        key = self.approval_id
        return {} if key is None else {"approval": ids.say("approval", key)}

    def refuse_to_wait(self, what: str) -> None:
        """Refuse what the rules let wait although it cannot."""
        if self.hold or self.approval_id is not None:
            raise self.refusal(what)

    def refusal(self, what: str) -> RefusedByRule:
        """Say that the rules let something wait that cannot."""
        said = f" {self.reason}" if self.reason else ""
        named = {} if self.rule_id is None else {"ruleId": ids.say("rule", self.rule_id)}
        return RefusedByRule(f"A rule lets this wait, and {what} cannot wait.{said}", **named)


FREE: Final = Verdict()


class Hearing(Protocol):
    """What one batch asks of the rules of its tenant."""

    async def prepare(
        self, connection: Connection, matters: Sequence[tuple[Principal, Matter]]
    ) -> Sequence[Any]:
        """Return what must be seen so that these matters can be judged.

        These are needs, none of which locks a row. Whatever a hearing locks by itself it locks
        here, before any row is locked, so that no two batches wait for each other, and rows are
        locked no longer than without rules.
        """

    async def withdraw(self, connection: Connection) -> None:
        """Take back what was begun, because nothing of this batch will be in the log."""

    @property
    def relies_on(self) -> int | None:
        """The position at which the tenant's log must have ended, if the hearing relies on that."""

    def judge(
        self, draft: Any, table: ObjectTable[Any], row: ObjectRow, step: Step | None
    ) -> Verdict:
        """Judge an object that is to be made or moved; raise the Problem that refuses it."""

    def settle(self, draft: Any) -> None:
        """Take over what a command has decided, for those that come after it."""

    def find(self, draft: Any, trigger: str, row: Any, step: Step | None) -> Sequence[Any]:
        """Return what each rule on a trigger says of an object, and do nothing about it."""


class Book(Protocol):
    """The rules of one tenant, in the version in which they were read."""

    @property
    def version(self) -> int:
        """Counted up whenever the rules of the tenant change."""

    @property
    def size(self) -> int:
        """How many rules are enabled."""

    def open(self, tenant_id: UUID, now: datetime) -> Hearing | None:
        """Return a hearing for one batch; None if nothing is to be judged at all."""

    def keep(self, hearing: Any, before: int, position: int) -> None:
        """Learn that a batch, heard or not, has taken the log from one position to another."""

    def doubt(self) -> None:
        """Rely no longer on nobody else's writing to the log."""


class Shelf(Protocol):
    """Where the books of all tenants are."""

    async def book(self, tenant_id: UUID) -> Book:
        """Return the rules of a tenant as they were last known."""

    def forget(self, tenant_id: UUID) -> None:
        """Read the rules of a tenant anew when they are next asked for."""


class _EmptyBook:
    version = size = 0

    def open(self, _: UUID, __: datetime) -> None:
        return None

    def keep(self, _: Any, __: int, ___: int) -> None:
        return None

    def doubt(self) -> None:
        return None


class EmptyShelf:
    """For whoever does nothing on which there could be rules; a tenant with rules refuses it."""

    async def book(self, _: UUID) -> Book:
        """Return a book without rules."""
        return _EmptyBook()

    def forget(self, _: UUID) -> None:
        """Know nothing that could be forgotten."""


class RulesChanged(Exception):
    """The tenant's rules were changed while a batch was decided by the old ones."""


class LogMoved(Exception):
    """Somebody else counts, or wrote to the tenant's log, although a batch relied on nobody's."""
