"""The rail of the sandbox: deterministic, and everything can be made to happen.

The tables below are what the rail does and what the documentation shows.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from farthing.core.actors import Grant, Principal
from farthing.core.errors import Unavailable
from farthing.core.ids import new_id
from farthing.db.commands import Answer, Command, Context
from farthing.db.committer import Committer
from farthing.db.pool import AWAY, Pool
from farthing.rails import memory
from farthing.rails.base import (
    BankVerdict,
    CardDetails,
    CardType,
    CardVerdict,
    Destination,
    News,
    Order,
    Outcome,
    Rail,
    RailAway,
)
from farthing.rails.memory import Fate, OrderRow, RefundResult, Result

Verification = Literal["verified", "declined", "challenge"]
Decision = Literal["done", "refused", "pending", "unknown"]


class MagicCard(Struct, frozen=True):
    """A card number with a fate."""

    number: str
    type: CardType
    verification: Verification
    charge: Result
    what: str
    reason: str = ""
    refund: RefundResult = "done"
    disputed: bool = False


class MagicSortCode(Struct, frozen=True):
    """A sort code with a fate."""

    sort_code: str
    verification: Literal["verified", "pending"]
    payout: Decision
    what: str
    reason: str = ""


MAGIC_CARDS: Final = (
    MagicCard("4242424242424242", "credit", "verified", "done", "VISA, works."),
    MagicCard("5555555555554444", "credit", "verified", "done", "MASTERCARD, works."),
    MagicCard(
        "2223003122003222", "credit", "verified", "done", "MASTERCARD of the 2-series, works."
    ),
    MagicCard("4000056655665556", "debit", "verified", "done", "VISA debit, works."),
    MagicCard("5200828282828210", "debit", "verified", "done", "MASTERCARD debit, works."),
    MagicCard(
        "4000002500003155",
        "credit",
        "challenge",
        "done",
        "Asks the cardholder to approve it first.",
    ),
    MagicCard(
        "4000002760003184",
        "credit",
        "verified",
        "challenge",
        "Verifies, but asks the cardholder to approve every charge.",
    ),
    MagicCard("4000000000000002", "credit", "declined", "refused", "Declined.", "card_declined"),
    MagicCard(
        "4000000000009995",
        "credit",
        "verified",
        "refused",
        "Verifies, but has insufficient funds when it is charged.",
        "insufficient_funds",
    ),
    MagicCard(
        "4000000000000119",
        "credit",
        "verified",
        "unknown",
        "Verifies, but the outcome of a charge stays unknown until the sandbox is told.",
        "processing_error",
    ),
    MagicCard(
        "4000000000000259",
        "credit",
        "verified",
        "done",
        "Works, and the whole charge is disputed one minute later.",
        disputed=True,
    ),
    MagicCard(
        "4000000000005126",
        "credit",
        "verified",
        "done",
        "Works, but every refund of a charge is refused.",
        refund="refused",
    ),
    MagicCard(
        "4000000000000341",
        "credit",
        "verified",
        "refused",
        "Verifies, but every charge fails.",
        "card_declined",
    ),
)

MAGIC_SORT_CODES: Final = (
    MagicSortCode("108800", "verified", "done", "Verified; payouts arrive."),
    MagicSortCode(
        "108801", "pending", "refused", "Stays PENDING: it cannot be verified.", "account_not_found"
    ),
    MagicSortCode(
        "108802", "verified", "refused", "Verified; payouts are returned.", "returned_by_bank"
    ),
    MagicSortCode(
        "108803",
        "verified",
        "unknown",
        "Verified; the outcome of a payout stays unknown until the sandbox is told.",
        "no_answer",
    ),
    MagicSortCode(
        "108804", "verified", "pending", "Verified; payouts are pending until the sandbox is told."
    ),
)

_CARDS: Final = {card.number: card for card in MAGIC_CARDS}
_SORT_CODES: Final = {code.sort_code: code for code in MAGIC_SORT_CODES}

# Whatever is not in the tables works, and says nothing of itself.
_ANY_CARD: Final = MagicCard("", "unknown", "verified", "done", "Any other number works.")
_ANY_SORT_CODE: Final = MagicSortCode("", "verified", "done", "Any other sort code works.")


# Where transfers to the sandbox go. The bank is made up, so that no real one is ever paid.
RECEIVING: Final = Destination(
    "GB", "GBP", "31926819", "108800", "GB29FRTH10880031926819", "FRTHGB22"
)
DISPUTED_AFTER: Final = timedelta(minutes=1)
_MOST_NEWS: Final = 100


class OrderNotOpen(Exception):
    """Only an order that is pending or unknown can still be decided."""


class SandboxRail(Rail):
    """Answers from the tables, and remembers its answers in the database."""

    name = "sandbox"

    def __init__(self, pool: Pool, committer: Committer) -> None:
        self._pool, self._committer = pool, committer

    async def verify_card(self, card: CardDetails) -> CardVerdict:
        """Look the number up."""
        found = _CARDS.get(card.number.reveal(), _ANY_CARD)
        return CardVerdict(found.verification, found.type, found.reason)

    async def verify_bank_account(self, destination: Destination) -> BankVerdict:
        """Look the sort code up, also the one inside a British IBAN."""
        found = _sort_code(destination)
        return BankVerdict(found.verification, found.reason)

    async def charge(self, order: Order, card: CardDetails, *, approved: bool) -> Outcome:
        """Charge as the table says."""
        found = _CARDS.get(card.number.reveal(), _ANY_CARD)
        fate = Fate(found.charge, found.reason, found.refund, found.disputed)
        disputed_at = await self._now(order.tenant_id) + DISPUTED_AFTER
        return await self._ordered(
            order, memory.charge(order, fate, disputed_at, approved=approved)
        )

    async def refund(self, order: Order, paid_by: UUID) -> Outcome:
        """Refund as the card of the charge has it, and no more than was charged."""
        return await self._ordered(order, memory.refund(order, paid_by))

    async def pay_out(self, order: Order, destination: Destination, reference: str) -> Outcome:
        """Pay out as the table says."""
        del reference
        found = _sort_code(destination)
        return await self._ordered(order, memory.pay_out(order, Fate(found.payout, found.reason)))

    async def recall(self, order: Order) -> bool:
        """Stop an order that is not done; one that was never heard will be refused."""
        return (await self._ordered(order, memory.recall(order))).status == "refused"

    async def ask(self, order: Order) -> Outcome:
        """Say what is remembered."""
        return memory.outcome_of(await self._find(order.tenant_id, order.id))

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


def _sort_code(destination: Destination) -> MagicSortCode:
    sort_code, _ = destination.british or ("", "")
    return _SORT_CODES.get(sort_code, _ANY_SORT_CODE)
