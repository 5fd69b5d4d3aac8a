"""What a control does: it has a word with the rail's memory, and lets the platform hear it at once.

Everything in between is the code that runs without controls too. Whatever does not fit the present
state is refused before the rail is told.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Final
from uuid import UUID, uuid5

import msgspec
from msgspec import Struct

from farthing.core import ids
from farthing.core.actors import Actor, Grant, Principal
from farthing.core.errors import (
    ControlNotApplicable,
    IdempotencyInProgress,
    NotFound,
    Problem,
    Unavailable,
)
from farthing.db import objects
from farthing.db.calls import Call
from farthing.db.commands import Command, Context, Shown
from farthing.db.committer import Committer
from farthing.db.draft import Draft
from farthing.db.tables import ObjectTable
from farthing.rails import moods
from farthing.rails.base import Arrival, Dispute, DisputeEnd, News, RailAway
from farthing.rails.memory import fated_dispute
from farthing.rails.numbers import Decision
from farthing.resources.accounts.actions import needs_of_side, refuse_inactive
from farthing.resources.arrivals.actions import bring_back, give_up
from farthing.resources.arrivals.store import find_waiting
from farthing.resources.bank_accounts.store import BANK_ACCOUNTS
from farthing.resources.cards.actions import resolve as resolve_card
from farthing.resources.cards.store import CARDS
from farthing.resources.challenges.actions import Outcome, end_challenge
from farthing.resources.events.store import find_head
from farthing.resources.sandbox import model, store
from farthing.resources.sandbox.model import PAID, rail_of, refusal
from farthing.resources.settlements.actions import resolve as resolve_transaction
from farthing.resources.settlements.api import Teller
from farthing.resources.transactions.model import NOUN, Transaction
from farthing.resources.transactions.store import TRANSACTIONS

_PAYER: Final = "A SANDBOX PAYER"
_SLOW_SECONDS: Final = 5
# Somebody else may be writing the same down at this moment.
_PATIENCE_SECONDS: Final = 5
_PAUSE_SECONDS: Final = 0.02


def control(
    table: ObjectTable[Any],
    shown: Callable[..., Struct],
    act: Callable[[Call[Any], Any], Awaitable[None]],
) -> Callable[[Call[Any]], Awaitable[Command]]:
    """Make an operation of what a control does with an object: it answers with what it caused."""

    async def prepare(call: Call[Any]) -> Command:
        rail_of(call)
        before = await find_head(call.pool, call.principal.tenant_id)
        row, _ = await objects.fetch(call, table)
        await _calmly(act(call, row))
        answer = await store.fetch_controlled(call, table, shown, before)
        return Command(lambda _: answer)

    return prepare


async def settle(call: Call[Any], tx: Transaction) -> None:
    """Let the rail carry out what it has, or the announced transfer arrive."""
    if not model.is_awaited(tx):
        await _decide(call, tx, "done", "")
        return
    reference = tx.reference or ""
    waiting = await find_waiting(call.pool, tx.tenant_id, reference, tx.amount)
    if waiting[:1] != [tx.id]:
        older = ids.say(NOUN, waiting[0]) if waiting else "another"
        raise refusal(tx, f"The transfer would settle {older}, which waits longer for the same.")
    side = tx.to_account_id
    await _submit(call, Command(lambda draft: refuse_inactive(draft, side), needs_of_side(side)))
    key = uuid5(tx.id, f"arrival {tx.version}")
    await _tell(call, Arrival(tx.tenant_id, key, tx.amount, tx.currency, reference, _PAYER))


async def fail(call: Call[Any], tx: Transaction) -> None:
    """Let the rail refuse what it has, or the announced transfer never come."""
    reason = call.body.reason
    if model.is_awaited(tx):
        await _submit(call, give_up(tx.id, reason or "No transfer came."))
    else:
        await _decide(call, tx, "refused", reason or "sandbox")


async def stall(call: Call[Any], tx: Transaction) -> None:
    """Let the rail keep what it has, until another control says what becomes of it."""
    if model.is_awaited(tx):
        raise refusal(tx, "A bank transfer waits by itself until it is settled or failed.")
    await _decide(call, tx, "pending", "stalled")


async def send_back(call: Call[Any], tx: Transaction) -> None:
    """Let a bank send a payout back, or take back what came in: a dispute, lost at once."""
    reason = call.body.reason or "The bank returned it."
    if tx.flow == "OUTBOUND" and tx.state_id in PAID:
        if not tx.left:
            raise refusal(tx, "All of it is back already.")
        await _submit(call, bring_back(tx.id, reason))
        return
    await _open_dispute(call, tx, None, reason)
    disputed, _ = await objects.fetch(call, TRANSACTIONS)
    await _end_dispute(call, disputed, None, reason)


async def dispute(call: Call[Any], tx: Transaction) -> None:
    """Let the payer dispute what came in."""
    await _open_dispute(call, tx, model.amount_of(call.body), "fraudulent")


async def win_dispute(call: Call[Any], tx: Transaction) -> None:
    """Let the network decide a dispute for the payee."""
    await _end_dispute(call, tx, 0, "won")


async def lose_dispute(call: Call[Any], tx: Transaction) -> None:
    """Let the network decide a dispute for the payer, all of it or a part."""
    await _end_dispute(call, tx, model.amount_of(call.body), "lost")


async def answer_payment(call: Call[Any], tx: Transaction) -> None:
    """Answer the challenge of a payment in the cardholder's place."""
    await _answer(call, tx, resolve_transaction)
    orders = await store.fetch_orders(call.pool, tx.tenant_id, tx.id)
    if call.body.approve and (order := model.open_order(tx, orders)):
        await call.part(Teller).see_to(order, at_once=True)


