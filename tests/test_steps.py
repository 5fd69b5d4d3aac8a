"""Every step of a transaction, as it is taken: in every situation, by everybody, in memory.

What must come out is said here once more, in other words than in the code: who may, on what
condition, where the money is afterwards, and which states a refusal may list.
"""

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import pytest
from tests.test_machines import TRANSACTION_ROWS

from farthing.core import errors
from farthing.core.actors import Actor, Grant, Principal
from farthing.core.ids import new_id, say
from farthing.core.validation import parse
from farthing.db.commands import EVENTS, HISTORY, Context, RowKey, Rows
from farthing.db.draft import Draft
from farthing.ledger.balances import BALANCES, COUNTERS, Balance
from farthing.ledger.postings import ENTRIES
from farthing.resources.accounts.model import Account
from farthing.resources.accounts.store import ACCOUNTS
from farthing.resources.cards.model import Card
from farthing.resources.cards.store import CARDS
from farthing.resources.cards.vault import NUMBERS
from farthing.resources.customers.model import Standing
from farthing.resources.customers.store import STANDINGS
from farthing.resources.moves.actions import take_step
from farthing.resources.moves.api import MoveTransaction
from farthing.resources.orders.model import OrderRow
from farthing.resources.orders.store import ORDERS
from farthing.resources.payments.model import new_transaction
from farthing.resources.transactions import actions
from farthing.resources.transactions.model import MACHINE, Transaction
from farthing.resources.transactions.store import TRANSACTIONS

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
TENANT, PAYER, PAYEE, CARD, SENDER, RECEIVER = (new_id() for _ in range(6))
AMOUNT, PLENTY = 500, 10_000

# The flow and the method.
KINDS = {
    "by card": ("INBOUND", "card"),
    "by a transfer to us": ("INBOUND", "bankAccount"),
    "to a bank account": ("OUTBOUND", "bankAccount"),
    "within": ("INTERNAL", "transfer"),
}
# Where the money can be in each state.
MONEY = {
    "PENDING": ("nowhere", "reserved", "withheld"),
    "ACCEPTED": ("reserved",),
    "PROCESSING": ("reserved", "withheld"),
    "HELD": ("reserved", "withheld"),
    "ERRORED": ("nowhere", "reserved", "withheld"),
    "EFFECTED": ("complete",),
    "ADJUSTED": ("complete",),
    "DISPUTED": ("complete",),
    "CANCELLED": ("nowhere",),
    "FAILED": ("nowhere",),
}
# What was adjusted before, and what is disputed.
PAST = {
    "ADJUSTED": ((200, 0), (0, 0)),
    "DISPUTED": ((0, 500), (0, 300), (200, 300), (200, 100)),
}
ORDERED = (None, "waiting", "sent", "unknown", "done", "refused", "recalled")
IN_FLIGHT = {"sent", "pending", "unknown", "approved"}
ENDS = ("CANCELLED", "FAILED")
REQUESTED = [state for state in MACHINE.states if state not in {"ACCEPTED", "DISPUTED"}]

WHO = {
    "sender": Principal(TENANT, Grant.CUSTOMER_TOKEN, SENDER),
    "receiver": Principal(TENANT, Grant.CUSTOMER_TOKEN, RECEIVER),
    "client": Principal(TENANT, Grant.CLIENT_TOKEN, TENANT),
    "operator": Principal(TENANT, Grant.OPERATOR_KEY),
}


