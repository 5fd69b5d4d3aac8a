"""The money proof: whatever callers, the rail and the clock do, not a farthing is lost or made.

Every step is a real request, a real round of the worker, or something that happens outside. After
each one the books must hold by themselves and agree with what the rail really did, but for what is
on its way; and at the end of each example nothing is on its way.
"""

import asyncio
import os
import traceback
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, get_args
from uuid import UUID

import pytest
import structlog
import uvloop
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.resources.money_world import FAULTS, Look, OrderSeen, Stage, Tx, World
from tests.resources.scripted_rail import MOODS, RAIL, Deed, Mood

from farthing.core.actors import Actor
from farthing.core.ids import new_id
from farthing.resources.moves.api import ToState
from farthing.resources.orders.model import IN_FLIGHT
from farthing.resources.settlements.model import UNPAID
from farthing.resources.transactions.model import FINAL, MACHINE

if TYPE_CHECKING:
    import httpx2
    from tests.conftest import Database

T = TypeVar("T")
Row = dict[str, Any]

AMOUNTS = st.integers(1, 400)
# Tenths of what there is; eleven of them are too much.
SHARES = st.sampled_from((5, 10, 5, 10, 1, 11))
PICKS = st.sampled_from((0, 0, 1, 1, 2, 3, 4, 5))
ACCOUNTS = st.sampled_from((0, 0, 1, 2))
GOALS = st.sampled_from(("EFFECTED", "EFFECTED", "EFFECTED", "HELD", "PENDING"))
GOOD: tuple[Mood, ...] = ("does",) * 5
DIES = st.sampled_from((False,) * 5 + (True,))
# Often it just does what it is told, or nothing would ever be paid.
ANY_MOOD: st.SearchStrategy[Mood] = st.sampled_from((*MOODS, *GOOD))
# A round of the worker waits for the rail, so that the rail must not wait for the next step.
PROMPT: st.SearchStrategy[Mood] = st.sampled_from(
    [one for one in (*MOODS, *GOOD) if "stall" not in one]
)
ACTORS = {"client": Actor.CLIENT, "operator": Actor.OPERATOR, "first": Actor.CUSTOMER}
WHO = st.sampled_from(("client", "client", "client", "operator", "operator", "first"))
TO = st.integers(0, 19)
TO_STATES: tuple[str, ...] = get_args(ToState)
OVER = frozenset({"EFFECTED", "ADJUSTED", "CANCELLED", "FAILED"})


def a(name: str, **arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[str, Any]]:
    return st.tuples(st.just(name), st.fixed_dictionaries(arguments))


PAY = a(
    "pay",
    kind=st.sampled_from(("card", "card", "once", "payout", "payout", "transfer", "internal")),
    account=ACCOUNTS,
    amount=AMOUNTS,
    goal=GOALS,
    mood=ANY_MOOD,
    dies=DIES,
)
MOVE = a("move", pick=PICKS, to=TO, who=WHO, share=SHARES, mood=ANY_MOOD, dry=st.integers(0, 9))
RACE = a(
    "race",
    pick=PICKS,
    to=st.tuples(TO, TO),
    who=st.tuples(WHO, WHO),
    share=SHARES,
    mood=PROMPT,
)
HAPPEN = a(
    "let_happen",
    first=st.sampled_from((0, 0, 1, 1, 2, 3, 4, 5)),
    pick=PICKS,
    amount=AMOUNTS,
    share=SHARES,
    mood=PROMPT,
    yes=st.booleans(),
)
WORK = a("work", mood=PROMPT, minutes=st.sampled_from((0, 2, 2, 20, 20, 400, 31 * 24 * 60)))
TINKER = a(
    "move_what_it_needs",
    what=st.sampled_from(("cards", "bank-accounts", "accounts")),
    pick=PICKS,
    to=st.sampled_from(("ENABLED", "DISABLED", "CLOSED")),
)
# Not `one_of`, which would take each of them once.
ANY_STEP = st.sampled_from(
    (*[PAY] * 5, *[MOVE] * 5, *[HAPPEN] * 3, *[WORK] * 3, *[TINKER] * 2, RACE)
).flatmap(lambda step: step)


