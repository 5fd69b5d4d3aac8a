"""How rules are heard: the books of all tenants, and the hearing of one batch.

Everything that a rule sees is what the batch has locked, or looked at once it had its locks. The
windows of `history` are measured over tallies, which whoever counts must lock, so that two requests
at once cannot both slip under a limit.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from msgspec import Struct

from farthing.core.actors import Principal
from farthing.core.expressions import Combined, Window
from farthing.core.rows import ObjectRow
from farthing.db.commands import Need
from farthing.db.draft import Draft
from farthing.db.hearings import Matter, Step, Verdict, Whereabouts
from farthing.db.pool import Connection, Pool
from farthing.db.tables import ObjectTable, Table
from farthing.resources.customers.store import CUSTOMERS
from farthing.resources.rules import store
from farthing.resources.rules.actions import apply, compile_rule
from farthing.resources.rules.model import Finding, Rule
from farthing.resources.rules.store import Described, Facts, owner_of, parties_of
from farthing.resources.tallies import store as tallies
from farthing.resources.tallies.actions import Baselines, count
from farthing.resources.tallies.model import FLOWS, NOUNS, Subject
from farthing.resources.tallies.store import TALLIES

_MOST_BOOKS: Final = 10_000
_PARTIES: Final = frozenset({"owner", "customer"})
_TRANSACTION: Final = "transaction"

# What is counted, and the least amount that counts.
Counted = tuple[str, int]


class Chapter:
    """The rules on one trigger, as one program."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self.program = Combined([compile_rule(rule) for rule in rules])
        self.needs_parties = bool(_PARTIES & self.program.reads.keys())


class RuleBook:
    """The rules of one tenant, in the version in which they were read."""

    def __init__(self, version: int, rules: Sequence[Rule]) -> None:
        self.version = version
        self.size = len(rules)
        triggers = dict.fromkeys(rule.trigger for rule in rules)
        self.chapters = {
            one: Chapter([rule for rule in rules if rule.trigger == one]) for one in triggers
        }
        # Since when each thing is counted: since the first of the rules that want it.
        self.counted: dict[Counted, int] = {}
        for rule in rules:
            for window in compile_rule(rule).windows:
                key = (window.what, window.at_least)
                self.counted[key] = min(rule.since, self.counted.get(key, rule.since))
        # Tallies that are there; it spares a question.
        self.opened: set[UUID] = set()

    def open(self, tenant_id: UUID, now: datetime) -> "RuleHearing | None":
        """Return a hearing for one batch; None if there are no rules."""
        return RuleHearing(self, tenant_id, now) if self.chapters else None

    def subject(self, key: Counted, owner_id: UUID, currency: str | None) -> Subject:
        """Return whose tally is meant."""
        of_flow = key[0] in FLOWS.values()
        return Subject(owner_id, *key, currency if of_flow else None, self.counted[key])