@dataclass(frozen=True)
class Situation:
    """A transaction and its order, if it has one."""

    tx: Transaction
    order: OrderRow | None

    def draft(self, principal: Principal | None = None) -> Draft:
        """Return a draft that has all rows of the transaction, as if they were locked."""
        rows: Rows = {(TRANSACTIONS, self.tx.id): self.tx}
        locked: set[RowKey] = {(ACCOUNTS, PAYER), (ACCOUNTS, PAYEE), (NUMBERS, CARD)}
        for owner in (SENDER, RECEIVER):
            rows[STANDINGS, owner] = Standing(TENANT, owner, 1, 1, 1, None, None, active=True)
        for side, is_outside in ((PAYER, self.flow == "INBOUND"), (PAYEE, self.flow == "OUTBOUND")):
            rows[BALANCES, side] = _balance(self.tx, side, is_outside=is_outside)
            if not is_outside:
                rows[ACCOUNTS, side] = _account(side)
        if self.tx.method == "card":
            rows[CARDS, CARD] = _card()
        if self.order is not None:
            rows[ORDERS, self.order.id] = self.order
        by = principal or Principal(TENANT, Grant.PLATFORM)
        return Draft(rows, locked, Context(by, "req-steps"), NOW)

    @property
    def flow(self) -> str:
        return self.tx.flow

    @property
    def is_in_flight(self) -> bool:
        return self.order is not None and self.order.status in IN_FLIGHT

    @property
    def waits_for_the_outside(self) -> bool:
        return self.flow != "INTERNAL" and not self.tx.settled


def situations(state: str, kind: str) -> Iterator[Situation]:
    """Yield every situation in which a transaction can be in a state."""
    flow, method = KINDS[kind]
    has_orders = kind in {"by card", "to a bank account"}
    is_paid = "complete" in MONEY[state]
    for money, settled, (adjusted, disputed), status in itertools.product(
        MONEY[state], (False, True), PAST.get(state, ((0, 0),)), ORDERED
    ):
        if settled and flow == "INTERNAL":
            continue
        if money == "withheld" and not (flow == "INBOUND" and settled):
            continue
        if is_paid and flow != "INTERNAL" and not settled:
            continue
        # The outside has done its part once the order is done, and not before.
        if settled != (status == "done") if has_orders else status is not None:
            continue
        yield _situation(
            flow,
            status,
            method=method,
            state_id=state,
            money=money,
            settled=settled,
            adjusted=adjusted,
            disputed=disputed,
        )


def _situation(flow: Any, status: str | None, **fields: Any) -> Situation:
    blank = new_transaction(
        TENANT,
        NOW,
        flow,
        purpose="PURCHASE",
        amount=AMOUNT,
        currency="GBP",
        from_owner_id=SENDER,
        to_owner_id=RECEIVER,
        from_account_id=PAYER,
        to_account_id=PAYEE,
        instrument_id=CARD if fields["method"] == "card" else None,
        **fields,
    )
    if status is None:
        return Situation(blank, None)
    kind = "charge" if flow == "INBOUND" else "payout"
    due_at = NOW + timedelta(minutes=1) if status in IN_FLIGHT else None
    row = (blank.id, kind, AMOUNT, "GBP", status, "", 1, due_at, None, NOW)
    order = OrderRow(TENANT, new_id(), 1, *row)
    return Situation(msgspec.structs.replace(blank, order_id=order.id), order)


def holdings(tx: Transaction) -> Counter[tuple[UUID, str]]:
    """Return what a transaction accounts for in the books, by where it says its money is."""
    held: Counter[tuple[UUID, str]] = Counter()
    if tx.money == "reserved":
        held[PAYER, "incomplete_debits"] = held[PAYEE, "incomplete_credits"] = tx.amount
    if tx.money in {"withheld", "complete"}:
        held[PAYER, "complete"] = tx.adjusted - tx.amount
        held[PAYEE, "complete"] = tx.amount - tx.adjusted
    if tx.money == "withheld":
        held[PAYEE, "withheld"] = tx.amount
    held[PAYER, "disputed_credits"] = held[PAYEE, "disputed_debits"] = tx.disputed
    return held


def _balance(tx: Transaction, side: UUID, *, is_outside: bool) -> Balance:
    empty = Balance.empty(TENANT, side, "GBP", "outside" if is_outside else "platform")
    held = {name: holdings(tx)[side, name] for name in COUNTERS}
    if not is_outside:
        held["complete"] += PLENTY
    return msgspec.structs.replace(empty, **held)


def _account(side: UUID) -> Account:
    owner = SENDER if side == PAYER else RECEIVER
    return Account(TENANT, side, 1, NOW, NOW, "ENABLED", [], {}, owner, "GBP")


