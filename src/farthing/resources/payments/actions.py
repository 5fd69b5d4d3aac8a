"""What starts a payment: into the platform, out of it, and within."""

from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from farthing.core import ids
from farthing.core.actors import Actor
from farthing.core.errors import Fault, Forbidden, InstrumentNotUsable, ValidationFailed
from farthing.db import objects
from farthing.db.calls import Call
from farthing.db.commands import Command, Need, Shown
from farthing.db.draft import Draft
from farthing.db.hearings import Matter, Whereabouts
from farthing.ledger.balances import BALANCES, outside_account
from farthing.ledger.postings import open_outside
from farthing.rails.base import Rail
from farthing.resources.accounts.actions import account_of, is_suspense, needs_of_side
from farthing.resources.accounts.model import Account
from farthing.resources.accounts.store import ACCOUNTS
from farthing.resources.bank_accounts.store import BANK_ACCOUNTS
from farthing.resources.cards.actions import require_usable
from farthing.resources.cards.store import CARDS
from farthing.resources.customers.actions import require_active
from farthing.resources.payments import store
from farthing.resources.payments.model import new_transaction, told_by
from farthing.resources.payments.store import Side
from farthing.resources.references import store as references
from farthing.resources.transactions.actions import begin, go_on
from farthing.resources.transactions.model import Transaction
from farthing.resources.transactions.store import TRANSACTIONS

_CREATE: Final = f"{TRANSACTIONS.noun}.create"


def create_internal(call: Call[Any]) -> Command:
    """Move money between two accounts of the platform, at once or held as escrow."""
    body = call.body
    from_id, to_id = ids.take(body.from_account_id), ids.take(body.to_account_id)

    def decide(draft: Draft) -> Shown:
        payer = account_of(draft, from_id, "/fromAccountId")
        payee = account_of(draft, to_id, "/toAccountId")
        _refuse_pair(payer, payee)
        if is_suspense(draft, from_id) and draft.principal.actor is not Actor.OPERATOR:
            raise Forbidden("Money in suspense is assigned by the operator.")
        return _start(
            draft,
            new_transaction(
                draft.tenant_id,
                draft.now,
                "INTERNAL",
                method="transfer",
                currency=payer.currency,
                from_owner_id=payer.owner_id,
                to_owner_id=payee.owner_id,
                from_account_id=payer.id,
                to_account_id=payee.id,
                **told_by(body),
            ),
        )

    needs = [*needs_of_side(from_id), *needs_of_side(to_id)]
    payer = Whereabouts(ACCOUNTS, from_id, currency="currency")
    matter = Matter(_CREATE, found_at=payer, counts="internal")
    return Command(decide, needs=needs, status=201, matter=matter)


async def create_inbound(call: Call[Any]) -> Command:
    """Take money into an account: from a card, or by a transfer that the payer's bank brings."""
    body, account_id = call.body, ids.take(call.body.account_id)
    side = await _side(call, account_id)
    rail, outside = call.part(Rail).name, _outside(call, side)
    by_card = body.method == "card"
    instrument_id = _instrument(call, "card", side.preferred_card_id) if by_card else _named(body)
    reference, payer_id = await _reference(call, account_id, side)

    def decide(draft: Draft) -> Shown:
        account = account_of(draft, account_id, "/accountId")
        owner_id = payer_id or account.owner_id
        if by_card and instrument_id is not None:
            owner_id = _require_card(draft, instrument_id)
        elif instrument_id is not None:
            owner_id = _require_bank_account(draft, instrument_id)
        days = timedelta(days=call.settings.transfer_days)
        return _start(
            draft,
            new_transaction(
                draft.tenant_id,
                draft.now,
                "INBOUND",
                method=body.method,
                currency=account.currency,
                from_owner_id=owner_id,
                to_owner_id=account.owner_id,
                from_account_id=open_outside(draft, rail, account.currency),
                to_account_id=account.id,
                instrument_id=instrument_id,
                reference=reference,
                expires_at=None if by_card else draft.now + days,
                **told_by(body),
            ),
        )

    needs = [*needs_of_side(account_id), Need(BALANCES, outside)]
    if instrument_id is not None:
        needs += objects.needs_of(CARDS if by_card else BANK_ACCOUNTS, instrument_id)
    return Command(decide, needs=needs, status=201, matter=_matter(side, "inbound"))


