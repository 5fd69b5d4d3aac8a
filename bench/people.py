"""The people: the customers and accounts that there are before anything is measured."""

import asyncio
from typing import Any, Final
from uuid import UUID

import httpx2
from msgspec import Struct

from farthing.core import ids

_HOW_MANY: Final = 1000
_AT_ONCE: Final = 32


class People(Struct, frozen=True):
    """The client's access token, and who is there."""

    token: str
    customers: list[str]
    accounts: list[str]


async def gather(base_url: str, tenant_id: UUID, key: str) -> People:
    """Make the customers, each with one account, as any client would: over HTTP."""
    limits = httpx2.Limits(max_connections=_AT_ONCE)
    async with httpx2.AsyncClient(base_url=base_url, limits=limits, timeout=60) as client:
        own = ids.say("customer", tenant_id)
        token = str((await _post(client, key, f"/v1/customers/{own}/tokens"))["accessToken"])
        everybody = [_make_customer(client, token, number) for number in range(_HOW_MANY)]
        customers = await asyncio.gather(*everybody)
        accounts = await asyncio.gather(*(_open(client, token, owner) for owner in customers))
    return People(token, customers, accounts)


async def _make_customer(client: httpx2.AsyncClient, token: str, number: int) -> str:
    body = {"type": "INDIVIDUAL", "name": f"Customer {number}", "tags": ["bench"]}
    return str((await _post(client, token, "/v1/customers", body))["id"])


async def _open(client: httpx2.AsyncClient, token: str, owner: str) -> str:
    body = {"ownerId": owner, "currencyISO": "GBP"}
    return str((await _post(client, token, "/v1/accounts", body))["id"])


async def _post(
    client: httpx2.AsyncClient, credential: str, path: str, body: object = None
) -> dict[str, Any]:
    answer = await client.post(path, json=body, headers={"X-Token": credential})
    answer.raise_for_status()
    return dict(answer.json())
