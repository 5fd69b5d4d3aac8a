"""Postings: the one place where balances change, each change with its entry."""

from datetime import datetime
from typing import Final
from uuid import UUID

from msgspec import Struct

from farthing.core.errors import BalanceLimit, InsufficientFunds
from farthing.core.ids import new_id
from farthing.db.draft import Draft
from farthing.db.tables import AppendTable
from farthing.ledger.balances import BALANCES, Balance, outside_account
from farthing.ledger.effects import Leg, Posting

# Below what a bigint holds, with room for the sum that `available` is.
_MOST: Final = 9 * 10**18


class LedgerFault(Exception):
    """The code asked for what the ledger never does, such as releasing what is not reserved."""


class Entry(Struct, frozen=True):
    """One change of one balance, written once and for ever."""

    tenant_id: UUID
    account_id: UUID
    number: int
    posting_id: UUID
    subject_id: UUID
    effect: str
    complete: int
    incomplete_debits: int
    incomplete_credits: int
    disputed_debits: int
    disputed_credits: int
    withheld: int
    complete_after: int
    created_at: datetime


ENTRIES: Final = AppendTable("entries", Entry)


def post(draft: Draft, posting: Posting, subject_id: UUID) -> None:
    """Apply a posting to the locked balances and write its entries; refuse it whole or not."""
    posting_id = new_id()
    pairs = [(leg, _balance(draft, leg)) for leg in posting.legs]
    if len({balance.currency for _, balance in pairs}) != 1:
        raise LedgerFault("a posting has one currency")
    changed = [(leg, _changed(balance, leg, draft.now)) for leg, balance in pairs]
    for (_, older), (_, newer) in zip(pairs, changed, strict=True):
        _refuse_overdraft(older, newer, posting)
    for leg, balance in changed:
        newer = draft.update(BALANCES, balance)
        draft.append(ENTRIES, _entry(draft, leg, newer, posting, posting_id, subject_id))


def open_outside(draft: Draft, rail: str, currency: str) -> UUID:
    """Return the outside world's account behind a rail, made at its first use.

    The command must have named it among its needs.
    """
    account_id = outside_account(draft.tenant_id, rail, currency)
    if draft.find(BALANCES, account_id) is None:
        empty = Balance.empty(draft.tenant_id, account_id, currency, "outside")
        draft.insert(BALANCES, empty)
    return account_id


def _balance(draft: Draft, leg: Leg) -> Balance:
    balance = draft.find(BALANCES, leg.account_id)
    if balance is None:
        raise LedgerFault("a posting to an account that does not exist")
    return balance


def _changed(balance: Balance, leg: Leg, now: datetime) -> Balance:
    complete = balance.complete + leg.complete
    # In the order of the columns; written out, because every payment comes by here.
    others = (
        balance.incomplete_debits + leg.incomplete_debits,
        balance.incomplete_credits + leg.incomplete_credits,
        balance.disputed_debits + leg.disputed_debits,
        balance.disputed_credits + leg.disputed_credits,
        balance.withheld + leg.withheld,
    )
    if max(abs(complete), *others) > _MOST:
        raise BalanceLimit("The account would hold more than 9 * 10^18 of the smallest unit.")
    if min(others) < 0:
        raise LedgerFault("a posting takes more from a counter than it holds")
    return Balance(
        balance.tenant_id,
        balance.id,
        balance.version,
        balance.currency,
        balance.place,
        complete,
        *others,
        _moment(balance, now),
    )


def _moment(balance: Balance, now: datetime) -> datetime:
    """Return the time of the next entry: never before the one that it follows.

    A batch takes its time before it waits for its locks, and clocks of machines disagree.
    """
    return now if balance.moved_at is None else max(now, balance.moved_at)


def _refuse_overdraft(older: Balance, newer: Balance, posting: Posting) -> None:
    """Keep what is available from falling below zero; what raises it again is always welcome."""
    is_free = newer.place == "outside" or posting.may_overdraw
    if is_free or newer.available >= min(0, older.available):
        return
    raise InsufficientFunds(
        f"The account has {older.available} available, which is less than the "
        f"{older.available - newer.available} that this takes."
    )


def _entry(
    draft: Draft,
    leg: Leg,
    balance: Balance,
    posting: Posting,
    posting_id: UUID,
    subject_id: UUID,
) -> Entry:
    return Entry(
        tenant_id=draft.tenant_id,
        account_id=leg.account_id,
        number=balance.version,
        posting_id=posting_id,
        subject_id=subject_id,
        effect=posting.effect,
        complete=leg.complete,
        incomplete_debits=leg.incomplete_debits,
        incomplete_credits=leg.incomplete_credits,
        disputed_debits=leg.disputed_debits,
        disputed_credits=leg.disputed_credits,
        withheld=leg.withheld,
        complete_after=balance.complete,
        created_at=balance.moved_at or draft.now,
    )