def _card() -> Card:
    until = NOW + timedelta(days=300)
    facts: tuple[Any, ...] = (
        "4242",
        "0327",
        until,
        "VISA",
        "credit",
        "CARD_ON_FILE",
        False,
        {},
        {},
    )
    return Card(TENANT, CARD, 1, NOW, NOW, "ENABLED", [], {}, SENDER, *facts)


def can_be(one: Situation, target: str, actor: Actor) -> bool:
    """Tell whether the table has the step, and whether what it depends on holds."""
    tx = one.tx
    if actor not in TRANSACTION_ROWS.get((tx.state_id, target), ()):
        return False
    if target == "EFFECTED" and tx.state_id in {"PENDING", "ACCEPTED", "HELD"}:
        return not one.waits_for_the_outside
    if target == "EFFECTED" and tx.state_id == "DISPUTED":
        return tx.adjusted == 0
    if target in ENDS:
        return not (one.flow == "OUTBOUND" and tx.settled)
    return True


def money_after(one: Situation, target: str) -> str:
    """Return where the money must be after a step."""
    before = one.tx.money
    announced = "reserved" if before == "nowhere" else before
    if target in ENDS:
        return "nowhere"
    if target in {"EFFECTED", "ADJUSTED", "DISPUTED"}:
        return "complete"
    if target == "HELD" and one.flow == "INBOUND" and one.tx.settled:
        return "withheld"
    if target in {"ACCEPTED", "PROCESSING", "HELD"}:
        return announced
    if target == "PENDING" and one.order is None and before == "reserved":
        return "nowhere"
    return before


def amounts(one: Situation, target: str) -> tuple[int, ...]:
    """Return with which amounts a step is to be tried."""
    if target == "DISPUTED":
        return (1, one.tx.left)
    if target == "ADJUSTED" and one.tx.state_id == "DISPUTED":
        return (0, 50, one.tx.disputed)
    return (1, one.tx.left) if target == "ADJUSTED" else (0,)


def check_books(draft: Draft, before: Transaction, after: Transaction) -> None:
    """Check that what was posted balances, and is what the transaction says of its money."""
    entries: list[Any] = draft.appended[ENTRIES]
    posted: Counter[tuple[UUID, str]] = Counter()
    for entry in entries:
        assert entry.subject_id == after.id
        for name in COUNTERS:
            posted[entry.account_id, name] += getattr(entry, name)
    for posting_id in {entry.posting_id for entry in entries}:
        legs = [entry for entry in entries if entry.posting_id == posting_id]
        assert sum(leg.complete for leg in legs) == 0
        assert sum(leg.incomplete_debits - leg.incomplete_credits for leg in legs) == 0
        assert sum(leg.disputed_debits - leg.disputed_credits for leg in legs) == 0
    expected = holdings(after)
    expected.subtract(holdings(before))
    assert {key: n for key, n in posted.items() if n} == {k: n for k, n in expected.items() if n}


def check_words(draft: Draft, one: Situation, after: Transaction, actor: Actor) -> None:
    """Check that history and events tell the step, and nothing else."""
    steps: list[Any] = draft.appended[HISTORY]
    (step,) = [row for row in steps if row.object_id == after.id]
    assert (step.source, step.target) == (one.tx.state_id, after.state_id)
    assert (step.actor, step.version) == (actor, one.tx.version + 1)
    events: list[Any] = draft.appended[EVENTS]
    (event,) = [row for row in events if row.object_id == after.id]
    assert event.type == f"transaction.{after.state_id.lower()}"


