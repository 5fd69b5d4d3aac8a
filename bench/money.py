"""Money before anything is measured: accounts that hold some, and payments to adjust."""

import asyncio
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from bench import ledger

from farthing.config import Settings

# Far more than one run can adjust, and far less than an account was given.
_AMOUNT: Final = 1_000_000


async def fund(url: str, tenant_id: UUID, accounts: Sequence[UUID]) -> None:
    """Give every account plenty."""
    async with ledger.opened(url, tenant_id, Settings()) as books:
        # The first makes the outside's account.
        await books.fund(accounts[0])
        await asyncio.gather(*(books.fund(account) for account in accounts[1:]))


async def make_payments(url: str, tenant_id: UUID, accounts: Sequence[UUID]) -> list[str]:
    """Let every account pay the next one, and return the transactions."""
    async with ledger.opened(url, tenant_id, Settings()) as books:
        pairs = ledger.ring(accounts)
        return await asyncio.gather(*(books.pay(*pair, _AMOUNT) for pair in pairs))