class RuleShelf:
    """The books of all tenants, as this process last read them.

    A book that has become old is found out by the commit that relies on it.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._books: dict[UUID, RuleBook] = {}

    async def book(self, tenant_id: UUID) -> RuleBook:
        """Return the rules of a tenant as they were last known."""
        found = self._books.get(tenant_id)
        if found is None:
            if len(self._books) >= _MOST_BOOKS:
                self._books.clear()
            found = RuleBook(*await store.fetch_enabled(self._pool, tenant_id))
            self._books[tenant_id] = found
        return found

    def forget(self, tenant_id: UUID) -> None:
        """Read the rules of a tenant anew when they are next asked for."""
        self._books.pop(tenant_id, None)


class _Known(Struct, frozen=True):
    """A matter of which it is known whose it is."""

    principal: Principal
    matter: Matter
    owner_id: UUID
    currency: str | None


class RuleHearing:
    """What one batch asks of the rules of its tenant."""

    def __init__(self, book: RuleBook, tenant_id: UUID, now: datetime) -> None:
        self._book = book
        self._tenant_id = tenant_id
        self._now = now
        self._spans: set[tuple[UUID, int]] = set()
        self._baselines = Baselines(tenant_id, now)

    async def prepare(
        self, connection: Connection, matters: Sequence[tuple[Principal, Matter]]
    ) -> Sequence[Need]:
        """Find out whose matters these are, and name their tallies and customers."""
        subjects: dict[UUID, Subject] = {}
        needs: list[Need] = []
        for known in await self._find_owners(connection, matters):
            wanted = [*self._windowed(known), *self._counted(known)]
            subjects.update((subject.id, subject) for subject in wanted)
            chapter = self._book.chapters.get(known.matter.on)
            if chapter is not None and chapter.needs_parties:
                parties = parties_of(known.principal, known.owner_id)
                needs += [Need(CUSTOMERS, one, locked=False) for one in {*parties.values()}]
        missing = [subject for key, subject in subjects.items() if key not in self._book.opened]
        if missing:
            # Those that are opened now are there for others only after the commit.
            self._book.opened |= await tallies.open_missing(
                connection, self._tenant_id, missing, self._now
            )
        return [*needs, *(Need(TALLIES, key) for key in subjects)]

    async def look(self, connection: Connection) -> None:
        """Look at what there was before the windows began."""
        await self._baselines.look(connection, self._spans)

    def judge(
        self, draft: Draft, table: ObjectTable[Any], row: ObjectRow, step: Step | None
    ) -> Verdict:
        """Judge an object that is to be made or moved, and count it if it is made."""
        noun = table.noun
        findings = self.find(draft, f"{noun}.{'transition' if step else 'create'}", row, step)
        verdict = apply(draft, noun, row, findings)
        if step is None:
            self._count(draft, noun, row)
        return verdict

    def find(
        self, draft: Draft, trigger: str, row: ObjectRow | Described, step: Step | None = None
    ) -> list[Finding]:
        """Return what each rule on a trigger says of an object."""
        chapter = self._book.chapters.get(trigger)
        if chapter is None:
            return []
        noun = trigger.partition(".")[0]
        owner_id = owner_of(noun, row)
        parties = parties_of(draft.principal, owner_id)
        facts = Facts(draft, noun, row, step, parties).read(chapter.program.reads)
        windows = self._measure(draft, chapter, owner_id, _currency(row))
        values = chapter.program.evaluate(facts, windows)
        return [Finding(*pair) for pair in zip(chapter.rules, values, strict=True)]

    def _measure(
        self, draft: Draft, chapter: Chapter, owner_id: UUID, currency: str | None
    ) -> Mapping[Window, int]:
        measured = {}
        for window in chapter.program.windows:
            subject = self._book.subject((window.what, window.at_least), owner_id, currency)
            measured[window] = self._baselines.measure(draft, subject.id, window)
        return measured

    def _count(self, draft: Draft, noun: str, row: ObjectRow) -> None:
        what = FLOWS[row.flow] if noun == _TRANSACTION else NOUNS.get(noun)  # type: ignore[attr-defined]  # transactions have one
        amount = getattr(row, "amount", 0)
        owner_id, currency = owner_of(noun, row), _currency(row)
        for key in self._book.counted:
            if key[0] == what and amount >= key[1]:
                count(draft, self._book.subject(key, owner_id, currency).id, amount)

    def _windowed(self, known: _Known) -> Iterable[Subject]:
        """Name the tallies over which rules have windows, and remember how long these are."""
        chapter = self._book.chapters.get(known.matter.on)
        for window in () if chapter is None else chapter.program.windows:
            key = (window.what, window.at_least)
            subject = self._book.subject(key, known.owner_id, known.currency)
            self._spans.add((subject.id, window.seconds))
            yield subject

    def _counted(self, known: _Known) -> Iterable[Subject]:
        """Name the tallies in which the object counts that comes of a matter."""
        noun, _, occasion = known.matter.on.partition(".")
        if occasion != "create":
            return
        told = known.matter.counts or NOUNS.get(noun)
        whats = {told} if told else set(FLOWS.values())
        for key in self._book.counted:
            if key[0] in whats:
                yield self._book.subject(key, known.owner_id, known.currency)

    async def _find_owners(
        self, connection: Connection, matters: Sequence[tuple[Principal, Matter]]
    ) -> list[_Known]:
        """Tell whose matters these are; what is not there is nobody's, and will be refused."""
        asked = {one.found_at for _, one in matters if one.found_at is not None}
        found = await _look_up(connection, self._tenant_id, asked)
        known = []
        for principal, matter in matters:
            owner_id, currency = matter.owner_id, matter.currency
            if matter.found_at is not None:
                owner_id, currency = found.get(matter.found_at, (None, None))
            if owner_id is not None:
                known.append(_Known(principal, matter, owner_id, currency))
        return known


async def _look_up(
    connection: Connection, tenant_id: UUID, places: Iterable[Whereabouts]
) -> dict[Whereabouts, tuple[UUID, str | None]]:
    """Read what never changes, so that it needs no lock."""
    alike: dict[tuple[Table[Any], str, str], dict[UUID, Whereabouts]] = {}
    for one in places:
        alike.setdefault((one.table, one.owner, one.currency), {})[one.id] = one
    found = {}
    for (table, owner, currency), wanted in alike.items():
        sql = f"SELECT id, {owner}, {currency} FROM {table.name} WHERE tenant_id = $1 AND id = ANY($2)"  # noqa: S608, E501 - our own names
        for record in await connection.fetch(sql, tenant_id, list(wanted)):
            found[wanted[record[0]]] = (record[1], record[2])
    return found


def _currency(row: ObjectRow | Described) -> str | None:
    return getattr(row, "currency", None)
