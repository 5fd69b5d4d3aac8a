"""The rail of the sandbox: deterministic, and everything can be made to happen."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec
from msgspec.structs import replace

from farthing.core.actors import Grant, Principal
from farthing.core.errors import Unavailable
from farthing.core.ids import new_id
from farthing.db.commands import Answer, Command, Context
from farthing.db.committer import Committer
from farthing.db.pool import AWAY, Pool
from farthing.rails import memory, moods
from farthing.rails.base import (
    BankVerdict,
    CardDetails,
    CardVerdict,
    Destination,
    News,
    Order,
    Outcome,
    Rail,
    RailAway,
)
from farthing.rails.memory import Fate, OrderRow
from farthing.rails.moods import Feeling
from farthing.rails.numbers import Decision, card_of, sort_code_of

# Where transfers to the sandbox go. The bank is made up, so that no real one is ever paid.
RECEIVING: Final = Destination(
    "GB", "GBP", "31926819", "108800", "GB29FRTH10880031926819", "FRTHGB22"
)
DISPUTED_AFTER: Final = timedelta(minutes=1)
_MOST_NEWS: Final = 100
# A rail that forgets takes an order first.
_TAKEN: Final = Outcome("pending", "taken")


class OrderNotOpen(Exception):
    """Only an order that is pending or unknown can still be decided."""


class SandboxRail(Rail):
    """Answers from the tables, and remembers its answers in the database."""

    name = "sandbox"

    def __init__(self, pool: Pool, committer: Committer) -> None:
        self._pool, self._committer = pool, committer

    async def verify_card(self, card: CardDetails) -> CardVerdict:
        """Look the number up."""
        found = card_of(card.number.reveal())
        return CardVerdict(found.verification, found.type, found.reason)

    async def verify_bank_account(self, destination: Destination) -> BankVerdict:
        """Look the sort code up, also the one inside a British IBAN."""
        found = sort_code_of(destination)
        return BankVerdict(found.verification, found.reason)

    async def charge(self, order: Order, card: CardDetails, *, approved: bool) -> Outcome:
        """Charge as the table says."""
        found = card_of(card.number.reveal())
        fate = Fate(found.charge, found.reason, found.refund, found.disputed)
        disputed_at = await self._now(order.tenant_id) + DISPUTED_AFTER
        refusal = memory.ordain(order, "charge", "refused", "card_declined", None)
        command = memory.charge(order, fate, disputed_at, approved=approved)
        return await self._take(order, command, refusal)

    async def refund(self, order: Order, paid_by: UUID) -> Outcome:
        """Refund as the card of the charge has it, and no more than was charged."""
        refusal = memory.ordain(order, "refund", "refused", "refund_refused", paid_by)
        return await self._take(order, memory.refund(order, paid_by), refusal)

    async def pay_out(self, order: Order, destination: Destination, reference: str) -> Outcome:
        """Pay out as the table says."""
        del reference
        found = sort_code_of(destination)
        refusal = memory.ordain(order, "payout", "refused", "returned_by_bank", None)
        fate = Fate(found.payout, found.reason)
        return await self._take(order, memory.pay_out(order, fate), refusal)

    async def recall(self, order: Order) -> bool:
        """Stop an order that is not done; one that was never heard will be refused."""
        feeling = await self._feel(order.tenant_id)
        outcome = await self._ordered(order, memory.recall(order))
        await asyncio.sleep(feeling.seconds)
        return outcome.status == "refused"

    async def ask(self, order: Order) -> Outcome:
        """Say what is remembered."""
        feeling = await self._feel(order.tenant_id)
        found = await self._find(order.tenant_id, order.id)
        await asyncio.sleep(feeling.seconds)
        return memory.outcome_of(found)

    async def receiving(self, currency: str) -> Destination | None:
        """Return the account of the sandbox: the sort code is for GBP, the IBAN for everything."""
        if currency == RECEIVING.currency:
            return RECEIVING
        return replace(RECEIVING, currency=currency, account_number=None, sort_code=None)

    async def news(self) -> Sequence[News]:
        """Tell what is due, of all tenants."""
        now = self._committer.clocks.machine()
        with _within_reach():
            rows = await memory.DUE_NEWS.find(self._pool, now, _MOST_NEWS)
        return [memory.news_of(row) for row in rows]

    async def news_of(self, tenant_id: UUID, until: datetime) -> Sequence[News]:
        """Tell what is due for one tenant."""
        with _within_reach():
            rows = await memory.DUE_NEWS.find_of(self._pool, tenant_id, until, _MOST_NEWS)
        return [memory.news_of(row) for row in rows]

    async def next_news(self, tenant_id: UUID, after: datetime) -> datetime | None:
        """Say when something is due for one tenant."""
        with _within_reach():
            return await memory.DUE_NEWS.next_of(self._pool, tenant_id, after)

    async def heard(self, news: News) -> None:
        """Take note."""
        await self._submit(news.tenant_id, memory.hear(news))

    async def tell(self, news: News, due_at: datetime | None = None) -> None:
        """Let something happen outside, now or later."""
        due_at = due_at or await self._now(news.tenant_id)
        await self._submit(news.tenant_id, memory.tell(news, due_at))

    async def decide(
        self, tenant_id: UUID, order_id: UUID, status: Decision, reason: str = ""
    ) -> None:
        """Settle, fail or stall an order that is open."""
        answer = await self._submit(tenant_id, memory.settle(order_id, status, reason))
        before = msgspec.json.decode(answer.body, type=Outcome).status
        if before not in memory.OPEN:
            raise OrderNotOpen(f"The order is {before}; only a pending or unknown one is decided.")

    async def ordain(
        self, order: Order, kind: str, status: Decision, reason: str, paid_by: UUID | None
    ) -> Outcome:
        """Say what becomes of an order, unless it has ended; return what became of it."""
        return await self._ordered(order, memory.ordain(order, kind, status, reason, paid_by))

    async def forget(self, tenant_id: UUID, order_id: UUID) -> None:
        """Lose an order, as if it had never been heard."""
        if row := await self._find(tenant_id, order_id):
            await self._submit(tenant_id, memory.forget(order_id, row.paid_by))

    async def _now(self, tenant_id: UUID) -> datetime:
        with _within_reach():
            return await self._committer.clocks.now(tenant_id)

    async def _find(self, tenant_id: UUID, order_id: UUID) -> OrderRow | None:
        with _within_reach():
            record = await self._pool.fetchrow(memory.FIND_ORDER, tenant_id, order_id)
        return None if record is None else memory.ORDERS.read(record)

    async def _take(self, order: Order, command: Command, refusal: Command) -> Outcome:
        """Take an order as the mood is: a slow rail does it first and answers late."""
        feeling = await self._feel(order.tenant_id, is_order=True)
        if feeling.mood == "forgetful":
            return _TAKEN
        outcome = await self._ordered(order, refusal if feeling.refusals else command)
        await asyncio.sleep(feeling.seconds)
        return outcome

    async def _feel(self, tenant_id: UUID, *, is_order: bool = False) -> Feeling:
        """Return the mood in which a request is answered, unless it is not answered at all."""
        with _within_reach():
            feeling = await moods.find(self._pool, tenant_id, await self._now(tenant_id))
        if feeling.requests is not None or (is_order and feeling.refusals is not None):
            answer = await self._submit(tenant_id, moods.spend(tenant_id, is_order=is_order))
            feeling = msgspec.json.decode(answer.body, type=Feeling)
        if feeling.mood == "down":
            raise RailAway
        return feeling

    async def _ordered(self, order: Order, command: Command) -> Outcome:
        answer = await self._submit(order.tenant_id, command)
        return msgspec.json.decode(answer.body, type=Outcome)

    async def _submit(self, tenant_id: UUID, command: Command) -> Answer:
        context = Context(Principal(tenant_id, Grant.PLATFORM), f"sandbox-{new_id()}")
        with _within_reach():
            return await self._committer.submit(context, command)


@contextmanager
def _within_reach() -> Iterator[None]:
    """Without its memory the outside world is away, and nobody knows whether it heard."""
    try:
        yield
    except (Unavailable, *AWAY) as error:
        raise RailAway from error
