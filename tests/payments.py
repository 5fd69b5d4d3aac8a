"""Money for tests: an account gets it as a customer would bring it, by a card."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import httpx2
import msgspec

from farthing.agenda import platform
from farthing.core import ids
from farthing.http.service import Service
from farthing.resources.settlements.actions import open_dispute
from farthing.resources.settlements.api import Teller

CARD: dict[str, Any] = {
    "cardNumber": "4242424242424242",
    "expiry": "1230",
    "cvv": "123",
    "billingAddress": {"countryISO": "GB"},
}
BANK_ACCOUNT: dict[str, Any] = {
    "currencyISO": "GBP",
    "countryISO": "GB",
    "accountNumber": "31926819",
    "sortCode": "108800",
    "billingAddress": {"countryISO": "GB"},
    "setAsPreferred": True,
}

# Sends a method, a path and a body; a tenant's `call` is one.
Send = Callable[[str, str, Any], Awaitable[httpx2.Response]]


def in_path(identifier: str) -> str:
    """Return an identifier as it stands in a path."""
    noun, _, rest = identifier.partition("/")
    return f"{ids.in_path(noun)}/{rest}"


async def idle(service: Service) -> None:
    """Wait until the rail has said whatever it says at once."""
    await service.parts[Teller].idle()


async def create(send: Send, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Make something, and return it as it is shown."""
    answer = await send("POST", path, body)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def charge(
    service: Service, send: Send, account: str, amount: str = "100000", **card: Any
) -> dict[str, Any]:
    """Bring money into an account by a new card of its owner, and return how that went."""
    owner = (await send("GET", f"/v1/accounts/{account}", None)).json()["ownerId"]
    made = await create(send, "/v1/cards", {"ownerId": owner, **CARD, **card})
    body = {
        "accountId": account,
        "amount": amount,
        "method": "card",
        "purpose": "DEPOSIT",
        "paymentInstrumentId": made["id"],
    }
    started = await create(send, "/v1/tx/inbound", body)
    await idle(service)
    ended: dict[str, Any] = (await send("GET", f"/v1/tx/{in_path(started['id'])}", None)).json()
    return ended


async def furnish(service: Service, send: Send, body: dict[str, Any]) -> None:
    """Make what a payment takes for granted: money, and a bank account that is preferred."""
    account = str(body.get("fromAccountId") or body["accountId"])
    owner = (await send("GET", f"/v1/accounts/{account}", None)).json()["ownerId"]
    await create(send, "/v1/bank-accounts", {"ownerId": owner, **BANK_ACCOUNT})
    funded = await charge(service, send, account)
    assert funded["stateId"] == "EFFECTED", funded


async def dispute(
    service: Service, tenant_id: UUID, transaction: str, amount: int | None = None
) -> dict[str, Any]:
    """Let the payer dispute a transaction, as the platform hears of it from a card network."""
    command = open_dispute(ids.take(transaction), amount, "The cardholder knows nothing of it.")
    answer = await service.committer.submit(platform(tenant_id), command)
    shown: dict[str, Any] = msgspec.json.decode(answer.body)
    return shown


def spends(operation_id: str) -> bool:
    """Tell whether an operation needs money that is there already."""
    return operation_id in {"tx.outbound", "tx.internal"}
