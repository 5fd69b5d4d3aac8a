"""What follows from what rails and cardholders say; the platform does it, in one commit each."""

from datetime import timedelta
from uuid import UUID

import msgspec
from msgspec import Struct

from farthing.core import ids
from farthing.core.actors import Actor
from farthing.core.errors import Unavailable
from farthing.db.commands import Command, Need
from farthing.db.draft import Draft
from farthing.ledger import effects
from farthing.ledger.postings import post
from farthing.rails.base import DisputeEnd, Outcome
from farthing.resources.accounts.actions import is_closed
from farthing.resources.arrivals.actions import into_suspense, needs_of_suspense
from farthing.resources.bank_accounts.model import BankAccount
from farthing.resources.bank_accounts.store import BANK_ACCOUNTS
from farthing.resources.cards.model import Card
from farthing.resources.cards.store import CARDS
from farthing.resources.challenges.actions import open_challenge
from farthing.resources.challenges.model import Link
from farthing.resources.orders import actions as orders
from farthing.resources.orders.model import OrderRow, Status
from farthing.resources.orders.store import ORDERS
from farthing.resources.settlements.model import said
from farthing.resources.settlements.store import Paid
from farthing.resources.transactions import model
from farthing.resources.transactions.actions import (
    erase_number,
    needs_of,
    order_of,
    resume,
    take,
)
from farthing.resources.transactions.model import (
    FINAL,
    IN_HAND,
    MACHINE,
    UNDER_WAY,
    Flow,
    Transaction,
)
from farthing.resources.transactions.store import TRANSACTIONS


class Claimed(Struct, frozen=True):
    """An order that this process sees to, with all that the rail must be told."""

    order: OrderRow
    tx: Transaction
    card: Card | None
    bank_account: BankAccount | None


class Asked(Struct, frozen=True):
    """A question to the cardholder, ready in case that the rail wants one."""

    link: Link
    url: str
    lifetime: timedelta


def claim(order: OrderRow, claimed: list[Claimed], *, at_once: bool = False) -> Command:
    """Take an order to see to it: it is then in `claimed`, unless it has to wait.

    At once, also one that is not due yet, or that somebody else sees to at this moment: a rail
    carries it out once all the same.
    """

    def decide(draft: Draft) -> None:
        claimed.clear()
        tx, found = _both(draft, order)
        if not (orders.is_due(draft, found) or (at_once and found.is_open)):
            return
        if found.attempts == 0 and found.kind != "refund":
            if tx.state_id not in IN_HAND or tx.awaits_approval:
                orders.rest(draft, found, "waiting")
                return
            if MACHINE.find(tx.state_id, "PROCESSING", Actor.PLATFORM):
                tx = take(draft, tx, "PROCESSING")
                found = _both(draft, order)[1]
        key, by_card = tx.instrument_id, tx.method == "card"
        card = draft.find(CARDS, key) if key and by_card else None
        bank_account = draft.find(BANK_ACCOUNTS, key) if key and not by_card else None
        claimed.append(Claimed(orders.claim(draft, found), tx, card, bank_account))

    return Command(decide, needs=_needs(order))


def record(order: OrderRow, outcome: Outcome, rail: str, asked: Asked) -> Command:
    """Write down what became of an order, and let its transaction go on."""

    def decide(draft: Draft) -> None:
        tx, found = _both(draft, order)
        if found.status in {"done", "refused"}:
            return
        if outcome.status in {"done", "refused"}:
            orders.rest(draft, found, outcome.status, outcome.reason)
            if found.kind == "charge":
                erase_number(draft, tx)
            end = _end_refund if found.kind == "refund" else _end_payment
            end(draft, tx, found, outcome, rail)
        elif found.kind == "refund":
            orders.put_off(draft, found, _still(found, outcome), outcome.reason)
        elif tx.state_id not in FINAL:
            _wait(draft, tx, outcome, asked)
        elif found.status != "recalled":
            orders.put_off(draft, found, _still(found, outcome), outcome.reason)

    needs = [*_needs(order), *needs_of_suspense(order.tenant_id, rail, order.currency)]
    return Command(decide, needs=needs)


