"""What can be done with bank accounts."""

from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

from farthing.core import ids
from farthing.core.actors import Actor
from farthing.core.errors import DestinationFixed, Fault, Unavailable, ValidationFailed
from farthing.core.ids import new_id
from farthing.db import objects
from farthing.db.calls import Call
from farthing.db.commands import Command, Need, Shown
from farthing.db.draft import Draft
from farthing.db.hearings import Matter, Whereabouts
from farthing.rails.base import BankVerdict, Destination, Rail, RailAway
from farthing.resources.bank_accounts.model import NOUN, BankAccount, country_faults
from farthing.resources.bank_accounts.store import BANK_ACCOUNTS
from farthing.resources.customers.actions import owner_of, prefer
from farthing.resources.customers.store import CUSTOMERS, STANDINGS

NO_DESTINATION = BankVerdict("pending", "no destination yet")
_PARTS = ("account_number", "sort_code", "iban", "bic")


async def create(call: Call[Any]) -> Command:
    """Register a bank account: ask the bank first, then write what it said."""
    body = call.body
    owner_id = ids.take(body.owner_id)
    verdict = await _verify(call, _destination(body, body.country_iso, body.currency_iso))

    def decide(draft: Draft) -> Struct:
        owner = owner_of(draft, owner_id)
        account = BankAccount(
            tenant_id=draft.tenant_id,
            id=new_id(),
            version=1,
            created_at=draft.now,
            updated_at=draft.now,
            state_id="ENABLED" if verdict.outcome == "verified" else "PENDING",
            tags=body.tags or [],
            annotations=body.annotations or {},
            owner_id=owner.id,
            currency=body.currency_iso,
            country=body.country_iso,
            account_number=body.account_number,
            sort_code=body.sort_code,
            iban=body.iban,
            bic=body.bic,
            billing_address=msgspec.to_builtins(body.billing_address),
            verified=verdict.outcome == "verified",
            approval_id=None,
        )
        judged = draft.judge(BANK_ACCOUNTS, account)
        if judged.approval_id is not None:
            waits = {"state_id": "PENDING", "approval_id": judged.approval_id}
            account = msgspec.structs.replace(account, **waits)
        if body.set_as_preferred:
            prefer(draft, owner.id, preferred_bank_account_id=account.id)
        reason = judged.explain(_reason(verdict))
        return draft.create(BANK_ACCOUNTS, judged.label(account), reason)

    needs = objects.needs_of(CUSTOMERS, owner_id)
    matter = Matter(f"{NOUN}.create", owner_id, body.currency_iso)
    return Command(decide, needs=needs, status=201, matter=matter)


async def update(call: Call[Any]) -> Command:
    """Change a bank account; a destination that it brings is verified first."""
    body = call.body
    given = objects.replaced(body, "tags", "annotations", "billing_address", *_PARTS)
    if "billing_address" in given:
        given["billing_address"] = msgspec.to_builtins(given["billing_address"])
    destination = {name: given.pop(name, None) for name in _PARTS}
    current, _ = await objects.fetch(call, BANK_ACCOUNTS)
    verdict = None
    if faults := list(country_faults(current.country, body.iban, body.sort_code)):
        raise ValidationFailed(faults)
    if any(destination.values()):
        verdict = await _verify(call, _destination(body, current.country, current.currency))

    def decide(draft: Draft) -> Struct:
        old = draft.require(BANK_ACCOUNTS, call.id)
        new = msgspec.structs.replace(old, **given)
        if verdict is not None:
            new = _with_destination(new, destination, verdict)
        _set_preferred(draft, old, preferred=body.set_as_preferred)
        what = "enabled" if new.state_id != old.state_id else "updated"
        reason = None if verdict is None else _reason(verdict)
        return draft.change(BANK_ACCOUNTS, old, new, what, reason)

    return Command(decide, needs=needs_of(call.id))


def move(call: Call[Any]) -> Command:
    """Move a bank account to another state; a closed one is preferred no longer."""
    # The operator who enables an account vouches for it.
    moving = objects.moving(
        call,
        BANK_ACCOUNTS,
        lambda old, target: {"verified": old.verified or target == "ENABLED"},
        found_at=Whereabouts(BANK_ACCOUNTS, call.id, currency="currency"),
    )

    def decide(draft: Draft) -> Shown:
        answer = moving.decide(draft)
        account = draft.require(BANK_ACCOUNTS, call.id)
        if account.state_id == "CLOSED":
            _set_preferred(draft, account, preferred=False)
        return answer

    return Command(decide, needs=needs_of(call.id), matter=moving.matter)


def let_go(draft: Draft, account: BankAccount, reason: str) -> None:
    """Let a bank account be used whose approval was given, once the bank has verified it."""
    free = msgspec.structs.replace(account, approval_id=None)
    if account.verified:
        enabled = msgspec.structs.replace(free, state_id="ENABLED")
        draft.step(BANK_ACCOUNTS, account, enabled, "enabled", reason, Actor.PLATFORM)
    else:
        draft.change(BANK_ACCOUNTS, account, free, "updated")


def turn_down(draft: Draft, account: BankAccount, reason: str) -> None:
    """Close a bank account whose approval was not given."""
    closed = msgspec.structs.replace(account, approval_id=None, state_id="CLOSED")
    draft.step(BANK_ACCOUNTS, account, closed, "closed", reason, Actor.PLATFORM)
    _set_preferred(draft, closed, preferred=False)


async def _verify(call: Call[Any], destination: Destination) -> BankVerdict:
    if not destination.is_complete:
        return NO_DESTINATION
    try:
        return await call.part(Rail).verify_bank_account(destination)
    except RailAway:
        raise Unavailable("The bank does not answer. Repeat in a moment.") from None


def _destination(body: Any, country: str, currency: str) -> Destination:
    return Destination(country, currency, body.account_number, body.sort_code, body.iban, body.bic)


def _with_destination(
    account: BankAccount, destination: dict[str, str | None], verdict: BankVerdict
) -> BankAccount:
    """Give an account its destination, as long as nobody was ever paid out to another."""
    if account.verified or account.state_id == "CLOSED":
        raise DestinationFixed(
            "The destination of a verified or closed account stays as it is. Register the new one "
            "as another bank account."
        )
    verified = verdict.outcome == "verified"
    enabled = verified and account.state_id == "PENDING" and not account.awaits_approval
    state = "ENABLED" if enabled else account.state_id
    return msgspec.structs.replace(account, **destination, verified=verified, state_id=state)


def _set_preferred(draft: Draft, account: BankAccount, *, preferred: bool | None) -> None:
    standing = draft.find(STANDINGS, account.owner_id)
    if preferred and account.state_id == "CLOSED":
        detail = "A closed bank account cannot be the preferred one."
        raise ValidationFailed([Fault("/setAsPreferred", "invalid_value", detail)])
    if preferred:
        prefer(draft, account.owner_id, preferred_bank_account_id=account.id)
    elif preferred is False and standing and standing.preferred_bank_account_id == account.id:
        prefer(draft, account.owner_id, preferred_bank_account_id=None)


def _reason(verdict: BankVerdict) -> str:
    because = f" ({verdict.reason})" if verdict.reason else ""
    return f"The bank said: {verdict.outcome}{because}."


def needs_of(account_id: UUID) -> list[Need]:
    """Name a bank account, its owner and the owner's standing."""

    def follow(account: BankAccount) -> list[Need]:
        return objects.needs_of(CUSTOMERS, account.owner_id)

    return [Need(BANK_ACCOUNTS, account_id, follow)]
