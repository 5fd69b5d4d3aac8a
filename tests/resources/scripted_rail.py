"""A rail that answers, refuses, stalls and forgets as it is told, and knows what really happened.

It is honest: it carries out an order once, gives back no more than it took, and what it recalled
stays recalled. All else is up to the mood of the moment, which a test sets before each step.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, get_args
from uuid import UUID

from msgspec import Struct

from farthing.core.ids import new_id
from farthing.rails.base import (
    Arrival,
    BankVerdict,
    CardDetails,
    CardVerdict,
    Destination,
    Dispute,
    DisputeEnd,
    News,
    Order,
    Outcome,
    Rail,
    RailAway,
)

# How the rail behaves until it is told otherwise, the plainest first.
Mood = Literal[
    "does",
    "refuses",
    "waits",  # It has the order and says so.
    "shrugs",  # It has the order and says that it does not know.
    "shrugs_done",  # It has done it and says that it does not know.
    "challenges",
    "forgets",  # It says that it has the order, and loses it.
    "is_deaf",  # It does not answer, and has not heard.
    "is_mute",  # It has the order and does not answer.
    "is_mute_done",  # It has done it and does not answer.
    "stalls",  # It takes its time before it hears.
    "stalls_done",  # It does it and takes its time for the answer.
]
MOODS: tuple[Mood, ...] = get_args(Mood)
_SILENT = frozenset({"is_deaf", "is_mute", "is_mute_done"})
_SHRUGS = frozenset({"shrugs", "shrugs_done"})
_DONE = frozenset({"does", "shrugs_done", "is_mute_done", "stalls_done"})


class Deed(Struct):
    """What really became of an order that the rail has heard of."""

    kind: Literal["charge", "payout", "refund", "recalled"]
    order: Order
    number: int
    is_card: bool = False
    status: Literal["open", "challenge", "done", "refused"] = "open"
    # The order or arrival that a refund gives back.
    paid_by: UUID | None = None
    # Of a charge or an arrival: what went back, what is disputed now, what was lost to disputes.
    refunded: int = 0
    disputed: int = 0
    lost: int = 0

    @property
    def is_final(self) -> bool:
        return self.status in {"done", "refused"}

    @property
    def left(self) -> int:
        return self.order.amount - self.refunded - self.disputed - self.lost

    @property
    def signed(self) -> int:
        """What it brought us, if it is done."""
        return self.order.amount if self.kind == "charge" else -self.order.amount


class ScriptedRail(Rail):
    """Keeps its own books: `inside` is the money that really came to us and did not go back."""

    name = "scripted"

    def __init__(self) -> None:
        self.start_over()

    def start_over(self) -> None:
        self.mood: Mood = "does"
        # Once set, nothing is put off any more: these decide, in turn, what was left open.
        self.endings: list[bool] = []
        self.deeds: dict[UUID, Deed] = {}
        self.inside: defaultdict[str, int] = defaultdict(int)
        self.untold: list[News] = []
        # The calls that wait for an answer; there may be two about one order.
        self.stalled: list[tuple[UUID, asyncio.Future[Mood]]] = []
        self.stalling = asyncio.Event()

    # What the platform asks of it.

    async def verify_card(self, card: CardDetails) -> CardVerdict:
        del card
        return CardVerdict("verified", "debit", "")

    async def verify_bank_account(self, destination: Destination) -> BankVerdict:
        del destination
        return BankVerdict("verified", "")

    async def charge(self, order: Order, card: CardDetails, *, approved: bool) -> Outcome:
        del card
        return await self._hear("charge", order, approved=approved)

    async def refund(self, order: Order, paid_by: UUID) -> Outcome:
        return await self._hear("refund", order, paid_by=paid_by)

    async def pay_out(self, order: Order, destination: Destination, reference: str) -> Outcome:
        del destination, reference
        return await self._hear("payout", order)

    async def recall(self, order: Order) -> bool:
        if self.mood == "is_deaf":
            raise RailAway
        deed = self.deeds.get(order.id)
        if self.mood != "waits":
            deed = deed or self._deed("recalled", order)
            deed.status = "refused" if not deed.is_final else deed.status
        if self.mood in _SILENT:
            raise RailAway
        return deed is not None and deed.status == "refused"

    async def ask(self, order: Order) -> Outcome:
        if self.mood in _SILENT:
            raise RailAway
        deed = self.deeds.get(order.id)
        if deed is None:
            return Outcome("unheard")
        self._decide(deed, self.mood)
        return _said(deed, self.mood)

    async def receiving(self, currency: str) -> Destination | None:
        return Destination("GB", currency, None, None, "GB29FRTH10880031926819", None)

    async def news(self) -> Sequence[News]:
        if self.mood in _SILENT:
            raise RailAway
        return list(self.untold)

    async def heard(self, news: News) -> None:
        # It does not notice that it was heard, and tells the same again.
        if self.mood not in {"waits", "forgets", *_SHRUGS}:
            self.untold.remove(news)

    # What happens outside by itself.

    def send(self, tenant_id: UUID, amount: int, currency: str, reference: str) -> None:
        """Let somebody send us money."""
        news = Arrival(tenant_id, new_id(), amount, currency, reference, "A payer")
        order = Order(tenant_id, news.id, amount, currency)
        self.deeds[news.id] = Deed("charge", order, len(self.deeds), status="done")
        self.inside[currency] += amount
        self.untold.append(news)

    def open_dispute(self, deed: Deed, amount: int | None) -> None:
        """Let a cardholder want money back; without an amount, all that is left of it."""
        order, deed.disputed = deed.order, deed.left if amount is None else amount
        news = Dispute(order.tenant_id, new_id(), order.id, amount, "fraudulent")
        self.untold.append(news)

    def end_dispute(self, deed: Deed, lost: int, *, says_all: bool = False) -> None:
        """Decide a dispute: this much of it goes back to the cardholder."""
        order, said = deed.order, None if says_all and lost == deed.disputed else lost
        self.inside[order.currency] -= lost
        deed.disputed, deed.lost = 0, deed.lost + lost
        self.untold.append(DisputeEnd(order.tenant_id, new_id(), order.id, said, "decided"))

    def settle(self, order_id: UUID, *, done: bool) -> bool:
        """Bring an order to its end; tell whether it ended like that."""
        deed = self.deeds.get(order_id)
        if deed is None or deed.status == "challenge":
            return False
        self._decide(deed, "does" if done else "refuses")
        return deed.status == ("done" if done else "refused")

    def let_go(self, number: int, mood: Mood) -> None:
        """Answer at last."""
        self.stalled.pop(number % len(self.stalled))[1].set_result(mood)

    async def _hear(
        self,
        kind: Literal["charge", "payout", "refund"],
        order: Order,
        *,
        approved: bool = False,
        paid_by: UUID | None = None,
    ) -> Outcome:
        mood = self.mood
        if mood == "stalls":
            mood = await self._stall(order)
        if mood == "is_deaf":
            raise RailAway
        if mood == "forgets" and order.id not in self.deeds:
            return Outcome("pending")
        deed = self._deed(kind, order, paid_by)
        wanted = mood == "challenges" and kind == "charge"
        if wanted and deed.status == "open" and not approved:
            deed.status = "challenge"
        elif deed.status == "challenge" and approved:
            deed.status = "open"
        self._decide(deed, mood)
        if mood in _SILENT:
            raise RailAway
        if mood == "stalls_done":
            mood = await self._stall(order)
            if mood in _SILENT:
                raise RailAway
        return _said(deed, mood)

    async def _stall(self, order: Order) -> Mood:
        answer: asyncio.Future[Mood] = asyncio.get_running_loop().create_future()
        one = (order.id, answer)
        self.stalled.append(one)
        self.stalling.set()
        try:
            return await answer
        finally:
            if one in self.stalled:
                self.stalled.remove(one)

    def _deed(
        self,
        kind: Literal["charge", "payout", "refund", "recalled"],
        order: Order,
        paid_by: UUID | None = None,
    ) -> Deed:
        """Return what is known of an order; now that it is heard, it is known."""
        fresh = Deed(kind, order, len(self.deeds), is_card=kind == "charge", paid_by=paid_by)
        return self.deeds.setdefault(order.id, fresh)

    def _decide(self, deed: Deed, mood: Mood) -> None:
        """Carry an order out, or refuse it for good; only one that is open."""
        if deed.status != "open":
            return
        if self.endings:
            done = self.endings[deed.number % len(self.endings)]
        elif mood == "refuses" or mood in _DONE:
            done = mood != "refuses"
        elif mood == "challenges":
            done = True
        else:
            return
        deed.status = "done" if done and self._can(deed) else "refused"
        if deed.status == "done":
            self._carry_out(deed)

    def _can(self, deed: Deed) -> bool:
        """Give back no more than came in, and nothing that is disputed."""
        paid = self.deeds.get(deed.paid_by) if deed.paid_by else None
        return paid is None or paid.left >= deed.order.amount

    def _carry_out(self, deed: Deed) -> None:
        order = deed.order
        self.inside[order.currency] += deed.signed
        if paid := self.deeds.get(deed.paid_by) if deed.paid_by else None:
            paid.refunded += order.amount


def _said(deed: Deed, mood: Mood) -> Outcome:
    if mood in _SHRUGS:
        return Outcome("unknown", "shrug")
    if deed.status == "open":
        return Outcome("pending")
    return Outcome(deed.status, "" if deed.status == "done" else f"it is {deed.status}")


RAIL = ScriptedRail()


def make_rail(_: object) -> Rail:
    """Return the rail of the process, as FARTHING_RAIL names it."""
    return RAIL