class MoneyMachine(RuleBasedStateMachine):
    """Does anything that somebody can do, and looks at the books after each step."""

    runner: ClassVar[asyncio.Runner]
    stage: ClassVar[Stage]
    logs: ClassVar[list[Row]]
    steps: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self.world = World(self.stage)
        self.seen: Look | None = None
        self.endings = [True]
        self.broken = False

    def run(self, step: Coroutine[Any, Any, T]) -> T:
        try:
            return self.runner.run(step)
        except BaseException:
            self.broken = True
            raise

    @initialize(endings=st.lists(st.booleans(), min_size=1, max_size=5))
    def begin(self, endings: list[bool]) -> None:
        self.endings = endings
        self.logs.clear()
        self.run(self.world.begin())

    # One rule, because Hypothesis switches rules off for whole examples, and without payments
    # nothing happens.

    @rule(step=ANY_STEP)
    def do(self, step: tuple[str, Row]) -> None:
        getattr(self, step[0])(**step[1])

    # What there is to choose from.

    @property
    def look(self) -> Look:
        assert self.seen is not None
        return self.seen

    @property
    def orders(self) -> dict[UUID | None, OrderSeen]:
        return {one.id: one for one in self.look.orders}

    def pick(self, number: int) -> Tx:
        """Return a transaction; at the lowest numbers is what is under way, the newest first."""

        def dullness(tx: Tx) -> tuple[int, bool]:
            is_deposit = tx.flow == "INBOUND" and tx.method == "bankAccount"
            groups = ({"PENDING", "HELD"}, {"EFFECTED", "ADJUSTED"}, FINAL)
            return next((n for n, one in enumerate(groups, 1) if tx.state_id in one), 0), is_deposit

        found = self.look.txs[::-1]
        found.sort(key=dullness)
        return found[number % len(found)]

    def order_of(self, tx: Tx) -> OrderSeen | None:
        return self.orders.get(tx.order_id)

    def charges(self, *, disputed: bool) -> list[Deed]:
        """Return the charges that a cardholder can dispute, or has disputed."""
        found = [one for one in RAIL.deeds.values() if one.kind == "charge" and one.is_card]
        if disputed:
            return [one for one in found if one.disputed]
        return [one for one in found if one.status == "done" and not one.disputed and one.left]

    # How a request is made.

    async def ask(
        self,
        method: str,
        path: str,
        body: Row | None = None,
        *,
        who: str = "client",
        again: bool = False,
    ) -> "httpx2.Response":
        """Send a request, perhaps twice; a repeat gets the same answer."""
        key, token = str(new_id()), self.world.tokens[who]
        answer = await self.world.send(method, path, body, token=token, key=key)
        away = answer.status_code == 503 and RAIL.mood in {"is_deaf", "is_mute", "is_mute_done"}
        assert answer.status_code < 500 or away, answer.text
        if again and not away:
            repeat = await self.world.send(method, path, body, token=token, key=key)
            assert repeat.status_code == answer.status_code
            assert repeat.content == answer.content or answer.status_code >= 400
        return answer

    async def after(self, answer: "httpx2.Response") -> None:
        """A refusal changes nothing; all else is seen to as far as the rail lets it."""
        before = self.look.mark
        await self.world.quiet()
        if answer.status_code >= 400:
            assert (await self.world.look()).mark == before, answer.text

    # What callers do.

    def pay(
        self, kind: str, account: int, amount: int, goal: str, mood: Mood, *, dies: bool
    ) -> None:
        """Start a payment of any kind; sometimes the process dies right after the commit."""
        path, body = self.run(self.world.payment(kind, account))
        # A payment of this kind brings its card.
        self.seen = self.run(self.world.look()) if kind == "once" else self.seen
        body |= {"amount": str(amount), "targetStateId": goal}

        async def step() -> None:
            RAIL.mood = mood
            if dies:
                answer = await self.world.without_teller(self.ask("POST", path, body))
            else:
                answer = await self.ask("POST", path, body, again=mood == "does")
            await self.after(answer)

        self.run(step())

    def move(self, pick: int, to: int, who: str, share: int, mood: Mood, dry: int) -> None:
        tx = self.pick(pick)
        target = self.target(tx, to, who)
        if dry == 9:
            self.run(self.rehearse(tx, target, who, share))
        else:
            self.run(self.one_move(tx, target, who, share, mood))

    def race(
        self, pick: int, to: tuple[int, int], who: tuple[str, str], share: int, mood: Mood
    ) -> None:
        """Two move the same transaction at once, while the worker is busy too."""
        tx = self.pick(pick)

        async def step() -> None:
            moves = [
                self.moving(tx, self.target(tx, number, one), one, share)
                for number, one in zip(to, who, strict=True)
            ]
            RAIL.mood = mood
            rounds = ("see to orders", "hear the news of rails")
            await asyncio.gather(*moves, self.world.work(mood, *rounds))
            await self.world.quiet()

        if tx.state_id != "DISPUTED":
            self.run(step())

    def target(self, tx: Tx, number: int, who: str) -> str:
        """Return where somebody wants to move a transaction: most times where it can go."""
        allowed = [one for one in MACHINE.allowed(tx.state_id, ACTORS[who]) if one in TO_STATES]
        if number < 16 and allowed:
            return allowed[number % len(allowed)]
        return TO_STATES[number % len(TO_STATES)]

    async def one_move(self, tx: Tx, target: str, who: str, share: int, mood: Mood) -> None:
        RAIL.mood = mood
        answer = await self.moving(tx, target, who, share)
        if answer is not None:
            await self.after(answer)

    async def moving(self, tx: Tx, target: str, who: str, share: int) -> "httpx2.Response | None":
        """Move a transaction, if whoever does it is no liar."""
        lost = None
        if who == "operator" and not self.is_honest(tx, target):
            return None
        if who == "operator" and tx.state_id == "DISPUTED" and target in {"EFFECTED", "ADJUSTED"}:
            deed = RAIL.deeds[tx.order_id or tx.id]
            lost = 0 if target == "EFFECTED" else part(deed.disputed, min(share, 10))
            RAIL.end_dispute(deed, lost)
        body = move_body(tx, target, share, lost)
        path = f"/v1/tx/tx/{tx.id}/state"
        answer = await self.ask("PATCH", path, body, who=who, again=share == 5)
        if answer.status_code == 200 and who == "operator":
            self.note_vouched(tx, target, body)
        return answer

    async def rehearse(self, tx: Tx, target: str, who: str, share: int) -> None:
        path = f"/v1/tx/tx/{tx.id}/state?dryRun=true"
        await self.ask("PATCH", path, move_body(tx, target, share, None), who=who)
        assert (await self.world.look()).mark == self.look.mark

    def is_honest(self, tx: Tx, target: str) -> bool:
        """Let the operator be mistaken about what failed, but not about what is done.

        What he vouches for has happened outside; that a transaction failed, the rail is asked.
        """
        order = self.order_of(tx)
        if order is None:
            return True
        deed, stalls = RAIL.deeds.get(order.id), order.id in [one for one, _ in RAIL.stalled]
        if tx.state_id == "DISPUTED" and target in {"EFFECTED", "ADJUSTED"}:
            return deed is not None and deed.disputed > 0
        if target == "EFFECTED" and tx.state_id == "PROCESSING" and not tx.settled:
            return not stalls and RAIL.settle(order.id, done=True)
        return True

    def note_vouched(self, tx: Tx, target: str, body: Row) -> None:
        """Money came by a way of which the rail knows nothing; the operator says so."""
        by_bank = tx.flow == "INBOUND" and tx.method == "bankAccount"
        if target == "EFFECTED" and tx.state_id == "PROCESSING" and by_bank:
            RAIL.inside[tx.currency] += tx.amount
        if target == "ADJUSTED" and tx.flow == "OUTBOUND" and tx.state_id != "DISPUTED":
            returned = int(body["options"]["adjustment"]["adjustmentAmount"])
            RAIL.inside[tx.currency] += returned

    def move_what_it_needs(self, what: str, pick: int, to: str) -> None:
        """Put an account or an instrument out of use, or back into it."""
        things = {
            "accounts": self.world.accounts,
            "cards": self.world.cards,
            "bank-accounts": list(self.world.bank_accounts.values()),
        }[what]
        # The newest card, and the first of all else.
        thing = things[(-pick if what == "cards" else pick) % len(things)]

        async def step() -> None:
            path = f"/v1/{what}/{thing}/state"
            await self.after(await self.ask("PATCH", path, {"toStateId": to}, who="operator"))
            if thing == self.world.cards[0]:
                self.world.cards[0] = await self.world.new_card(
                    self.world.customers[0], "CARD_ON_FILE"
                )

        if (what, to) != ("bank-accounts", "CLOSED"):
            self.run(step())

    # What happens outside.

    def let_happen(
        self, first: int, pick: int, amount: int, share: int, mood: Mood, *, yes: bool
    ) -> None:
        """Let the first of these happen that can."""
        events: list[Callable[[], bool]] = [
            lambda: self.dispute(pick, None if yes else share),
            lambda: self.decide_dispute(pick, share, yes=yes),
            lambda: self.answer_challenge(mood, approves=yes),
            lambda: self.answer_at_last(pick, mood),
            lambda: self.crash(yes=yes),
            lambda: self.send_money(pick, amount, right=yes),
        ]
        for event in (*events[first:], *events[:first]):
            if event():
                return

    def send_money(self, pick: int, amount: int, *, right: bool) -> bool:
        """Somebody sends us money: for what waits, with the wrong amount, or with no reference."""
        waiting = [tx for tx in self.look.txs if tx.reference and not tx.settled]
        text = self.world.references[pick % 3] if pick else "thank you"
        currency = "EUR" if pick % 3 == 2 else "GBP"
        if waiting and right:
            tx = waiting[pick % len(waiting)]
            text, amount, currency = tx.reference or "", tx.amount, tx.currency
        RAIL.send(self.world.tenant_id, amount, currency, text)
        return True

    def work(self, mood: Mood, minutes: int) -> None:
        """Let time pass, and the worker do what is due; or let it only hear the news."""

        async def step() -> None:
            await self.world.pass_time(timedelta(minutes=minutes))
            await self.world.work(mood, *(() if minutes else ("hear the news of rails",)))

        self.run(step())

    def dispute(self, pick: int, share: int | None) -> bool:
        found = self.charges(disputed=False)
        if found:
            deed = found[-1 - pick % len(found)]
            RAIL.open_dispute(deed, share and part(deed.left, min(share, 10)))
        return bool(found)

    def decide_dispute(self, pick: int, share: int, *, yes: bool) -> bool:
        found = self.charges(disputed=True)
        if found:
            deed = found[pick % len(found)]
            lost = 0 if share == 11 else part(deed.disputed, share)
            RAIL.end_dispute(deed, lost, says_all=yes)
        return bool(found)

    def answer_challenge(self, mood: Mood, *, approves: bool) -> bool:
        asked = [tx.requirements for tx in self.look.txs if tx.requirements]

        async def step() -> None:
            RAIL.mood = mood
            path = asked[-1]["threeDSecure"].partition("/challenges/")[2]
            decision = b"decision=" + (b"approve" if approves else b"decline")
            answer = await self.stage.client.post(f"/challenges/{path}", content=decision)
            assert answer.status_code in {200, 404}
            await self.after(answer)

        if asked:
            self.run(step())
        return bool(asked)

    def answer_at_last(self, pick: int, mood: Mood) -> bool:
        if RAIL.stalled:
            RAIL.let_go(pick, mood)
            self.run(self.world.quiet())
            return True
        return False

    def crash(self, *, yes: bool) -> bool:
        if RAIL.stalled and yes:
            self.run(self.world.crash())
            return True
        return False

    # What must hold.

    @invariant()
    def the_books_hold_and_agree_with_the_rail(self) -> None:
        type(self).steps += 1
        self.broken, RAIL.mood = True, "does"
        self.seen = self.run(self.world.look())
        faults = [one for one in self.logs if is_fault(one)]
        assert not faults, "\n".join(str(one["traceback"]) for one in faults)
        self.logs.clear()
        found = self.run(self.world.verify(everything=False))
        assert not found, found
        self.check_orders()
        self.check_reserves()
        self.check_outside()
        self.broken = False

    def check_orders(self) -> None:
        """No order is done that the rail did not do, and none refused that it did."""
        for order in self.look.orders:
            deed = RAIL.deeds.get(order.id)
            really = deed.status if deed else "unheard"
            if order.status == "done":
                assert really == "done", order
            if order.status == "refused":
                assert really in {"refused", "challenge", "unheard"}, order
            if order.status == "recalled":
                assert really in {"refused", "unheard"}, order

    def check_reserves(self) -> None:
        """What a rail may have stays reserved, unless somebody vouched that it failed."""
        for tx in self.look.txs:
            order = self.order_of(tx)
            if order and order.status in IN_FLIGHT and tx.state_id not in FINAL:
                assert tx.money == "reserved", tx

    def check_outside(self) -> None:
        """What the outside gave us is in the books, but for what is on its way."""
        expected = defaultdict(int, RAIL.inside)
        orders, arrivals = self.orders, {one.id for one in self.look.arrivals}
        for deed in RAIL.deeds.values():
            order = orders.get(deed.order.id)
            known = order.status == "done" if order else deed.order.id in arrivals
            if deed.status == "done" and not known and deed.kind != "refund":
                expected[deed.order.currency] -= deed.signed
            expected[deed.order.currency] += deed.lost
        for order in self.look.orders:
            done = order.id in RAIL.deeds and RAIL.deeds[order.id].status == "done"
            if order.kind == "refund" and order.status not in {"done", "refused"} and not done:
                expected[order.currency] -= order.amount
        for tx in self.look.txs:
            lost = (one for one in tx.adjustments if one["type"] == "CHARGEBACK")
            expected[tx.currency] -= sum(int(one["amount"]) for one in lost)
            # A payout that left while somebody held it is paid once they let it go.
            if (tx.flow, tx.state_id, tx.settled) == ("OUTBOUND", "HELD", True):
                expected[tx.currency] += tx.amount
        for currency, amount in self.world.held_outside(self.look).items():
            assert expected[currency] == amount, (currency, self.story())

    def story(self) -> str:
        """Tell what every transaction and its orders came to, for whoever reads a failure."""
        lines = []
        for tx in self.look.txs:
            orders = [one for one in self.look.orders if one.transaction_id == tx.id]
            told = [
                f"{one.kind} of {one.amount}: {one.status}, really "
                f"{RAIL.deeds[one.id].status if one.id in RAIL.deeds else 'unheard'}"
                for one in orders
            ]
            lines.append(f"{tx.flow} {tx.method} of {tx.amount} is {tx.state_id}; {told}")
        return "\n".join(lines)

    # The end.

    def teardown(self) -> None:
        if self.seen is None or self.broken:
            return
        RAIL.endings = self.endings
        self.run(self.world.crash())
        self.run(self.enable_accounts())
        for _ in range(20):
            self.run(self.bring_to_an_end())
            self.the_books_hold_and_agree_with_the_rail()
            if self.is_over():
                break
        self.nothing_is_on_its_way()

    async def enable_accounts(self) -> None:
        for account in self.world.accounts:
            path = f"/v1/accounts/{account}/state"
            await self.ask("PATCH", path, {"toStateId": "ENABLED"}, who="operator")

    async def bring_to_an_end(self) -> None:
        """Let time pass, and let everybody end what is theirs to end."""
        for deed in self.charges(disputed=True):
            RAIL.end_dispute(deed, deed.disputed * self.endings[0])
        await self.world.pass_time(timedelta(days=11))
        await self.world.work("does")
        self.seen = await self.world.look()
        for tx in self.look.txs:
            order = self.order_of(tx)
            is_open = order is not None and order.due_at is not None
            if tx.state_id not in UNPAID or tx.requirements or is_open:
                continue
            if tx.state_id == "PENDING" and tx.expires_at is not None:
                continue
            # Escrow goes on where the first ending says so, as far as it can.
            goes_on = self.endings[-1] or tx.flow == "OUTBOUND"
            if tx.state_id == "HELD" and tx.settled and goes_on:
                await self.moving(tx, "EFFECTED", "client", 10)
            await self.moving(tx, "CANCELLED", "client", 10)
        await self.world.quiet()

    def is_over(self) -> bool:
        orders_rest = all(one.due_at is None for one in self.look.orders)
        return orders_rest and not RAIL.untold and self.all_txs_are_over()

    def all_txs_are_over(self) -> bool:
        return all(tx.state_id in OVER for tx in self.look.txs)

    def nothing_is_on_its_way(self) -> None:
        assert self.all_txs_are_over(), [tx for tx in self.look.txs if tx.state_id not in OVER]
        assert RAIL.untold == []
        for order in self.look.orders:
            assert order.status in {"done", "refused", "recalled"}, order
        sums: defaultdict[str, int] = defaultdict(int)
        for balance in self.look.balances:
            sums[balance.currency] += balance.complete
            assert balance.incomplete_debits == balance.incomplete_credits == 0, balance
            assert balance.disputed_debits == balance.disputed_credits == 0, balance
            assert balance.withheld == 0, balance
        assert not any(sums.values())
        found = self.run(self.world.verify(everything=True))
        assert not found, found
        for currency, amount in self.world.held_outside(self.look).items():
            assert RAIL.inside[currency] == amount, (currency, self.story())


