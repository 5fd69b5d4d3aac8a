"""What follows when money arrives: it goes where its reference says, or into suspense."""

from typing import Any
from uuid import UUID

from msgspec import Struct

from farthing.core.actors import Actor
from farthing.core.errors import AccountNotActive, AmountExceedsRemaining, TransitionNotAllowed
from farthing.db.commands import Command, Need
from farthing.db.draft import Draft
from farthing.db.hearings import Matter
from farthing.db.pool import Pool
from farthing.ledger.balances import BALANCES, outside_account
from farthing.ledger.postings import open_outside
from farthing.rails.base import Arrival
from farthing.resources.accounts.actions import in_use, is_closed, needs_of_side, open_suspense
from farthing.resources.accounts.model import Account, suspense_account
from farthing.resources.accounts.store import ACCOUNTS
from farthing.resources.arrivals import store
from farthing.resources.arrivals.model import WAITING, ArrivalRow
from farthing.resources.arrivals.store import ARRIVALS
from farthing.resources.customers.store import STANDINGS
from farthing.resources.payments.model import new_transaction
from farthing.resources.references import store as references
from farthing.resources.references.model import find_in
from farthing.resources.references.store import REFERENCES
from farthing.resources.transactions import model
from farthing.resources.transactions.actions import begin, needs_of, resume, take
from farthing.resources.transactions.model import Flow, Transaction
from farthing.resources.transactions.store import TRANSACTIONS


async def receive(pool: Pool, rail: str, arrival: Arrival) -> Command:
    """Put arriving money where it belongs, once, however often it is told."""
    tenant_id, text = arrival.tenant_id, find_in(arrival.reference)
    found = None if text is None else await references.find_by_text(pool, tenant_id, text)
    waiting, matter = [], None
    if text is not None:
        waiting = await store.find_waiting(pool, tenant_id, text, arrival.amount)

    def decide(draft: Draft) -> Struct | None:
        if draft.find(ARRIVALS, arrival.id) is not None:
            return None
        fitting, anybody_waits = _fitting(draft, waiting, arrival)
        account = None if found is None else _account(draft, found.id, arrival)
        if fitting is not None:
            tx = resume(draft, fitting, settled=True, order_id=arrival.id)
        elif account is not None and found is not None and not anybody_waits:
            tx = _deposit(draft, rail, account, found.from_customer_id, arrival)
        else:
            said = {"reference": arrival.reference or None, "order_id": arrival.id}
            tx = into_suspense(draft, rail, "INBOUND", arrival.amount, arrival.currency, **said)
        row = ArrivalRow(
            tenant_id=draft.tenant_id,
            id=arrival.id,
            version=1,
            amount=arrival.amount,
            currency=arrival.currency,
            reference=arrival.reference,
            payer=arrival.payer,
            transaction_id=tx.id,
            created_at=draft.now,
        )
        draft.insert(ARRIVALS, row)
        return model.view(tx)

    needs = [Need(ARRIVALS, arrival.id), *needs_of_suspense(tenant_id, rail, arrival.currency)]
    needs += [need for key in waiting for need in needs_of(key)]
    if found is not None:
        needs += [Need(REFERENCES, found.id), *needs_of_side(found.to_account_id)]
        matter = Matter(f"{model.NOUN}.create", found.owner_id, found.currency)
    return Command(decide, needs=needs, matter=matter)


def give_up(transaction_id: UUID, reason: str) -> Command:
    """Fail a transaction whose transfer is known not to come."""

    def decide(draft: Draft) -> Struct:
        tx = draft.require(TRANSACTIONS, transaction_id)
        if tx.settled:
            detail = "The transfer has come."
            raise TransitionNotAllowed(detail, currentStateId=tx.state_id, allowedStateIds=[])
        return model.view(take(draft, tx, "FAILED", reason=reason))

    return Command(decide, needs=needs_of(transaction_id))


