"""What can be done with accounts."""

from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

from farthing.core.ids import new_id
from farthing.db import objects
from farthing.db.calls import Call
from farthing.db.commands import Command, Need
from farthing.db.draft import Draft
from farthing.ledger.balances import BALANCES, Balance
from farthing.resources.accounts.model import Account
from farthing.resources.accounts.store import ACCOUNTS
from farthing.resources.customers.actions import owner_of
from farthing.resources.customers.store import CUSTOMERS, STANDINGS


def create(call: Call[Any]) -> Command:
    """Open an account for a customer."""
    body = call.body
    owner_id = UUID(body.owner_id.partition("/")[2])

    def decide(draft: Draft) -> Struct:
        owner = owner_of(draft, owner_id)
        account = Account(
            tenant_id=draft.tenant_id,
            id=new_id(),
            version=1,
            created_at=draft.now,
            updated_at=draft.now,
            state_id=ACCOUNTS.machine.initial,
            tags=body.tags or [],
            annotations=body.annotations or {},
            owner_id=owner.id,
            currency=body.currency_iso,
        )
        draft.insert(
            BALANCES, Balance.empty(draft.tenant_id, account.id, account.currency, "platform")
        )
        _count_accounts(draft, owner.id, 1)
        return draft.create(ACCOUNTS, account)

    return Command(decide, needs=objects.needs_of(CUSTOMERS, owner_id), status=201)


def update(call: Call[Any]) -> Command:
    """Change the tags and annotations of an account."""
    changes = objects.replaced(call.body, "tags", "annotations")
    return objects.updating(call, ACCOUNTS, lambda _: changes)


def move(call: Call[Any]) -> Command:
    """Move an account to another state; a closed one no longer counts for its owner."""
    moving = objects.moving(call, ACCOUNTS)

    def decide(draft: Draft) -> Struct | None:
        answer = moving.decide(draft)
        account = draft.require(ACCOUNTS, call.id)
        if account.state_id == "CLOSED":
            _count_accounts(draft, account.owner_id, -1)
        return answer

    def follow(account: Account) -> list[Need]:
        return [Need(STANDINGS, account.owner_id)]

    needs = [Need(ACCOUNTS, call.id, follow), *objects.needs_of(ACCOUNTS, call.id)]
    return Command(decide, needs=needs)


def _count_accounts(draft: Draft, owner_id: UUID, difference: int) -> None:
    standing = draft.find(STANDINGS, owner_id)
    if standing is not None:
        count = standing.open_accounts + difference
        draft.update(STANDINGS, msgspec.structs.replace(standing, open_accounts=count))
