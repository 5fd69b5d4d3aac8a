"""Scenes for controls of the sandbox: each has an object that is as the control wants it."""

from typing import Any

from tests.payments import BANK_ACCOUNT, CARD, Send, charge, create, idle, in_path

from farthing.http.service import Service

_WANTS_APPROVAL = {"cardNumber": "4000002500003155"}
_WANTS_APPROVAL_OF_CHARGES = {"cardNumber": "4000002760003184"}
_PENDING_BANK = {"sortCode": "108804"}


async def scene(service: Service, send: Send, operation_id: str) -> str | None:
    """Return an object that fits a control; None if any object that is new does."""
    name = operation_id.removeprefix("sandbox.")
    if name in {"tx.settle", "tx.fail", "tx.stall"}:
        return await _payout(service, send, **_PENDING_BANK)
    if name == "tx.return":
        return await _payout(service, send)
    if name == "tx.challenge":
        return await _charge(service, send, **_WANTS_APPROVAL_OF_CHARGES)
    if name == "cards.challenge":
        body = {"ownerId": await _customer(send), **CARD, **_WANTS_APPROVAL}
        return str((await create(send, "/v1/cards", body))["id"])
    if name not in {"tx.dispute", "tx.win", "tx.lose"}:
        return None
    paid = await _charge(service, send)
    if name != "tx.dispute":
        answer = await send("POST", f"/v1/sandbox/tx/{in_path(paid)}/dispute", {"amount": "400"})
        assert answer.status_code == 200, answer.text
    return paid


async def _customer(send: Send) -> str:
    return str((await create(send, "/v1/customers", {"type": "INDIVIDUAL"}))["id"])


async def _account(send: Send) -> str:
    body = {"ownerId": await _customer(send), "currencyISO": "GBP"}
    return str((await create(send, "/v1/accounts", body))["id"])


async def _charge(service: Service, send: Send, **card: Any) -> str:
    return str((await charge(service, send, await _account(send), "1000", **card))["id"])


async def _payout(service: Service, send: Send, **bank: Any) -> str:
    account = await _account(send)
    owner = (await charge(service, send, account))["toOwnerId"]
    await create(send, "/v1/bank-accounts", {"ownerId": owner, **BANK_ACCOUNT, **bank})
    body = {
        "accountId": account,
        "amount": "1000",
        "method": "bankAccount",
        "purpose": "WITHDRAWAL",
    }
    made = await create(send, "/v1/tx/outbound", body)
    await idle(service)
    return str(made["id"])