def bring_back(transaction_id: UUID, reason: str) -> Command:
    """Put a payout back that a bank returned, as the operator does who hears of it."""

    def decide(draft: Draft) -> Struct:
        tx = draft.require(TRANSACTIONS, transaction_id)
        if not tx.left:
            raise AmountExceedsRemaining("All of it is back already.", currentStateId=tx.state_id)
        if is_closed(draft, tx.from_account_id):
            detail = "The account from which it came is CLOSED and takes nothing back."
            raise AccountNotActive(detail, currentStateId=tx.state_id)
        by, left = Actor.OPERATOR, tx.left
        return model.view(take(draft, tx, "ADJUSTED", actor=by, amount=left, reason=reason))

    return Command(decide, needs=needs_of(transaction_id))


def into_suspense(
    draft: Draft, rail: str, flow: Flow, amount: int, currency: str, **fields: Any
) -> Transaction:
    """Keep the books true about money that moved outside and belongs to nobody here."""
    account = open_suspense(draft, currency)
    outside = open_outside(draft, rail, currency)
    sides = (outside, account.id) if flow == "INBOUND" else (account.id, outside)
    tx = new_transaction(
        draft.tenant_id,
        draft.now,
        flow,
        method="bankAccount",
        purpose="DEPOSIT" if flow == "INBOUND" else "WITHDRAWAL",
        amount=amount,
        currency=currency,
        from_owner_id=account.owner_id,
        to_owner_id=account.owner_id,
        from_account_id=sides[0],
        to_account_id=sides[1],
        tags=["suspense"],
        **fields,
    )
    draft.create(TRANSACTIONS, tx)
    return resume(draft, tx, settled=True)


def needs_of_suspense(tenant_id: UUID, rail: str, currency: str) -> list[Need]:
    """Name the accounts between which money comes into suspense."""
    account_id = suspense_account(tenant_id, currency)
    return [
        Need(ACCOUNTS, account_id),
        Need(BALANCES, account_id),
        Need(STANDINGS, tenant_id),
        Need(BALANCES, outside_account(tenant_id, rail, currency)),
    ]


def _fitting(draft: Draft, keys: list[UUID], arrival: Arrival) -> tuple[Transaction | None, bool]:
    """Return the first transaction that waits for just this, and whether any waits at all."""
    found = [tx for key in keys if (tx := draft.find(TRANSACTIONS, key)) is not None]
    waiting = [tx for tx in found if tx.state_id in WAITING and not tx.settled]
    asked = (arrival.amount, arrival.currency)
    fits = (tx for tx in waiting if (tx.amount, tx.currency) == asked)
    return next((tx for tx in fits if in_use(draft, tx.to_account_id)), None), bool(waiting)


def _account(draft: Draft, reference_id: UUID, arrival: Arrival) -> Account | None:
    """Return the account that a reference leads to, if it can take the money."""
    reference = draft.find(REFERENCES, reference_id)
    account = None if reference is None else draft.find(ACCOUNTS, reference.to_account_id)
    if reference is None or account is None or account.currency != arrival.currency:
        return None
    is_good = reference.state_id == "ENABLED" and reference.expires_at > draft.now
    return account if is_good and in_use(draft, account.id) else None


def _deposit(
    draft: Draft, rail: str, account: Account, payer_id: UUID | None, arrival: Arrival
) -> Transaction:
    """Make the transaction of money that nobody announced, but that says where it belongs."""
    tx = new_transaction(
        draft.tenant_id,
        draft.now,
        "INBOUND",
        method="bankAccount",
        purpose="DEPOSIT",
        amount=arrival.amount,
        currency=account.currency,
        from_owner_id=payer_id or account.owner_id,
        to_owner_id=account.owner_id,
        from_account_id=open_outside(draft, rail, account.currency),
        to_account_id=account.id,
        reference=find_in(arrival.reference),
        order_id=arrival.id,
    )
    return resume(draft, begin(draft, tx, has_come=True), settled=True)