async def create_outbound(call: Call[Any]) -> Command:
    """Pay money out of an account, to a bank account of its owner."""
    body, account_id = call.body, ids.take(call.body.account_id)
    side = await _side(call, account_id)
    rail, outside = call.part(Rail).name, _outside(call, side)
    instrument_id = _instrument(call, "bank_account", side.preferred_bank_account_id)

    def decide(draft: Draft) -> Shown:
        account = account_of(draft, account_id, "/accountId")
        if is_suspense(draft, account_id):
            raise Forbidden("Money in suspense is assigned by an internal transaction.")
        _require_destination(draft, instrument_id, account)
        return _start(
            draft,
            new_transaction(
                draft.tenant_id,
                draft.now,
                "OUTBOUND",
                method=body.method,
                currency=account.currency,
                from_owner_id=account.owner_id,
                to_owner_id=account.owner_id,
                from_account_id=account.id,
                to_account_id=open_outside(draft, rail, account.currency),
                instrument_id=instrument_id,
                reference=body.reference,
                **told_by(body),
            ),
        )

    needs = [
        *needs_of_side(account_id),
        Need(BALANCES, outside),
        Need(BANK_ACCOUNTS, instrument_id),
    ]
    return Command(decide, needs=needs, status=201, matter=_matter(side, "outbound"))


def _matter(side: Side, counts: str) -> Matter:
    return Matter(_CREATE, side.owner_id, side.currency, counts=counts)


def _start(draft: Draft, tx: Transaction) -> Shown:
    """Add a transaction and take it as far as it goes by itself."""
    return draft.written(go_on(draft, begin(draft, tx)))


def _refuse_pair(payer: Account, payee: Account) -> None:
    if payer.id == payee.id:
        raise _fault("toAccountId", "same_account", "Must be another account than fromAccountId.")
    if payer.currency != payee.currency:
        detail = f"Must be in the currency of fromAccountId, which is {payer.currency}."
        raise _fault("toAccountId", "currency_mismatch", detail)


async def _side(call: Call[Any], account_id: UUID) -> Side:
    side = await store.find_side(call.pool, call.principal.tenant_id, account_id)
    if side is None or not call.principal.sees(side.owner_id):
        raise _fault("accountId", "unknown_account", "There is no such account.")
    return side


def _outside(call: Call[Any], side: Side) -> UUID:
    return outside_account(call.principal.tenant_id, call.part(Rail).name, side.currency)


def _named(body: Any) -> UUID | None:
    named = body.payment_instrument_id
    return None if named is None else ids.take(named)


def _instrument(call: Call[Any], noun: str, preferred: UUID | None) -> UUID:
    """Return the instrument that a payment names, or else the preferred one."""
    found = _named(call.body) or preferred
    if found is None:
        detail = f"The owner of the account prefers no {noun.replace('_', ' ')}, so name one."
        raise _fault("paymentInstrumentId", "required", detail)
    return found


async def _reference(
    call: Call[Any], account_id: UUID, side: Side
) -> tuple[str | None, UUID | None]:
    """Return the reference that a transfer to an account is to carry, and who is to pay."""
    if call.body.method == "card":
        return None, None
    found = await references.find_current(
        call.pool, call.principal.tenant_id, account_id, side.owner_id
    )
    return (None, None) if found is None else (found.text, found.from_customer_id)


def _require_card(draft: Draft, card_id: UUID) -> UUID:
    card = draft.find(CARDS, card_id)
    if card is None or not draft.principal.sees(card.owner_id):
        raise _fault("paymentInstrumentId", "unknown_instrument", "There is no such card.")
    require_usable(draft, card)
    require_active(draft, card.owner_id)
    return card.owner_id


def _require_bank_account(draft: Draft, instrument_id: UUID) -> UUID:
    found = draft.find(BANK_ACCOUNTS, instrument_id)
    if found is None or not draft.principal.sees(found.owner_id):
        detail = "There is no such bank account."
        raise _fault("paymentInstrumentId", "unknown_instrument", detail)
    return found.owner_id


def _require_destination(draft: Draft, instrument_id: UUID, account: Account) -> None:
    if _require_bank_account(draft, instrument_id) != account.owner_id:
        detail = "Must be a bank account of the account's owner."
        raise _fault("paymentInstrumentId", "other_owner", detail)
    found = draft.find(BANK_ACCOUNTS, instrument_id)
    if found is not None and found.currency != account.currency:
        detail = f"Must be a bank account that is paid in {account.currency}."
        raise _fault("paymentInstrumentId", "currency_mismatch", detail)
    if found is not None and found.state_id != "ENABLED":
        name = ids.say("bank_account", found.id)
        raise InstrumentNotUsable(f"{name} is {found.state_id}, not ENABLED.")


def _fault(place: str, code: str, detail: str) -> ValidationFailed:
    return ValidationFailed([Fault(f"/{place}", code, detail)])
