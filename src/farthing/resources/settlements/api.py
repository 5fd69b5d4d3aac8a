"""How the platform speaks with a rail: it sends orders, asks about them, and hears the news."""

import asyncio
from collections.abc import Awaitable, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import structlog

from farthing.config import Settings
from farthing.core.actors import Grant, Principal
from farthing.core.errors import Problem
from farthing.core.ids import new_id
from farthing.core.operation import Operation
from farthing.db.commands import Command, Context, IdempotencyKey
from farthing.db.committer import Committer
from farthing.db.pool import Pool
from farthing.rails.base import Arrival, CardDetails, Dispute, News, Outcome, Rail, RailAway
from farthing.resources.arrivals.actions import receive
from farthing.resources.cards.vault import Vault
from farthing.resources.challenges.model import make_link
from farthing.resources.orders.model import OrderRow
from farthing.resources.orders.store import DUE, ORDERS
from farthing.resources.settlements.actions import (
    Asked,
    Claimed,
    claim,
    end_dispute,
    open_dispute,
    record,
)
from farthing.resources.settlements.model import (
    GIVEN_UP,
    NO_ANSWER,
    NO_DESTINATION,
    NO_NUMBER,
    UNPAID,
)
from farthing.resources.settlements.store import find_transaction_of
from farthing.resources.transactions.model import FINAL, IN_HAND

# Rails are no callers of the API.
OPERATIONS: Final[tuple[Operation, ...]] = ()

# The rail has done nothing, and without another word from us it never will.
_NOT_BEGUN: Final = frozenset({"unheard", "challenge"})
_AT_ONCE: Final = 64
_MOST_DUE: Final = 500
_GRACE_SECONDS: Final = 5
# What was refused is tried again after this, and each time after twice as long, up to an hour.
_PAUSE: Final = timedelta(seconds=2)
_LONGEST_PAUSE: Final = timedelta(hours=1)
_MOST_REFUSED: Final = 10_000

log = structlog.get_logger()


