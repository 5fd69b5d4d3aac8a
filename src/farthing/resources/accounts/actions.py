"""What can be done with accounts."""

from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec import Struct

from farthing.core import ids
from farthing.core.errors import (
    AccountNotActive,
    Fault,
    OwnerNotActive,
    ValidationFailed,
)
from farthing.core.ids import new_id
from farthing.db import objects
from farthing.db.calls import Call
from farthing.db.commands import Command, Need, Shown
from farthing.db.draft import Draft
from farthing.db.hearings import Matter, Whereabouts
from farthing.db.tables import Along
from farthing.ledger.balances import BALANCES, Balance, Place
from farthing.resources.accounts import model
from farthing.resources.accounts.model import NOUN, Account, Labels, suspense_account
from farthing.resources.accounts.store import ACCOUNTS
from farthing.resources.customers.actions import owner_of, require_active
from farthing.resources.customers.store import CUSTOMERS, STANDINGS

_OWNER: Final = Along(STANDINGS, "owner_id")


def create(call: Call[Any]) -> Command:
    """Open an account for a customer."""
    body = call.body
    owner_id = ids.take(body.owner_id)

    def decide(draft: Draft) -> Struct:
        owner = owner_of(draft, owner_id)
        account = _new_account(draft, new_id(), owner.id, body.currency_iso, body)
        _hold_nothing(draft, account, "platform")
        verdict = draft.judge(ACCOUNTS, account)
        verdict.refuse_to_wait("an account")
        return draft.create(ACCOUNTS, verdict.label(account), verdict.reason)

    needs = objects.needs_of(CUSTOMERS, owner_id)
    matter = Matter(f"{NOUN}.create", owner_id, body.currency_iso)
    return Command(decide, needs=needs, status=201, matter=matter)


def open_suspense(draft: Draft, currency: str) -> Account:
    """Return the tenant's account for money that nobody could place, made at its first use."""
    account_id = suspense_account(draft.tenant_id, currency)
    found = draft.find(ACCOUNTS, account_id)
    if found is None:
        # The tenant is a customer itself, of the same id.
        labels = Labels(tags=["suspense"], annotations=None)
        found = _new_account(draft, account_id, draft.tenant_id, currency, labels)
        _hold_nothing(draft, found, "suspense")
        draft.create(ACCOUNTS, found)
    return found


def _new_account(
    draft: Draft, account_id: UUID, owner_id: UUID, currency: str, labels: Any
) -> Account:
    return Account(
        tenant_id=draft.tenant_id,
        id=account_id,
        version=1,
        created_at=draft.now,
        updated_at=draft.now,
        state_id=ACCOUNTS.machine.initial,
        tags=labels.tags or [],
        annotations=labels.annotations or {},
        owner_id=owner_id,
        currency=currency,
    )


def _hold_nothing(draft: Draft, account: Account, place: Place) -> None:
    draft.insert(BALANCES, Balance.empty(draft.tenant_id, account.id, account.currency, place))
    _count_accounts(draft, account.owner_id, 1)


def update(call: Call[Any]) -> Command:
    """Change the tags and annotations of an account."""
    changes = objects.replaced(call.body, "tags", "annotations")
    return objects.updating(call, ACCOUNTS, lambda _: changes)


def move(call: Call[Any]) -> Command:
    """Move an account to another state; a closed one no longer counts for its owner."""
    where = Whereabouts(ACCOUNTS, call.id, currency="currency")
    moving = objects.moving(call, ACCOUNTS, found_at=where)

    def decide(draft: Draft) -> Shown:
        model.refuse_to_end_suspense(draft.require(ACCOUNTS, call.id), call.body.to_state_id)
        answer = moving.decide(draft)
        account = draft.require(ACCOUNTS, call.id)
        if account.state_id == "CLOSED":
            _count_accounts(draft, account.owner_id, -1)
        return answer

    def follow(account: Account) -> list[Need]:
        return [Need(STANDINGS, account.owner_id)]

    needs = [Need(ACCOUNTS, call.id, follow), *objects.needs_of(ACCOUNTS, call.id)]
    return Command(decide, needs=needs, matter=moving.matter)


def account_of(draft: Draft, account_id: UUID, pointer: str) -> Account:
    """Return an account that a payment names, if it is there, visible, and in use."""
    account = draft.find(ACCOUNTS, account_id)
    if account is None or not draft.principal.sees(account.owner_id):
        raise ValidationFailed([Fault(pointer, "unknown_account", "There is no such account.")])
    refuse_inactive(draft, account_id)
    return account


def is_suspense(draft: Draft, account_id: UUID) -> bool:
    """Tell whether an account is the one for money that nobody could place."""
    held = draft.find(BALANCES, account_id)
    return held is not None and held.place == "suspense"


def refuse_inactive(draft: Draft, *account_ids: UUID) -> None:
    """Let no money move through an account that is not in use; the outside always is."""
    for account_id in account_ids:
        account = draft.find(ACCOUNTS, account_id)
        if account is None:
            continue
        if account.state_id != "ENABLED":
            name = ids.say(NOUN, account.id)
            raise AccountNotActive(f"{name} is {account.state_id}, not ENABLED.")
        require_active(draft, account.owner_id)


def in_use(draft: Draft, account_id: UUID) -> bool:
    """Tell whether an account and its owner are enabled."""
    try:
        refuse_inactive(draft, account_id)
    except (AccountNotActive, OwnerNotActive):
        return False
    return True


def is_closed(draft: Draft, account_id: UUID) -> bool:
    """Tell whether an account is closed, so that nobody could take money out of it again."""
    account = draft.find(ACCOUNTS, account_id)
    return account is not None and account.state_id == "CLOSED"


def needs_of_side(account_id: UUID) -> list[Need]:
    """Name what an account holds, and look at the account and the standing of its owner.

    Whoever disables or closes an account must hold the lock of what it holds.
    """
    return [Need(BALANCES, account_id), Need(ACCOUNTS, account_id, locked=False, along=_OWNER)]


def _count_accounts(draft: Draft, owner_id: UUID, difference: int) -> None:
    standing = draft.find(STANDINGS, owner_id)
    if standing is not None:
        count = standing.open_accounts + difference
        draft.update(STANDINGS, msgspec.structs.replace(standing, open_accounts=count))