def resolve(transaction_id: UUID, *, approved: bool, reason: str) -> Command:
    """End the challenge of a transaction: the cardholder approved, declined, or let it pass."""

    def decide(draft: Draft) -> Struct:
        tx = draft.require(TRANSACTIONS, transaction_id)
        order, left = order_of(draft, tx), tx.unresolved_beside("threeDSecure")
        if order is None:
            raise LookupError("a challenge without an order")
        if approved:
            MACHINE.check(tx.state_id, None, "EFFECTED", Actor.PLATFORM)
            orders.wake(draft, order, "approved")
            free = msgspec.structs.replace(tx, requirements=left)
            return draft.change(TRANSACTIONS, tx, free, "updated", reason)
        if tx.state_id in FINAL:
            return model.view(tx)
        orders.rest(draft, order, "refused", reason)
        erase_number(draft, tx)
        return model.view(resume(draft, tx, reason, requirements=left))

    return Command(decide, needs=_needs_of(transaction_id))


def open_dispute(
    transaction_id: UUID, amount: int | None, reason: str, version: int | None = None
) -> Command:
    """Set aside what a payer disputes: at most what is left, and by default all of it."""

    def decide(draft: Draft) -> Struct:
        tx = draft.require(TRANSACTIONS, transaction_id)
        if version is not None and tx.version != version:
            # A refund may be under way by now, and what it becomes says how much is left.
            raise Unavailable("The transaction has just changed.")
        disputed = tx.left if amount is None else min(amount, tx.left)
        # One beside another, or of what is gone, is only told: what it costs, its end will say.
        if disputed <= 0 or MACHINE.find(tx.state_id, "DISPUTED", Actor.PLATFORM) is None:
            return draft.change(TRANSACTIONS, tx, tx, "dispute_not_opened")
        return model.view(take(draft, tx, "DISPUTED", amount=disputed, reason=reason))

    return Command(decide, needs=needs_of(transaction_id))


def end_dispute(about: Paid, end: DisputeEnd, rail: str) -> Command:
    """End a dispute: this much is lost, 0 if it was won, and by default all of it.

    What the network took beyond what was set aside here, such as what was refunded before, is in
    suspense: it has left, and nobody here owes it to the payer. So is what it did not take although
    the operator has said so.
    """

    def decide(draft: Draft) -> Struct:
        tx = draft.require(TRANSACTIONS, about.transaction_id)
        expected = tx.disputed or _charged_back(tx)
        lost = expected if end.lost is None else end.lost
        amount = min(lost, tx.disputed)
        beyond = lost - (amount if tx.disputed else expected)
        if beyond:
            why = {"disputeOf": ids.say(model.NOUN, tx.id)}
            flow: Flow = "OUTBOUND" if beyond > 0 else "INBOUND"
            into_suspense(draft, rail, flow, abs(beyond), about.currency, annotations=why)
        if tx.disputed:
            target = "ADJUSTED" if amount or tx.adjusted else "EFFECTED"
            tx = take(draft, tx, target, amount=amount, reason=end.reason)
        return model.view(tx)

    needs = needs_of_suspense(end.tenant_id, rail, about.currency)
    return Command(decide, needs=[*needs_of(about.transaction_id), *needs])


def _charged_back(tx: Transaction) -> int:
    """Return what the last dispute took, if one did."""
    taken = [int(one["amount"]) for one in tx.adjustments if one["type"] == "CHARGEBACK"]
    return taken[-1] if taken else 0


def expire(transaction_id: UUID) -> Command:
    """Fail a transaction whose bank transfer did not come in time."""

    def decide(draft: Draft) -> Struct | None:
        tx = draft.require(TRANSACTIONS, transaction_id)
        is_late = tx.expires_at is not None and tx.expires_at <= draft.now
        waits = MACHINE.find(tx.state_id, "FAILED", Actor.PLATFORM) is not None
        if not waits or tx.settled or not is_late:
            return None
        return model.view(take(draft, tx, "FAILED", reason="No transfer came in time."))

    return Command(decide, needs=needs_of(transaction_id))


def _end_payment(
    draft: Draft, tx: Transaction, order: OrderRow, outcome: Outcome, rail: str
) -> None:
    """Let a transaction follow the outcome; what comes after its end belongs to nobody."""
    done = outcome.status == "done"
    if tx.state_id not in FINAL:
        resume(draft, tx, said(outcome), settled=done)
    elif done:
        _into_suspense(draft, tx, order, rail, "lateOutcomeOf")