async def answer_card(call: Call[Any], card: Any) -> None:
    """Answer the challenge of a card in the cardholder's place."""
    await _answer(call, card, resolve_card)


async def fail_card(call: Call[Any], card: Any) -> None:
    """Let the network withdraw its verification of a card."""
    if card.requirements:
        raise refusal(card, model.wanted_first(card.requirements))
    await _submit(call, _disable(CARDS, card.id, "The network withdrew its verification."))


async def fail_bank_account(call: Call[Any], account: Any) -> None:
    """Let the bank withdraw its verification of a bank account."""
    await _submit(call, _disable(BANK_ACCOUNTS, account.id, "The bank withdrew its verification."))


async def receive(call: Call[Any]) -> Command:
    """Let a bank transfer arrive, and show the transaction that it ends up in."""
    rail_of(call)
    body, tenant_id = call.body, call.principal.tenant_id
    # A repeat of the request is the same arrival, also where the first answer was lost.
    key = ids.new_id() if call.key is None else uuid5(tenant_id, f"arrival {call.key}")
    told = (int(body.amount), body.currency_iso, body.reference, body.from_name or _PAYER)
    before = await find_head(call.pool, tenant_id)
    await _calmly(_tell(call, Arrival(tenant_id, key, *told)))
    found = await store.find_arrived(call.pool, tenant_id, key)
    about, shown = msgspec.structs.replace(call, object_id=found), model.ControlledTransaction
    answer = await store.fetch_controlled(about, TRANSACTIONS, shown, before)
    return Command(lambda _: answer)


def change_mood(call: Call[Any]) -> Command:
    """Put the tenant's rail into a mood."""
    rail_of(call)
    body, tenant_id = call.body, call.principal.tenant_id
    lasting = None if body.for_minutes is None else timedelta(minutes=body.for_minutes)
    seconds = (body.seconds or _SLOW_SECONDS) if body.mood == "slow" else 0
    change = moods.change(tenant_id, body.mood, seconds, lasting, body.requests, body.refuse)
    return Command(lambda draft: model.show_mood(change.decide(draft)), needs=change.needs)


async def _calmly(acting: Awaitable[None]) -> None:
    """Do what was asked for whatever the rail's mood, and say if the world is away."""
    try:
        with moods.calm():
            await acting
    except RailAway:
        raise Unavailable("The sandbox's memory does not answer. Repeat in a moment.") from None


async def _decide(call: Call[Any], tx: Transaction, wanted: Decision, reason: str) -> None:
    """Have the rail say what becomes of an order, and hear it."""
    order = model.open_order(tx, await store.fetch_orders(call.pool, tx.tenant_id, tx.id))
    if order is None:
        raise refusal(tx, model.instead(tx))
    paid_by = (tx.order_id or tx.id) if order.kind == "refund" else None
    outcome = await rail_of(call).ordain(order.instruction, order.kind, wanted, reason, paid_by)
    await call.part(Teller).see_to(order, at_once=True)
    if outcome.status != wanted:
        now, _ = await objects.fetch(call, TRANSACTIONS)
        raise refusal(now, f"The rail was quicker; it said: {outcome.status}. {model.instead(now)}")


