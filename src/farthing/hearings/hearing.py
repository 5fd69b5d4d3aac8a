"""One hearing: what a batch asks of the rules of its tenant."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from farthing.core.actors import Principal
from farthing.core.expressions import Failure
from farthing.core.rows import ObjectRow
from farthing.db.commands import Need
from farthing.db.draft import Draft
from farthing.db.hearings import FREE, Matter, Step, Verdict, Whereabouts
from farthing.db.pool import Connection
from farthing.db.tables import Along, ObjectTable, Table
from farthing.resources.customers.store import CUSTOMERS, STANDINGS
from farthing.resources.rules.actions import apply
from farthing.resources.rules.model import Finding
from farthing.resources.rules.store import TABLES, Described, Facts, owner_of, parties_of
from farthing.resources.tallies.actions import Counters
from farthing.resources.tallies.model import FLOWS, Span, Subject

if TYPE_CHECKING:
    from farthing.hearings.books import Affair, Chapter, Key, RuleBook, Whose

_MOST_FOUND: Final = 50_000
_TRANSACTION: Final = "transaction"
_TRIGGERS: Final = {
    table: (noun, f"{noun}.create", f"{noun}.transition") for noun, table in TABLES.items()
}
# Some of what is shown of a customer is kept beside it.
_STANDING: Final = Along(STANDINGS, "id")


class RuleHearing:
    """What one batch asks of the rules of its tenant."""

    def __init__(self, book: "RuleBook", tenant_id: UUID, now: datetime) -> None:
        self._book = book
        self._tenant_id = tenant_id
        self._now = now
        self._counters = Counters(tenant_id, now, book.memory)

    @property
    def relies_on(self) -> int | None:
        """The position at which the tenant's log must have ended, if the hearing relies on that."""
        return self._counters.relies_on

    def keep(self, before: int, position: int) -> None:
        """Remember what was found out, once it is durable."""
        self._counters.keep(before, position)

    async def prepare(
        self, connection: Connection, matters: Sequence[tuple[Principal, Matter]]
    ) -> Sequence[Need]:
        """Find out whose matters these are, lock their tallies, and name their customers."""
        needs: list[Need] = []
        subjects: dict[UUID, Subject] = {}
        spans: set[Span] = set()
        found = await self._find_owners(connection, matters)
        for principal, matter in matters:
            owner_id, currency = matter.owner_id, matter.currency
            if matter.found_at is not None:
                owner_id, currency = found.get(matter.found_at.id, (None, None))
            if owner_id is None:
                # What is not there is nobody's, and will be refused.
                continue
            affair = self._book.affair((matter.on, matter.counts, owner_id, currency))
            subjects.update(affair.subjects)
            spans.update(affair.spans.values())
            if matter.on in self._book.on_parties:
                named = set(parties_of(principal, owner_id).values())
                needs += [Need(CUSTOMERS, one, locked=False, along=_STANDING) for one in named]
        if subjects:
            await self._counters.look(connection, subjects, spans)
        return needs

    async def withdraw(self, connection: Connection) -> None:
        """Take back what was begun, because nothing of this batch will be in the log."""
        await self._counters.withdraw(connection)

    def judge(
        self, draft: Draft, table: ObjectTable[Any], row: ObjectRow, step: Step | None
    ) -> Verdict:
        """Judge an object that is to be made or moved, and count it if it is made."""
        noun, create, transition = _TRIGGERS[table]
        trigger = create if step is None else transition
        chapter, affair = self._book.chapters.get(trigger), self._affair(trigger, noun, row)
        met: list[Finding] = []
        if chapter is not None:
            values = self._evaluate(draft, chapter, affair, noun, row, step)
            if values:
                rules = chapter.rules
                met = [Finding(rules[place], one) for place, one in values if one is not False]
        # Before it can be refused: money that has come is there nevertheless.
        for least, tally_id in affair.counted:
            amount = getattr(row, "amount", 0)
            if amount >= least:
                self._counters.count(draft, tally_id, amount)
        return apply(draft, noun, row, met) if met else FREE

    def find(
        self, draft: Draft, trigger: str, row: ObjectRow | Described, step: Step | None = None
    ) -> list[Finding]:
        """Return what each rule on a trigger says of an object."""
        chapter = self._book.chapters.get(trigger)
        if chapter is None:
            return []
        noun = trigger.partition(".")[0]
        affair = self._affair(trigger, noun, row)
        values = dict(self._evaluate(draft, chapter, affair, noun, row, step))
        return [Finding(rule, values.get(n, False)) for n, rule in enumerate(chapter.rules)]

    def settle(self, draft: Draft) -> None:
        """Take over what a command has counted, for those that come after it."""
        self._counters.settle(draft)

    def _affair(self, trigger: str, noun: str, row: Any) -> "Affair":
        if noun == _TRANSACTION and not isinstance(row, Described):
            key: Key = (trigger, FLOWS[row.flow], owner_of(noun, row), row.currency)
        else:
            key = (trigger, None, owner_of(noun, row), getattr(row, "currency", None))
        return self._book.affair(key)

    def _evaluate(
        self,
        draft: Draft,
        chapter: "Chapter",
        affair: "Affair",
        noun: str,
        row: ObjectRow | Described,
        step: Step | None,
    ) -> Iterable[tuple[int, bool | Failure]]:
        """Return the value of each rule that is not surely false, by its place."""
        parties: dict[str, UUID] = {}
        if chapter.needs_parties:
            parties = parties_of(draft.principal, owner_of(noun, row))
        measure = self._counters.measuring(draft, affair.spans)
        # Of most nothing is left at a glance, and then nobody needs all the facts. Of something
        # that is only described nothing can be seen at a glance.
        facts = Facts(draft, noun, row, step, parties) if parties else None
        chosen = chapter.everything
        if not isinstance(row, Described):
            chosen = tuple(chapter.sift(facts or draft, row, measure))
            if not chosen:
                return ()
        facts = facts or Facts(draft, noun, row, step, parties)
        program = chapter.program(chosen)
        windows = {one: one.choose(*measure(one.series)) for one in program.windows}
        return zip(chosen, program.evaluate(facts.read(program.reads), windows), strict=True)

    async def _find_owners(
        self, connection: Connection, matters: Sequence[tuple[Principal, Matter]]
    ) -> "dict[UUID, Whose]":
        """Tell whose matters these are, where the request does not say it."""
        found = self._book.found
        if len(found) > _MOST_FOUND:
            found.clear()
        unknown = {
            matter.found_at
            for _, matter in matters
            if matter.found_at is not None and matter.found_at.id not in found
        }
        if unknown:
            found |= await _look_up(connection, self._tenant_id, unknown)
        return found


async def _look_up(
    connection: Connection, tenant_id: UUID, places: Iterable[Whereabouts]
) -> "dict[UUID, Whose]":
    """Read what never changes, so that it needs no lock."""
    alike: defaultdict[tuple[Table[Any], str, str], list[UUID]] = defaultdict(list)
    for one in places:
        alike[one.table, one.owner, one.currency].append(one.id)
    found = {}
    for (table, owner, currency), wanted in alike.items():
        sql = f"SELECT id, {owner}, {currency} FROM {table.name} WHERE tenant_id = $1 AND id = ANY($2)"  # noqa: S608, E501 - our own names
        for record in await connection.fetch(sql, tenant_id, wanted):
            found[record[0]] = (record[1], record[2])
    return found
