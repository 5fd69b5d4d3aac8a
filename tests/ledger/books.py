"""A ledger with nothing around it: postings through the commit path, and the books read back."""

from typing import Any
from uuid import UUID

from msgspec import Struct

from farthing.core.actors import Grant, Principal
from farthing.core.ids import new_id
from farthing.db.commands import Answer, Command, Context, Need
from farthing.db.committer import Committer
from farthing.db.draft import Draft
from farthing.db.pool import Pool
from farthing.ledger.balances import BALANCES, COUNTERS, Balance, outside_account
from farthing.ledger.effects import Posting
from farthing.ledger.postings import open_outside, post

CURRENCY = "GBP"
RAIL = "bank"


class Books:
    """The ledger of one tenant."""

    def __init__(
        self, pool: Pool, committer: Committer, tenant_id: UUID, currency: str = CURRENCY
    ) -> None:
        self.pool, self.committer, self.tenant_id = pool, committer, tenant_id
        self.currency = currency
        self.outside = outside_account(tenant_id, RAIL, currency)

    async def open(self, account_id: UUID) -> None:
        """Open an account that holds nothing."""

        def decide(draft: Draft) -> None:
            empty = Balance.empty(draft.tenant_id, account_id, self.currency, "platform")
            draft.insert(BALANCES, empty)

        await self._submit(Command(decide))

    async def post(self, *postings: Posting) -> Answer:
        """Apply postings together, or none of them."""
        accounts = {leg.account_id for posting in postings for leg in posting.legs}

        def decide(draft: Draft) -> Struct | None:
            if self.outside in accounts:
                open_outside(draft, RAIL, self.currency)
            for posting in postings:
                post(draft, posting, new_id())
            return None

        needs = [Need(BALANCES, account) for account in accounts]
        return await self._submit(Command(decide, needs=needs))

    async def balances(self) -> dict[UUID, Balance]:
        """Read every balance."""
        sql = f"{BALANCES.select_sql} WHERE tenant_id = $1"
        records = await self.pool.fetch(sql, self.tenant_id)
        return {record["id"]: BALANCES.read(record) for record in records}

    async def recomputed(self) -> dict[UUID, tuple[int, ...]]:
        """Add the entries of every account up."""
        sums = ", ".join(f"sum({name})::bigint" for name in COUNTERS)
        sql = f"SELECT account_id, {sums} FROM entries WHERE tenant_id = $1 GROUP BY 1"  # noqa: S608 - our own names
        records: list[Any] = await self.pool.fetch(sql, self.tenant_id)
        return {record[0]: tuple(record)[1:] for record in records}

    async def entry_count(self) -> int:
        """Count the entries."""
        sql = "SELECT count(*) FROM entries WHERE tenant_id = $1"
        return int(await self.pool.fetchval(sql, self.tenant_id))

    async def _submit(self, command: Command) -> Answer:
        context = Context(Principal(self.tenant_id, Grant.PLATFORM), "test-request")
        return await self.committer.submit(context, command)
