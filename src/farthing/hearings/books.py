"""Books: the rules of each tenant, ready to be asked."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from farthing.core.expressions import Combined
from farthing.core.expressions.sieve import sieve
from farthing.core.expressions.windows import Series
from farthing.db.pool import Pool
from farthing.hearings.hearing import RuleHearing
from farthing.resources.rules import store
from farthing.resources.rules.actions import compile_rule
from farthing.resources.rules.model import Rule
from farthing.resources.rules.store import GLANCES
from farthing.resources.tallies.model import FLOWS, NOUNS, Memory, Span, Subject

_MOST_BOOKS: Final = 10_000
_MOST_FOUND: Final = 50_000
_MOST_PROGRAMS: Final = 100
_PARTIES: Final = frozenset({"owner", "customer"})
_TRANSACTION: Final = "transaction"

# What is counted, and the least amount that counts.
Counted = tuple[str, int]
# The customer whose history counts, and the currency of its sums.
Whose = tuple[UUID, str | None]
# The trigger, what is counted if the request says it, and whose history counts.
Key = tuple[str, str | None, UUID, str | None]


class Chapter:
    """The rules on one trigger: a sieve for each, and programs for those that pass together."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self._expressions = [compile_rule(rule) for rule in rules]
        everything = Combined(self._expressions)
        self.windows = everything.windows
        self.needs_parties = bool(_PARTIES & everything.reads.keys())
        noun = rules[0].trigger.partition(".")[0]
        readers = GLANCES if noun == _TRANSACTION else {}
        self.everything = tuple(range(len(rules)))
        # Unless there are parties, a draft is all the facts that it takes.
        self.sift = sieve([one.source for one in self._expressions], readers)
        self._programs = {self.everything: everything}

    def program(self, chosen: tuple[int, ...]) -> Combined:
        """Return the program of these rules."""
        found = self._programs.get(chosen)
        if found is None:
            if len(self._programs) >= _MOST_PROGRAMS:
                self._programs.clear()
            found = Combined([self._expressions[place] for place in chosen])
            self._programs[chosen] = found
        return found


class RuleBook:
    """The rules of one tenant, in the version in which they were read."""

    def __init__(self, version: int, rules: Sequence[Rule]) -> None:
        self.version = version
        self.size = len(rules)
        triggers = dict.fromkeys(rule.trigger for rule in rules)
        self.chapters = {
            one: Chapter([rule for rule in rules if rule.trigger == one]) for one in triggers
        }
        # The triggers with rules that speak of customers.
        self.on_parties = {one for one, chapter in self.chapters.items() if chapter.needs_parties}
        # Since when each thing is counted: since the first of the rules that want it.
        self.counted: dict[Counted, int] = {}
        for rule in rules:
            for window in compile_rule(rule).windows:
                key = (window.what, window.at_least)
                self.counted[key] = min(rule.since, self.counted.get(key, rule.since))
        # How tallies stand, and whose matters were found where; both spare questions.
        self.memory = Memory()
        self.found: dict[UUID, Whose] = {}
        self._affairs: dict[Key, Affair] = {}

    def open(self, tenant_id: UUID, now: datetime) -> "RuleHearing | None":
        """Return a hearing for one batch; None if there are no rules."""
        return RuleHearing(self, tenant_id, now) if self.chapters else None

    def keep(self, hearing: RuleHearing | None, before: int, position: int) -> None:
        """Learn that a batch, heard or not, has taken the log from one position to another."""
        if hearing is None:
            self.memory.keep(before, position, {})
        else:
            hearing.keep(before, position)

    def doubt(self) -> None:
        """Rely no longer on nobody else's writing to the log."""
        self.memory.doubt()

    def affair(self, key: Key) -> "Affair":
        """Return what there is to measure and to count, which is the same every time."""
        found = self._affairs.get(key)
        if found is None:
            if len(self._affairs) > _MOST_FOUND:
                self._affairs.clear()
            found = self._affairs[key] = self._affair(key[0], key[1], key[2:])
        return found

    def _affair(self, trigger: str, counts: str | None, whose: Whose) -> "Affair":
        noun, _, occasion = trigger.partition(".")
        chapter = self.chapters.get(trigger)
        windows = () if chapter is None else chapter.windows
        told = counts or NOUNS.get(noun)
        # What is no payment and has no word of its own, such as a reference, is not counted.
        others = set(FLOWS.values()) if noun == _TRANSACTION else set()
        whats = {told} if told else others
        counted = [key for key in self.counted if key[0] in whats and occasion == "create"]
        return Affair(
            {one.series: self._subject((one.what, one.at_least), whose) for one in windows},
            [self._subject(key, whose) for key in counted],
        )

    def _subject(self, key: Counted, whose: Whose) -> Subject:
        owner_id, currency = whose
        of_flow = key[0] in FLOWS.values()
        return Subject(owner_id, *key, currency if of_flow else None, self.counted[key])


class Affair:
    """What rules measure and count of somebody on a trigger."""

    def __init__(self, measured: dict[Series, Subject], counted: Sequence[Subject]) -> None:
        self.spans: dict[Series, Span] = {
            series: (subject.id, series[1]) for series, subject in measured.items()
        }
        self.counted = [(subject.at_least, subject.id) for subject in counted]
        self.subjects = {one.id: one for one in (*measured.values(), *counted)}


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