class Teller:
    """Sees to orders: at once for those that this process writes, and to all that are due."""

    def __init__(
        self,
        settings: Settings,
        pool: Pool,
        committer: Committer,
        vault: Vault,
        rail: Rail,
    ) -> None:
        self._settings, self._pool, self._committer = settings, pool, committer
        self._vault, self._rail = vault, rail
        self._places = asyncio.Semaphore(_AT_ONCE)
        # What is under way, and for which tenant.
        self._tasks: dict[asyncio.Task[None], UUID] = {}
        # What was refused: how often, and when it is tried again.
        self._refused: dict[UUID, tuple[int, datetime]] = {}
        committer.listen(ORDERS, self._notice)

    async def see_to_due_orders(self) -> None:
        """See to every order that is due, each by the clock of its tenant."""
        now = self._committer.clocks.machine()
        await self.see_to_all(await DUE.find(self._pool, now, _MOST_DUE))

    async def see_to_all(self, due: Sequence[OrderRow]) -> None:
        """See to orders that are due, whoever placed them; what died with a process included."""
        await asyncio.gather(*(self.see_to(order) for order in due))

    async def see_to(self, order: OrderRow, *, at_once: bool = False) -> None:
        """Claim an order, send it or ask about it, and write down what the rail says."""
        async with self._places:
            claimed: list[Claimed] = []
            await self._submit(order.tenant_id, claim(order, claimed, at_once=at_once))
            if not claimed:
                return
            outcome = await self._outcome(claimed[0])
            command = record(order, outcome, self._rail.name, self._question(order.tenant_id))
            await self._submit(order.tenant_id, command)

    async def hear_news(self) -> None:
        """Write down what a rail tells by itself, and acknowledge it afterwards."""
        await self._hear_all(self._rail.news(), patiently=True)

    async def hear_news_of(self, tenant_id: UUID, until: datetime) -> None:
        """Do so for one tenant, with what it is to hear until a moment of its own time."""
        await self._hear_all(self._rail.news_of(tenant_id, until))

    async def next_news(self, tenant_id: UUID, after: datetime) -> datetime | None:
        """Return when a tenant has something to hear next."""
        try:
            return await self._rail.next_news(tenant_id, after)
        except RailAway:
            return None

    async def _hear_all(self, told: Awaitable[Sequence[News]], *, patiently: bool = False) -> None:
        unwritten: set[UUID] = set()
        try:
            for news in await told:
                about = news.id if isinstance(news, Arrival) else news.order_id
                if patiently and self._is_put_off(news):
                    unwritten.add(about)
                # What is told of one order is written in the order in which it was told.
                if about not in unwritten and await self._hear_quietly(news):
                    await self._rail.heard(news)
                else:
                    unwritten.add(about)
        except RailAway:
            log.warning("rail_away")

    async def hear(self, news: News) -> bool:
        """Write one thing down and acknowledge it; false if it has to wait."""
        written = await self._hear(news)
        if written:
            await self._rail.heard(news)
        return written

    async def close(self) -> None:
        """Give what is under way a moment, and leave the rest to whoever takes it over."""
        try:
            async with asyncio.timeout(_GRACE_SECONDS):
                await self.idle()
        except TimeoutError:
            for task in self._tasks:
                task.cancel()

    async def idle(self) -> None:
        """Wait until everything that was noticed has been seen to."""
        while self._tasks:
            await asyncio.gather(*self._tasks)

    async def idle_for(self, tenant_id: UUID) -> None:
        """Wait until what was noticed of one tenant has been seen to."""
        while mine := [task for task, owner in self._tasks.items() if owner == tenant_id]:
            await asyncio.wait(mine)

    def _notice(self, rows: Sequence[OrderRow]) -> None:
        for order in rows:
            now = self._committer.clocks.last_known(order.tenant_id)
            if order.due_at is not None and order.due_at <= now:
                task = asyncio.create_task(self._see_to_quietly(order))
                self._tasks[task] = order.tenant_id
                task.add_done_callback(self._tasks.pop)

    async def _see_to_quietly(self, order: OrderRow) -> None:
        try:
            await self.see_to(order)
        except Exception:
            # Nobody waits for it here; the worker sees to it when the claim has run out.
            log.exception("order_left_to_the_worker", order=str(order.id))

    async def _outcome(self, claimed: Claimed) -> Outcome:
        try:
            async with asyncio.timeout(self._settings.rail_seconds):
                return await self._ask_or_send(claimed)
        except (RailAway, TimeoutError):
            return NO_ANSWER
        except Exception:
            # Whatever broke, whether the rail has the order is not known.
            log.exception("rail_failed", order=str(claimed.order.id))
            return NO_ANSWER

    async def _ask_or_send(self, claimed: Claimed) -> Outcome:
        order, is_over = claimed.order, claimed.tx.state_id in FINAL
        if is_over and order.kind != "refund":
            # Nobody wants it any more, but if it is done it is done.
            outcome = await self._rail.ask(order.instruction)
            return GIVEN_UP if outcome.status in _NOT_BEGUN else outcome
        if order.attempts > 1 and order.status != "approved":
            outcome = await self._rail.ask(order.instruction)
            may_go_on = order.kind == "refund" or claimed.tx.state_id in IN_HAND
            if outcome.status != "unheard" or not may_go_on:
                return outcome
        return await self._send(claimed)

    async def _send(self, claimed: Claimed) -> Outcome:
        order, tx = claimed.order, claimed.tx
        if order.kind == "refund":
            return await self._rail.refund(order.instruction, tx.order_id or tx.id)
        if order.kind == "charge":
            return await self._charge(claimed)
        destination = claimed.bank_account
        if destination is None or destination.state_id != "ENABLED":
            return await self._refuse(order, NO_DESTINATION)
        text = tx.reference or tx.description or ""
        return await self._rail.pay_out(order.instruction, destination.destination, text)

    async def _refuse(self, order: OrderRow, why: Outcome) -> Outcome:
        """Refuse what cannot be sent, unless somebody may have sent it before."""
        if order.attempts == 1:
            return why
        outcome = await self._rail.ask(order.instruction)
        if outcome.status not in _NOT_BEGUN:
            return outcome
        # Whoever tried before may be late, so the rail must agree.
        return why if await self._rail.recall(order.instruction) else NO_ANSWER

    async def _charge(self, claimed: Claimed) -> Outcome:
        order, card = claimed.order, claimed.card
        number = None if card is None else await self._vault.find_number(card.tenant_id, card.id)
        if card is None or number is None:
            return await self._refuse(order, NO_NUMBER)
        details = CardDetails(number, card.expiry, None)
        approved = order.status == "approved"
        return await self._rail.charge(order.instruction, details, approved=approved)

    async def _hear_quietly(self, news: News) -> bool:
        try:
            return await self._hear(news)
        except Problem as problem:
            # Not ours to lose: it is told again.
            log.warning("news_not_written", news=str(news.id), code=problem.code)
            return False

    async def _hear(self, news: News) -> bool:
        """Write news down, and tell whether it is; a dispute waits until all else is known."""
        if isinstance(news, Arrival):
            command = await receive(self._pool, self._rail.name, news)
            return self._note(news, written=await self._submit(news.tenant_id, command))
        found = await find_transaction_of(self._pool, news.tenant_id, news.order_id)
        if found is None:
            log.error("news_of_an_unknown_order", order=str(news.order_id))
            return True
        if found.state_id in UNPAID or found.is_under_way:
            return False
        if isinstance(news, Dispute):
            command = open_dispute(found.transaction_id, news.amount, news.reason, found.version)
        else:
            command = end_dispute(found, news, self._rail.name)
        written = await self._submit(news.tenant_id, command, self._key_of(news))
        return self._note(news, written=written)

    def _is_put_off(self, news: News) -> bool:
        now = self._committer.clocks.machine()
        return news.id in self._refused and now < self._refused[news.id][1]

    def _key_of(self, news: News) -> IdempotencyKey:
        """Return under which key news is written once; a refusal is remembered under its own."""
        tries, _ = self._refused.get(news.id, (0, None))
        return IdempotencyKey(f"news-{news.id}-{tries}" if tries else f"news-{news.id}", b"news")

    def _note(self, news: News, *, written: bool) -> bool:
        """Note whether news was refused, which says when it is tried again."""
        tries, _ = self._refused.pop(news.id, (0, None))
        if not written:
            pause = min(_PAUSE * 2 ** min(tries, 16), _LONGEST_PAUSE)
            if len(self._refused) >= _MOST_REFUSED:
                self._refused.clear()
            self._refused[news.id] = tries + 1, self._committer.clocks.machine() + pause
        return written

    def _question(self, tenant_id: UUID) -> Asked:
        link = make_link(tenant_id)
        lifetime = timedelta(minutes=self._settings.challenge_minutes)
        return Asked(link, self._settings.base_url + link.path, lifetime)

    async def _submit(
        self, tenant_id: UUID, command: Command, key: IdempotencyKey | None = None
    ) -> bool:
        """Commit, and tell whether the command was not refused."""
        platform = Principal(tenant_id, Grant.PLATFORM)
        answer = await self._committer.submit(Context(platform, f"rail-{new_id()}", key), command)
        if answer.status >= 400:  # noqa: PLR2004 - HTTP's own line
            log.warning("refused", answer=answer.body.decode())
            return False
        return True