def part(amount: int, tenths: int) -> int:
    return max(1, amount * tenths // 10)


def move_body(tx: Tx, target: str, share: int, lost: int | None) -> Row:
    body: Row = {"toStateId": target}
    if share != 1:
        is_disputed = tx.state_id == "DISPUTED"
        body["fromStateId"] = "CHARGEBACK" if is_disputed else tx.state_id
    if lost is not None and target == "ADJUSTED":
        body["options"] = {"amount": str(lost)}
    elif target == "ADJUSTED":
        body["options"] = {"adjustment": {"adjustmentAmount": str(part(tx.left, share))}}
    return body


def is_fault(line: Row) -> bool:
    """Tell whether a line of the log is about something that must not happen."""
    return line["event"] in FAULTS or (
        line["event"] == "refused" and "insufficient_funds" in line["answer"]
    )


@contextmanager
def listening() -> Iterator[list[Row]]:
    """Keep what is logged, with the traceback of whatever went wrong."""
    heard: list[Row] = []

    def keep(_: object, __: str, line: Any) -> Any:
        heard.append({**line, "traceback": traceback.format_exc(limit=-4)})
        raise structlog.DropEvent

    before = structlog.get_config()
    structlog.configure(processors=[keep])
    try:
        yield heard
    finally:
        structlog.configure(**before)


def prove(database: "Database", examples: int, steps: int) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner, listening() as logs:
        MoneyMachine.runner, MoneyMachine.logs = runner, logs
        MoneyMachine.stage = runner.run(Stage.open(database))
        case = MoneyMachine.TestCase
        case.settings = settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            # The same walk every time, unless somebody asks for a new one.
            derandomize="PROOF_AT_RANDOM" not in os.environ,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        )
        try:
            case().runTest()
        finally:
            runner.run(MoneyMachine.stage.close())


def test_not_a_farthing_is_lost_whatever_happens(database: "Database") -> None:
    prove(database, examples=12, steps=30)


@pytest.mark.slow
def test_not_a_farthing_is_lost_however_long_it_goes_on(database: "Database") -> None:
    prove(database, examples=100, steps=40)