def check_adjustment(draft: Draft, one: Situation, after: Transaction, amount: int) -> None:
    """Check that an adjustment is on the transaction, and with the rail if it has to pay."""
    before, disputed = one.tx, one.tx.state_id == "DISPUTED"
    is_adjusted = after.state_id == "ADJUSTED" and amount > 0
    assert after.adjusted == before.adjusted + (amount if is_adjusted else 0)
    added = after.adjustments[len(before.adjustments) :]
    kinds = [(shown["type"], shown["amount"]) for shown in added]
    named = "CHARGEBACK" if disputed else "REFUND"
    assert kinds == ([(named, str(amount))] if is_adjusted else [])
    placed = [row for (table, _), row in draft.changed.items() if table is ORDERS]
    refunds = [row for row in placed if row.kind == "refund"]  # type: ignore[attr-defined]  # orders
    goes_back = 0
    if is_adjusted and not disputed and one.flow == "INBOUND":
        goes_back = amount
    if after.state_id in ENDS and before.money == "withheld":
        goes_back = before.amount
    assert [row.amount for row in refunds] == ([goes_back] if goes_back else [])  # type: ignore[attr-defined]  # orders


def check_order(draft: Draft, one: Situation, after: Transaction) -> None:
    """Check that the rail has its order, is stopped, or is done with it."""
    order: Any = None if after.order_id is None else draft.find(ORDERS, after.order_id)
    needed = one.waits_for_the_outside and KINDS["by a transfer to us"] != (
        one.flow,
        one.tx.method,
    )
    if after.state_id in {"ACCEPTED", "PROCESSING"}:
        assert (order is not None) == (needed or one.order is not None)
        if needed and (one.order is None or one.order.status not in {"done", "refused"}):
            assert order.due_at == NOW
    elif one.order is None:
        assert order is None
    was = None if one.order is None else one.order.status
    if after.state_id in ENDS and was is not None:
        assert order.status == (was if was in {"done", "refused"} else "recalled")
    if after.state_id == "EFFECTED" and one.tx.state_id != "DISPUTED" and was is not None:
        assert order.status == "done"
    if order is not None and order.status in {"done", "refused", "recalled"}:
        assert order.due_at is None or after.state_id in {"ACCEPTED", "PROCESSING"}


every_start = pytest.mark.parametrize(
    ("state", "kind"), list(itertools.product(MACHINE.states, KINDS)), ids=str
)


@every_start
def test_a_step_is_taken_exactly_when_the_table_and_its_condition_say_so(
    state: str, kind: str
) -> None:
    taken = set()
    for one, target, actor in itertools.product(situations(state, kind), MACHINE.states, Actor):
        if not can_be(one, target, actor):
            draft = one.draft()
            with pytest.raises(errors.TransitionNotAllowed) as refused:
                actions.take(draft, one.tx, target, actor=actor)
            assert refused.value.members == {
                "currentStateId": state,
                "allowedStateIds": [other for other in MACHINE.states if can_be(one, other, actor)],
            }
            assert not draft.changed
            assert not draft.appended
            continue
        for amount in amounts(one, target):
            draft = one.draft()
            after = actions.take(draft, one.tx, target, actor=actor, amount=amount)
            assert (after.state_id, after.money) == (target, money_after(one, target))
            check_books(draft, one.tx, after)
            check_words(draft, one, after, actor)
            check_adjustment(draft, one, after, amount)
            check_order(draft, one, after)
            taken.add((state, target))
    rows = {step for step in TRANSACTION_ROWS if step[0] == state}
    # Within the platform, and by every rail, each row of the table can be taken by somebody.
    assert taken == rows


def request(one: Situation, target: str, expected: str | None = None) -> Any:
    """Return the body that asks for a step, with the options that it needs."""
    body: dict[str, Any] = {"toStateId": target, "fromStateId": expected}
    if target == "ADJUSTED" and one.tx.state_id != "DISPUTED":
        body["options"] = {"adjustment": {"adjustmentAmount": "1"}}
    return parse(MoveTransaction, body, NOW)


def may(one: Situation, target: str, who: str, *, recalled: bool) -> bool:
    """Tell whether somebody may move a transaction there by a request."""
    actor = WHO[who].actor
    if who == "receiver" or not can_be(one, target, actor):
        return False
    is_paid_out = one.flow == "OUTBOUND" and one.tx.state_id in {"EFFECTED", "ADJUSTED"}
    if who == "client" and is_paid_out and target == "ADJUSTED":
        return False
    stays = one.is_in_flight and not recalled and target in ENDS
    return not stays or (who == "operator" and target == "FAILED")


