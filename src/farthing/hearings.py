"""How rules are heard: the books of all tenants, and the hearing of one batch.

Everything that a rule sees is what the batch has locked, or looked at once it had its locks. The
windows of `history` are measured over tallies, which whoever counts must lock, so that two requests
at once cannot both slip under a limit.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from farthing.core.actors import Principal
from farthing.core.expressions import Combined, Failure, Window
from farthing.core.rows import ObjectRow
from farthing.db.commands import Need
from farthing.db.draft import Draft
from farthing.db.hearings import FREE, Matter, Step, Verdict, Whereabouts
from farthing.db.pool import Connection, Pool
from farthing.db.tables import Along, ObjectTable, Table
from farthing.resources.customers.store import CUSTOMERS, STANDINGS
from farthing.resources.rules import store
from farthing.resources.rules.actions import apply, compile_rule
from farthing.resources.rules.model import Finding, Rule
from farthing.resources.rules.store import Described, Facts, owner_of, parties_of
from farthing.resources.tallies import store as tallies
from farthing.resources.tallies.actions import Counters, Span, count
from farthing.resources.tallies.model import FLOWS, NOUNS, Subject

_MOST_BOOKS: Final = 10_000
_MOST_FOUND: Final = 50_000
_PARTIES: Final = frozenset({"owner", "customer"})
_TRANSACTION: Final = "transaction"
# Some of what is shown of a customer is kept beside it.
_STANDING: Final = Along(STANDINGS, "id")

# What is counted, and the least amount that counts.
Counted = tuple[str, int]
# The customer whose history counts, and the currency of its sums.
Whose = tuple[UUID, str | None]


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
        # Tallies that are there, and whose matters were found where; both spare questions.
        self.opened: set[UUID] = set()
        self.found: dict[Whereabouts, Whose] = {}
        self._affairs: dict[tuple[str, str | None, Whose], Affair] = {}

    def open(self, tenant_id: UUID, now: datetime) -> "RuleHearing | None":
        """Return a hearing for one batch; None if there are no rules."""
        return RuleHearing(self, tenant_id, now) if self.chapters else None

    def affair(self, trigger: str, counts: str | None, whose: Whose) -> "Affair":
        """Return what there is to measure and to count, which is the same every time."""
        key = (trigger, counts, whose)
        found = self._affairs.get(key)
        if found is None:
            if len(self._affairs) > _MOST_FOUND:
                self._affairs.clear()
            found = self._affairs[key] = self._affair(trigger, counts, whose)
        return found

    def _affair(self, trigger: str, counts: str | None, whose: Whose) -> "Affair":
        noun, _, occasion = trigger.partition(".")
        chapter = self.chapters.get(trigger)
        windows = () if chapter is None else chapter.program.windows
        told = counts or NOUNS.get(noun)
        # What is no payment and has no word of its own, such as a reference, is not counted.
        others = set(FLOWS.values()) if noun == _TRANSACTION else set()
        whats = {told} if told else others
        counted = [key for key in self.counted if key[0] in whats and occasion == "create"]
        return Affair(
            tuple((one, self._subject((one.what, one.at_least), whose)) for one in windows),
            tuple((key, self._subject(key, whose)) for key in counted),
        )

    def _subject(self, key: Counted, whose: Whose) -> Subject:
        owner_id, currency = whose
        of_flow = key[0] in FLOWS.values()
        return Subject(owner_id, *key, currency if of_flow else None, self.counted[key])


class Affair:
    """What rules measure and count of somebody on a trigger."""

    def __init__(
        self,
        windows: tuple[tuple[Window, Subject], ...],
        counted: tuple[tuple[Counted, Subject], ...],
    ) -> None:
        self.windows = [(window, subject.id) for window, subject in windows]
        self.counted = [(what, least, subject.id) for (what, least), subject in counted]
        self.spans = {(subject.id, window.seconds) for window, subject in windows}
        self.subjects = {subject.id: subject for _, subject in (*windows, *counted)}


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


class RuleHearing:
    """What one batch asks of the rules of its tenant."""

    def __init__(self, book: RuleBook, tenant_id: UUID, now: datetime) -> None:
        self._book = book
        self._tenant_id = tenant_id
        self._now = now
        self._subjects: dict[UUID, Subject] = {}
        self._spans: set[Span] = set()
        self._counters = Counters(tenant_id, now)

    async def prepare(
        self, connection: Connection, matters: Sequence[tuple[Principal, Matter]]
    ) -> Sequence[Need]:
        """Find out whose matters these are, open their tallies, and name their customers."""
        needs: list[Need] = []
        found = await self._find_owners(connection, [matter for _, matter in matters])
        for principal, matter in matters:
            whose = (matter.owner_id, matter.currency)
            if matter.found_at is not None:
                whose = found.get(matter.found_at, (None, None))
            if whose[0] is None:
                # What is not there is nobody's, and will be refused.
                continue
            affair = self._book.affair(matter.on, matter.counts, whose)  # type: ignore[arg-type]  # it has an owner
            self._subjects |= affair.subjects
            self._spans |= affair.spans
            chapter = self._book.chapters.get(matter.on)
            if chapter is not None and chapter.needs_parties:
                named = set(parties_of(principal, whose[0]).values())
                needs += [Need(CUSTOMERS, one, locked=False, along=_STANDING) for one in named]
        await self._open_missing(connection)
        return needs

    async def look(self, connection: Connection) -> dict[Any, Any]:
        """Look at tallies, which nobody else changes until the commit."""
        if not self._subjects:
            return {}
        return await self._counters.look(connection, self._subjects, self._spans)

    def judge(
        self, draft: Draft, table: ObjectTable[Any], row: ObjectRow, step: Step | None
    ) -> Verdict:
        """Judge an object that is to be made or moved, and count it if it is made."""
        noun = table.noun
        trigger = f"{noun}.{'transition' if step else 'create'}"
        chapter, affair = self._book.chapters.get(trigger), self._affair(trigger, row)
        verdict = FREE
        if chapter is not None:
            values = self._evaluate(draft, chapter, affair, noun, row, step)
            if values.count(False) < len(values):
                pairs = zip(chapter.rules, values, strict=True)
                verdict = apply(draft, noun, row, [Finding(*pair) for pair in pairs])
        if affair.counted:
            amount = getattr(row, "amount", 0)
            what = FLOWS[row.flow] if noun == _TRANSACTION else NOUNS[noun]  # type: ignore[attr-defined]  # transactions have one
            for counted, least, tally_id in affair.counted:
                if counted == what and amount >= least:
                    count(draft, tally_id, amount)
        return verdict

    def find(
        self, draft: Draft, trigger: str, row: ObjectRow | Described, step: Step | None = None
    ) -> list[Finding]:
        """Return what each rule on a trigger says of an object."""
        chapter = self._book.chapters.get(trigger)
        if chapter is None:
            return []
        noun, affair = trigger.partition(".")[0], self._affair(trigger, row)
        values = self._evaluate(draft, chapter, affair, noun, row, step)
        return [Finding(*pair) for pair in zip(chapter.rules, values, strict=True)]

    def _affair(self, trigger: str, row: Any) -> Affair:
        noun = trigger.partition(".")[0]
        is_flow = noun == _TRANSACTION and not isinstance(row, Described)
        counts = FLOWS[row.flow] if is_flow else None
        return self._book.affair(
            trigger, counts, (owner_of(noun, row), getattr(row, "currency", None))
        )

    def _evaluate(
        self,
        draft: Draft,
        chapter: Chapter,
        affair: Affair,
        noun: str,
        row: ObjectRow | Described,
        step: Step | None,
    ) -> list[bool | Failure]:
        parties: dict[str, UUID] = {}
        if chapter.needs_parties:
            parties = parties_of(draft.principal, owner_of(noun, row))
        facts = Facts(draft, noun, row, step, parties).read(chapter.program.reads)
        measure = self._counters.measure
        windows = {window: measure(draft, key, window) for window, key in affair.windows}
        return chapter.program.evaluate(facts, windows)

    async def _open_missing(self, connection: Connection) -> None:
        opened = self._book.opened
        missing = [one for key, one in self._subjects.items() if key not in opened]
        if missing:
            if len(opened) > _MOST_FOUND:
                opened.clear()
            # Those that are opened now are there for others only after the commit.
            opened |= await tallies.open_missing(connection, self._tenant_id, missing, self._now)

    async def _find_owners(
        self, connection: Connection, matters: Sequence[Matter]
    ) -> dict[Whereabouts, Whose]:
        """Tell whose matters these are, where the request does not say it."""
        asked = {one.found_at for one in matters if one.found_at is not None}
        found = self._book.found
        if unknown := asked - found.keys():
            if len(found) > _MOST_FOUND:
                found.clear()
                unknown = asked
            found |= await _look_up(connection, self._tenant_id, unknown)
        return found


async def _look_up(
    connection: Connection, tenant_id: UUID, places: Iterable[Whereabouts]
) -> dict[Whereabouts, Whose]:
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