async def _open_dispute(call: Call[Any], tx: Transaction, amount: int | None, reason: str) -> None:
    order_id = model.require_disputable(tx, await store.find_paid(call, tx), amount)
    # What the card's own fate has in store is overtaken.
    await rail_of(call).heard(fated_dispute(tx.tenant_id, order_id))
    key = uuid5(tx.id, f"dispute {tx.version}")
    await _tell(call, Dispute(tx.tenant_id, key, order_id, amount, reason))
    await _require_changed(call, tx)


async def _end_dispute(call: Call[Any], tx: Transaction, lost: int | None, reason: str) -> None:
    order_id = model.require_disputed(tx, await store.find_paid(call, tx), lost)
    key = uuid5(tx.id, f"end of dispute {tx.version}")
    await _tell(call, DisputeEnd(tx.tenant_id, key, order_id, lost, reason))
    await _require_changed(call, tx)


async def _require_changed(call: Call[Any], tx: Transaction) -> None:
    """Say if the platform refused what the rail told it."""
    now, _ = await objects.fetch(call, TRANSACTIONS)
    if now.state_id == tx.state_id:
        raise refusal(now, f"Somebody was quicker. {model.instead(now)}")


async def _tell(call: Call[Any], news: News) -> None:
    """Have the rail tell something, and hear it; what cannot be written down was never said."""
    rail, teller = rail_of(call), call.part(Teller)
    await rail.tell(news)
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while not await _hear(teller, news):  # noqa: ASYNC110 - other processes signal nothing
                await asyncio.sleep(_PAUSE_SECONDS)
    except TimeoutError:
        await rail.heard(news)
        raise Unavailable("Others are busy with the same. Repeat in a moment.") from None
    except Problem:
        await rail.heard(news)
        raise


async def _hear(teller: Teller, news: News) -> bool:
    try:
        written = await teller.hear(news)
    except (IdempotencyInProgress, Unavailable):
        # The worker writes it down at this moment, or has just changed what it is about.
        return False
    if isinstance(news, Arrival) and not written:
        raise ControlNotApplicable("The account that it belongs to cannot take so much.")
    return written


async def _answer(call: Call[Any], row: Any, resolve: Callable[..., Command]) -> None:
    """End a challenge as the cardholder would on the page."""
    approved = call.body.approve
    link = model.challenge_of(row.requirements)
    if link is None:
        raise refusal(row, "Nobody is asked for an approval. A challenge waits in `requirements`.")
    outcome: Outcome = "approved" if approved else "declined"
    consequence = resolve(row.id, approved=approved, reason=f"The cardholder {outcome} it.")
    try:
        await _submit(call, end_challenge(link.challenge_id, outcome, consequence))
    except NotFound:
        raise refusal(row, "The challenge has just ended. Read the object again.") from None


async def _submit(call: Call[Any], command: Command) -> None:
    """Commit what the platform does when it hears from outside, or say why it does not."""
    problems: list[Problem] = []

    def decide(draft: Draft) -> Shown:
        try:
            return command.decide(draft)
        except Problem as problem:
            problems.append(problem)
            raise

    platform = Principal(call.principal.tenant_id, Grant.PLATFORM)
    context = Context(platform, f"sandbox-{ids.new_id()}")
    answer = await call.part(Committer).submit(context, Command(decide, needs=command.needs))
    if answer.status >= HTTPStatus.BAD_REQUEST:
        raise problems[-1]


def _disable(table: ObjectTable[Any], key: UUID, reason: str) -> Command:
    """Put an instrument out of use that was verified."""

    def decide(draft: Draft) -> None:
        old = draft.require(table, key)
        if table.machine.find(old.state_id, "DISABLED", Actor.PLATFORM) is None:
            raise refusal(old, "Only what is ENABLED has a verification that could be withdrawn.")
        new = msgspec.structs.replace(old, state_id="DISABLED")
        draft.change(table, old, new, "disabled", reason)

    return Command(decide, needs=objects.needs_of(table, key))
