"""What can be done with references."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

from farthing.core import ids
from farthing.core.errors import AccountNotActive, Fault, Unavailable, ValidationFailed
from farthing.core.ids import new_id
from farthing.db import objects
from farthing.db.calls import Call
from farthing.db.commands import Command, Need
from farthing.db.draft import Draft
from farthing.db.hearings import Matter, Whereabouts
from farthing.rails.base import Rail, RailAway
from farthing.resources.accounts.model import Account
from farthing.resources.accounts.store import ACCOUNTS
from farthing.resources.customers.actions import owner_of
from farthing.resources.customers.model import Customer
from farthing.resources.customers.store import CUSTOMERS
from farthing.resources.references.model import ReceivingDetails, Reference, make_text
from farthing.resources.references.store import REFERENCES


async def create(call: Call[Any]) -> Command:
    """Make a reference: ask first where transfers are to be sent, then write it down."""
    body = call.body
    account, payer = await _parties(call)
    details = await _receiving_details(call, account.currency)
    lifetime = timedelta(days=call.settings.reference_days)

    def decide(draft: Draft) -> Struct:
        # Nobody removes an account or a customer; only their states can be others by now.
        _refuse_inactive(draft.require(ACCOUNTS, account.id))
        owner = owner_of(draft, account.owner_id)
        reference = Reference(
            tenant_id=draft.tenant_id,
            id=new_id(),
            version=1,
            created_at=draft.now,
            updated_at=draft.now,
            state_id=REFERENCES.machine.initial,
            tags=body.tags or [],
            annotations=body.annotations or {},
            to_account_id=account.id,
            owner_id=owner.id,
            from_customer_id=None if payer is None else payer.id,
            currency=account.currency,
            # Here, so that one that is taken already is drawn anew when the command runs again.
            text=make_text(),
            expires_at=draft.now + lifetime,
            receiving_details=msgspec.to_builtins(details),
        )
        verdict = draft.judge(REFERENCES, reference)
        verdict.refuse_to_wait("a reference")
        return draft.create(REFERENCES, verdict.label(reference), verdict.reason)

    needs = [Need(ACCOUNTS, account.id), Need(CUSTOMERS, account.owner_id)]
    matter = Matter(f"{REFERENCES.noun}.create", account.owner_id, account.currency)
    return Command(decide, needs=needs, status=201, matter=matter)


def update(call: Call[Any]) -> Command:
    """Change the tags and annotations of a reference."""
    changes = objects.replaced(call.body, "tags", "annotations")
    return objects.updating(call, REFERENCES, lambda _: changes)


def move(call: Call[Any]) -> Command:
    """Move a reference to another state."""
    where = Whereabouts(REFERENCES, call.id, currency="currency")
    return objects.moving(call, REFERENCES, found_at=where)


def expire(reference_id: UUID) -> Command:
    """End a reference whose time has passed."""

    def decide(draft: Draft) -> Struct | None:
        old = draft.require(REFERENCES, reference_id)
        if old.state_id != "ENABLED" or old.expires_at > draft.now:
            return None
        new = msgspec.structs.replace(old, state_id="EXPIRED")
        return draft.change(REFERENCES, old, new, "expired", "The reference expired.")

    return Command(decide, needs=objects.needs_of(REFERENCES, reference_id))


async def _parties(call: Call[Any]) -> tuple[Account, Customer | None]:
    """Read the account and the payer that a request names, or say which of them are unknown."""
    to_id, from_id = call.body.to_id, call.body.from_id
    faults, payer = [], None
    account = await objects.find(call, ACCOUNTS, ids.take(to_id))
    if account is None:
        faults.append(Fault("/toId", "unknown_account", "There is no such account."))
    if from_id is not None:
        payer = await objects.find(call, CUSTOMERS, ids.take(from_id))
        if payer is None:
            faults.append(Fault("/fromId", "unknown_customer", "There is no such customer."))
    if account is None or faults:
        raise ValidationFailed(faults)
    return account, payer


async def _receiving_details(call: Call[Any], currency: str) -> ReceivingDetails:
    try:
        destination = await call.part(Rail).receiving(currency)
    except RailAway:
        raise Unavailable("The bank does not answer. Repeat in a moment.") from None
    if destination is None:
        detail = (
            "No transfers are received in the currency of this account. "
            "Name an account in another currency."
        )
        raise ValidationFailed([Fault("/toId", "currency_not_received", detail)])
    return ReceivingDetails.of(destination)


def _refuse_inactive(account: Account) -> None:
    if account.state_id != "ENABLED":
        raise AccountNotActive(
            f"{ids.say('account', account.id)} is {account.state_id}, not ENABLED."
        )