def allowed(one: Situation, who: str, *, recalled: bool) -> list[str]:
    return [other for other in REQUESTED if may(one, other, who, recalled=recalled)]


@every_start
def test_a_request_moves_a_transaction_exactly_when_it_may(state: str, kind: str) -> None:
    for one, target, who in itertools.product(situations(state, kind), REQUESTED, WHO):
        for recalled in (True, False) if one.is_in_flight else (True,):
            draft = one.draft(WHO[who])
            stopped = one.order.id if one.order is not None and recalled else None
            body = request(one, target)
            if may(one, target, who, recalled=recalled):
                after = take_step(draft, one.tx, body, stopped)
                assert (after.state_id, after.money) == (target, money_after(one, target))
                check_books(draft, one.tx, after)
                check_words(draft, one, after, WHO[who].actor)
                continue
            with pytest.raises(errors.TransitionNotAllowed) as refused:
                take_step(draft, one.tx, body, stopped)
            # Until the rail has said no, it may recall what it has.
            hope = recalled or not may(one, target, who, recalled=True)
            assert refused.value.members == {
                "currentStateId": state,
                "allowedStateIds": allowed(one, who, recalled=hope),
            }
            assert not draft.changed
            assert not draft.appended


@every_start
def test_another_state_than_the_expected_one_is_refused_before_everything_else(
    state: str, kind: str
) -> None:
    said = "CHARGEBACK" if state == "DISPUTED" else state
    others = {*(("CHARGEBACK" if s == "DISPUTED" else s) for s in MACHINE.states)} - {said}
    one = next(situations(state, kind))
    for who, target in itertools.product(WHO, REQUESTED):
        for expected in others:
            with pytest.raises(errors.StateMismatch) as refused:
                take_step(one.draft(WHO[who]), one.tx, request(one, target, expected), None)
            assert refused.value.members == {
                "currentStateId": state,
                "allowedStateIds": allowed(one, who, recalled=True),
            }
        if may(one, target, who, recalled=True):
            after = take_step(one.draft(WHO[who]), one.tx, request(one, target, said), None)
            assert after.state_id == target


@every_start
def test_nobody_moves_a_transaction_whose_requirements_are_unresolved(
    state: str, kind: str
) -> None:
    for one, target, who in itertools.product(situations(state, kind), REQUESTED, WHO):
        asked = {"threeDSecure": "https://farthing.test/challenges/x"}
        tx = msgspec.structs.replace(one.tx, requirements=asked)
        with pytest.raises(errors.RequirementsUnresolved) as refused:
            take_step(one.draft(WHO[who]), tx, request(one, target), None)
        assert refused.value.members == {"currentStateId": state, "allowedStateIds": []}


@pytest.mark.parametrize("kind", KINDS)
def test_the_platform_goes_on_only_by_steps_of_its_own_and_comes_to_rest(kind: str) -> None:
    for state in MACHINE.states:
        for one, goal in itertools.product(
            situations(state, kind), ("PENDING", "HELD", "EFFECTED")
        ):
            tx = msgspec.structs.replace(one.tx, target_state_id=goal)
            draft = one.draft()
            after = actions.go_on(draft, tx)
            check_books(draft, tx, after)
            steps: list[Any] = draft.appended[HISTORY]
            path = [step for step in steps if step.object_id == tx.id]
            for step in path:
                assert Actor.PLATFORM in TRANSACTION_ROWS[step.source, step.target]
            assert [step.target for step in path][-1:] in ([], [after.state_id])
            assert actions.go_on(draft, after) == after


def test_a_transaction_is_named_in_every_entry_and_event() -> None:
    one = next(situations("HELD", "within"))
    draft = one.draft()
    actions.take(draft, one.tx, "EFFECTED", actor=Actor.OPERATOR)
    events: list[Any] = draft.appended[EVENTS]
    assert msgspec.json.decode(events[0].data)["id"] == say("transaction", one.tx.id)