def _end_refund(
    draft: Draft, tx: Transaction, order: OrderRow, outcome: Outcome, rail: str
) -> None:
    """Tell that a refund has arrived, or put back what the rail refused to return."""
    if outcome.status == "done":
        draft.change(TRANSACTIONS, tx, tx, "refunded")
        return
    if tx.state_id in FINAL or is_closed(draft, tx.to_account_id):
        _into_suspense(draft, tx, order, rail, "refusedRefundOf")
        return
    post(draft, effects.restore(tx.from_account_id, tx.to_account_id, order.amount), tx.id)
    taken_back = ids.say("adjustment", order.adjustment_id or order.id)
    left = [one for one in tx.adjustments if one["id"] != taken_back]
    new = msgspec.structs.replace(tx, adjustments=left, adjusted=tx.adjusted - order.amount)
    if any(step.source == step.target == tx.state_id for step in MACHINE.table):
        draft.step(TRANSACTIONS, tx, new, "refund_refused", said(outcome), Actor.PLATFORM)
    else:
        draft.change(TRANSACTIONS, tx, new, "refund_refused")


def _wait(draft: Draft, tx: Transaction, outcome: Outcome, asked: Asked) -> None:
    """Keep a transaction under way, or astray, until more is known."""
    if outcome.status in {"pending", "challenge"} and (way := model.DETOURS.get(tx.state_id)):
        tx = take(draft, tx, way, reason=said(outcome))
    order = order_of(draft, tx)
    if order is None:
        raise LookupError("an outcome without an order")
    if outcome.status == "unheard":
        # The rail never got it, and whoever keeps it waiting decides whether it will.
        if tx.state_id in IN_HAND and not tx.awaits_approval:
            orders.wake(draft, order)
        else:
            orders.rest(draft, order, "waiting")
        return
    if outcome.status == "challenge" and tx.state_id == "PROCESSING":
        orders.rest(draft, order, "challenge", outcome.reason)
        open_challenge(draft, asked.link, model.NOUN, tx.id, asked.lifetime)
        wanted = {**tx.requirements, "threeDSecure": asked.url}
        new = msgspec.structs.replace(tx, requirements=wanted)
        draft.change(TRANSACTIONS, tx, new, "updated")
        return
    orders.put_off(draft, order, _still(order, outcome), outcome.reason)
    if outcome.status != "pending" and tx.state_id in UNDER_WAY and not tx.awaits_approval:
        take(draft, tx, "ERRORED", reason=said(outcome))


def _still(order: OrderRow, outcome: Outcome) -> Status:
    """Return how an order stands; what a cardholder approved stays so until the rail knows."""
    if outcome.status == "pending":
        return "pending"
    return "approved" if order.status == "approved" else "unknown"


def _into_suspense(draft: Draft, tx: Transaction, order: OrderRow, rail: str, why: str) -> None:
    """Keep the books true about money that moved outside although its transaction has ended."""
    into_suspense(
        draft,
        rail,
        "OUTBOUND" if order.kind == "payout" else "INBOUND",
        order.amount,
        order.currency,
        annotations={why: ids.say(model.NOUN, tx.id)},
        order_id=tx.order_id,
    )


def _both(draft: Draft, order: OrderRow) -> tuple[Transaction, OrderRow]:
    tx, found = draft.find(TRANSACTIONS, order.transaction_id), draft.find(ORDERS, order.id)
    if tx is None or found is None:
        raise LookupError("an order without its transaction")
    return tx, found


def _needs(order: OrderRow) -> list[Need]:
    return [*_needs_of(order.transaction_id), Need(ORDERS, order.id)]


def _needs_of(transaction_id: UUID) -> list[Need]:
    """Name a transaction with all that belongs to it, its bank account included."""

    def follow(tx: Transaction) -> list[Need]:
        key = None if tx.method == "card" else tx.instrument_id
        return [] if key is None else [Need(BANK_ACCOUNTS, key)]

    return [*needs_of(transaction_id), Need(TRANSACTIONS, transaction_id, follow)]
