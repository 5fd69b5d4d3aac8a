"""Money without HTTP: the commit path of one tenant, driven inside this process."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final
from uuid import UUID

import msgspec
from bench.load import BenchError

from farthing.config import Settings
from farthing.core import ids
from farthing.core.actors import Grant, Principal
from farthing.core.errors import Problem
from farthing.core.ids import new_id
from farthing.db.calls import Call
from farthing.db.commands import Answer, Command, Context, Need
from farthing.db.committer import Committer
from farthing.db.draft import Draft
from farthing.db.pool import Pool, open_pool
from farthing.ledger import effects
from farthing.ledger.balances import BALANCES, outside_account
from farthing.ledger.postings import open_outside, post
from farthing.resources.accounts.actions import account_of, needs_of_side
from farthing.resources.payments.actions import create_internal
from farthing.resources.payments.api import CreateInternal
from farthing.resources.payments.model import new_transaction
from farthing.resources.transactions.actions import resume
from farthing.resources.transactions.store import TRANSACTIONS

_RAIL: Final = "bench"
_CURRENCY: Final = "GBP"
_PLENTY: Final = 10**9
_FIRST_FAILURE: Final = 400


class Ledger:
    """The ledger of one tenant, driven without HTTP."""

    def __init__(self, pool: Pool, committer: Committer, tenant_id: UUID) -> None:
        self._pool = pool
        self._committer = committer
        self._principal = Principal(tenant_id, Grant.PLATFORM)
        self._outside = outside_account(tenant_id, _RAIL, _CURRENCY)
        self._net: Counter[UUID] = Counter()

    async def fund(self, account_id: UUID) -> None:
        """Let plenty of money in from the outside, as a transaction like any other."""

        def decide(draft: Draft) -> None:
            account = account_of(draft, account_id, "/accountId")
            deposit = new_transaction(
                draft.tenant_id,
                draft.now,
                "INBOUND",
                method="bankAccount",
                purpose="DEPOSIT",
                amount=_PLENTY,
                currency=account.currency,
                from_owner_id=account.owner_id,
                to_owner_id=account.owner_id,
                from_account_id=open_outside(draft, _RAIL, account.currency),
                to_account_id=account.id,
            )
            draft.create(TRANSACTIONS, deposit)
            resume(draft, deposit, settled=True)

        needs = [*needs_of_side(account_id), Need(BALANCES, self._outside)]
        answer = await self._submit(Command(decide, needs=needs))
        if answer.status >= _FIRST_FAILURE:
            raise BenchError(f"An account could not be funded: {answer.body.decode()}")

    async def move(self, payer: UUID, payee: UUID) -> bool:
        """Move the least amount there is, with no transaction around it."""
        done = await self._move(payer, payee, 1)
        self._net[payer] -= done
        self._net[payee] += done
        return done

    async def undo_moves(self) -> None:
        """Bring every account back to what its transactions say of it."""
        net = [(account, amount) for account, amount in self._net.items() if amount]
        ways = [
            (account, self._outside, amount) if amount > 0 else (self._outside, account, -amount)
            for account, amount in net
        ]
        if not all(await asyncio.gather(*(self._move(*way) for way in ways))):
            raise BenchError("What was moved could not be moved back.")
        self._net.clear()

    async def pay(self, payer: UUID, payee: UUID, amount: int) -> str:
        """Make a transaction, and return its identifier as it stands in a path."""
        body = CreateInternal(
            from_account_id=ids.say("account", payer),
            to_account_id=ids.say("account", payee),
            amount=str(amount),
            purpose="PURCHASE",
        )
        answer = await self._submit(
            create_internal(Call(self._pool, Settings(), self._principal, body))
        )
        if answer.status >= _FIRST_FAILURE:
            raise BenchError(f"A payment was refused: {answer.body.decode()}")
        return str(msgspec.json.decode(answer.body)["id"]).replace("transaction/", "tx/")

    async def _move(self, payer: UUID, payee: UUID, amount: int) -> bool:
        def decide(draft: Draft) -> None:
            if payer == self._outside:
                open_outside(draft, _RAIL, _CURRENCY)
            post(draft, effects.move(payer, payee, amount), new_id())

        command = Command(decide, needs=[Need(BALANCES, payer), Need(BALANCES, payee)])
        try:
            answer = await self._submit(command)
        except Problem:
            return False
        return answer.status < _FIRST_FAILURE

    async def _submit(self, command: Command) -> Answer:
        return await self._committer.submit(Context(self._principal, "bench"), command)


@asynccontextmanager
async def opened(url: str, tenant_id: UUID, settings: Settings) -> AsyncIterator[Ledger]:
    """Open the ledger of a tenant with the service's own settings."""
    pool = await open_pool(url, settings.pool_size)
    committer = Committer(pool, batch_size=settings.batch_size, lanes=settings.lanes)
    try:
        yield Ledger(pool, committer, tenant_id)
    finally:
        await committer.close()
        await pool.close()


def listed(file: Path) -> list[UUID]:
    """Return the identifiers that a file lists."""
    return [ids.take(line) for line in file.read_text("ascii").split()]


def ring(accounts: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
    """Pair each account with the one after it, so that in the end nobody is poorer."""
    return list(zip(accounts, [*accounts[1:], accounts[0]], strict=True))
