"""Random sequences of all effects against the real database, checked after every step."""

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from uuid import UUID

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.ledger.books import Books

from farthing.core.errors import InternalError
from farthing.core.ids import new_id
from farthing.db.commands import Answer
from farthing.db.committer import Committer
from farthing.db.pool import open_pool
from farthing.ledger import effects
from farthing.ledger.balances import COUNTERS, Balance
from farthing.ledger.effects import Posting
from farthing.resources.access import actions

if TYPE_CHECKING:
    from tests.conftest import Database

T = TypeVar("T")
AMOUNTS = st.integers(min_value=1, max_value=1000)
SHARES = st.integers(min_value=1, max_value=100)
ACCOUNTS = st.integers(min_value=0, max_value=2)

Payment = tuple[UUID, UUID, int]


class LedgerMachine(RuleBasedStateMachine):
    """Knows what was promised and predicts, without looking, what the ledger must say."""

    runner: ClassVar[asyncio.Runner]
    committer: ClassVar[Committer]

    def __init__(self) -> None:
        super().__init__()
        self.reserved: list[Payment] = []
        self.paid: list[Payment] = []
        self.disputed: list[Payment] = []
        self.withheld: list[tuple[UUID, int]] = []
        self.was_disputed: set[UUID] = set()
        self.expected: dict[UUID, list[int]] = {}

    def run(self, step: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(step)

    @initialize()
    def open_accounts(self) -> None:
        tenant_id = self.run(actions.found_tenant(self.committer, "Books"))
        self.books = Books(self.committer._writer._pool, self.committer, tenant_id)  # noqa: SLF001 - ours
        self.accounts = [new_id() for _ in range(3)]
        for account in self.accounts:
            self.run(self.books.open(account))
        self.expected = {account: [0] * 6 for account in [*self.accounts, self.books.outside]}

    def available(self, account: UUID) -> int:
        complete, debits, _, disputed, _, withheld = self.expected[account]
        return complete - debits - disputed - withheld

    def accept(self, *postings: Posting) -> None:
        """Post what must be accepted, and expect its legs."""
        answer = self.run(self.books.post(*postings))
        assert answer.status == 200, answer.body
        for posting in postings:
            for leg in posting.legs:
                sums = self.expected[leg.account_id]
                for index, name in enumerate(COUNTERS):
                    sums[index] += getattr(leg, name)

    def accept_or_refuse(self, payer: UUID, amount: int, posting: Posting) -> bool:
        """Post what the payer may not be able to afford; a refusal must change nothing."""
        if payer == self.books.outside or self.available(payer) >= amount:
            self.accept(posting)
            return True
        entries = self.run(self.books.entry_count())
        answer = self.run(self.books.post(posting))
        assert answer.status == 409
        assert msgspec.json.decode(answer.body)["code"] == "insufficient_funds"
        assert self.run(self.books.entry_count()) == entries
        return False

    @rule(to=ACCOUNTS, amount=AMOUNTS)
    def deposit(self, to: int, amount: int) -> None:
        payment = (self.books.outside, self.accounts[to], amount)
        self.accept(effects.move(*payment))
        self.paid.append(payment)

    @rule(payer=ACCOUNTS, payee=ACCOUNTS, amount=AMOUNTS)
    def reserve(self, payer: int, payee: int, amount: int) -> None:
        if payer != payee:
            payment = (self.accounts[payer], self.accounts[payee], amount)
            if self.accept_or_refuse(payment[0], amount, effects.reserve(*payment)):
                self.reserved.append(payment)

    @rule(payer=ACCOUNTS, amount=AMOUNTS)
    def pay_out(self, payer: int, amount: int) -> None:
        payment = (self.accounts[payer], self.books.outside, amount)
        if self.accept_or_refuse(payment[0], amount, effects.move(*payment)):
            self.paid.append(payment)

    @precondition(lambda self: self.reserved)
    @rule(data=st.data(), completes=st.booleans())
    def end_reservation(self, data: st.DataObject, *, completes: bool) -> None:
        payment = self.reserved.pop(data.draw(st.integers(0, len(self.reserved) - 1)))
        if completes:
            self.accept(effects.effect(*payment))
            self.paid.append(payment)
        else:
            self.accept(effects.release(*payment))

    @rule(account=ACCOUNTS, amount=AMOUNTS)
    def withhold(self, account: int, amount: int) -> None:
        owner = self.accounts[account]
        if self.accept_or_refuse(owner, amount, effects.withhold(owner, amount)):
            self.withheld.append((owner, amount))

    @precondition(lambda self: self.withheld)
    @rule()
    def let_go(self) -> None:
        self.accept(effects.let_go(*self.withheld.pop()))

    @precondition(lambda self: self.paid)
    @rule(data=st.data(), share=SHARES)
    def adjust(self, data: st.DataObject, share: int) -> None:
        index = data.draw(st.integers(0, len(self.paid) - 1))
        payer, payee, amount = self.paid[index]
        part = max(1, amount * share // 100)
        if amount and self.accept_or_refuse(payee, part, effects.adjust(payer, payee, part)):
            self.paid[index] = (payer, payee, amount - part)

    @precondition(lambda self: self.paid)
    @rule(data=st.data())
    def dispute(self, data: st.DataObject) -> None:
        payment = self.paid.pop(data.draw(st.integers(0, len(self.paid) - 1)))
        self.accept(effects.set_aside(*payment))
        self.disputed.append(payment)
        self.was_disputed.add(payment[1])

    @precondition(lambda self: self.disputed)
    @rule(won=st.booleans())
    def end_dispute(self, *, won: bool) -> None:
        payment = self.disputed.pop()
        if won:
            self.accept(effects.give_back(*payment))
            self.paid.append(payment)
        else:
            self.accept(effects.charge_back(*payment))

    @rule(payer=ACCOUNTS, payee=ACCOUNTS, amount=AMOUNTS)
    def release_what_nobody_reserved(self, payer: int, payee: int, amount: int) -> None:
        if payer == payee or self.expected[self.accounts[payer]][1] >= amount:
            return
        entries = self.run(self.books.entry_count())
        with pytest.raises(InternalError):
            self.run(
                self.books.post(effects.release(self.accounts[payer], self.accounts[payee], amount))
            )
        assert self.run(self.books.entry_count()) == entries

    @precondition(lambda self: self.available(self.accounts[0]) > 0)
    @rule(payee=st.integers(1, 2))
    def spend_everything_twice_at_once(self, payee: int) -> None:
        payment = (self.accounts[0], self.accounts[payee], self.available(self.accounts[0]))
        posting = effects.move(*payment)

        async def race() -> tuple[Answer, Answer]:
            return await asyncio.gather(self.books.post(posting), self.books.post(posting))

        assert sorted(answer.status for answer in self.run(race())) == [200, 409]
        for leg in posting.legs:
            self.expected[leg.account_id][0] += leg.complete
        self.paid.append(payment)

    @invariant()
    def the_books_say_what_was_promised(self) -> None:
        if not self.expected:
            return
        balances = self.run(self.books.balances())
        recomputed = self.run(self.books.recomputed())
        for account, balance in balances.items():
            counters = tuple(getattr(balance, name) for name in COUNTERS)
            assert counters == tuple(self.expected[account])
            assert counters == recomputed.get(account, (0,) * 6)
            assert min(counters[1:]) >= 0
            if balance.place == "platform" and account not in self.was_disputed:
                assert balance.available >= 0
        self.check_conservation(list(balances.values()))

    @staticmethod
    def check_conservation(balances: list[Balance]) -> None:
        assert sum(balance.complete for balance in balances) == 0
        assert sum(b.incomplete_debits - b.incomplete_credits for b in balances) == 0
        assert sum(b.disputed_debits - b.disputed_credits for b in balances) == 0


@pytest.mark.slow
def test_the_ledger_holds_under_any_sequence_of_effects(database: "Database") -> None:
    with asyncio.Runner() as runner:
        pool = runner.run(open_pool(database.url, 4))
        LedgerMachine.runner, LedgerMachine.committer = runner, Committer(pool)
        case = LedgerMachine.TestCase
        case.settings = settings(
            max_examples=25,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        try:
            case().runTest()
        finally:
            pool.terminate()
