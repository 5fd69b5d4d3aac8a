"""The outside as a test writes it: a rail that does what its script says, and counts its money."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

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

# What happens when an order is sent: how the rail gets it, and what it answers.
Step = Callable[["ScriptedRail", Order], Awaitable[Outcome]]


class Died(BaseException):
    """The process that was speaking with the rail is no more."""


def says(status: str, reason: str = "") -> Step:
    """Let the rail get the order and answer like this."""

    async def step(rail: "ScriptedRail", order: Order) -> Outcome:
        return rail.remember(order, Outcome(status, reason))  # type: ignore[arg-type]  # one of its statuses

    return step


async def is_lost(_: "ScriptedRail", __: Order) -> Outcome:
    """Let the order never reach the rail."""
    raise RailAway


async def is_silent(rail: "ScriptedRail", order: Order) -> Outcome:
    """Let the rail carry the order out, and its answer get lost."""
    rail.remember(order, Outcome("done"))
    raise RailAway


async def breaks(rail: "ScriptedRail", order: Order) -> Outcome:
    """Let the code of the rail fail after it has sent the order."""
    rail.remember(order, Outcome("done"))
    raise ZeroDivisionError("a bug of the rail")


async def kills(rail: "ScriptedRail", order: Order) -> Outcome:
    """Let the process die once the rail has carried the order out."""
    rail.remember(order, Outcome("done"))
    raise Died


@dataclass
class Stall:
    """Keeps an order until it is let go, and then answers."""

    outcome: Outcome = field(default_factory=lambda: Outcome("done"))
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, rail: "ScriptedRail", order: Order) -> Outcome:
        self.reached.set()
        await self.go.wait()
        return rail.remember(order, self.outcome, anew=True)


class ScriptedRail(Rail):
    """Carries out what its script says, each order once, and remembers what it was told."""

    name = "scripted"

    def __init__(self) -> None:
        self.script: defaultdict[str, deque[Step]] = defaultdict(deque)
        self.known: dict[UUID, Outcome] = {}
        self.kinds: dict[UUID, str] = {}
        # Every call in its order, as (verb, id of the order).
        self.calls: list[tuple[str, UUID]] = []
        # What came from outside, less what went there, by tenant and currency.
        self.received: defaultdict[tuple[UUID, str], int] = defaultdict(int)
        self.untold: list[News] = []
        self.recalls, self.away = True, False
        self.card, self.bank = "verified", "verified"
        self.paid_out: list[tuple[Destination, str]] = []
        self.approved: list[bool] = []

    def reset(self) -> None:
        """Forget the script, not what happened."""
        self.script.clear()
        self.calls.clear()
        self.untold.clear()
        self.recalls, self.away = True, False

    def sends(self, verb: str | None = None) -> list[UUID]:
        """Return the orders of all calls of one verb, or of all that move money."""
        wanted = {verb} if verb else {"charge", "pay_out", "refund"}
        return [order for name, order in self.calls if name in wanted]

    def remember(self, order: Order, outcome: Outcome, *, anew: bool = False) -> Outcome:
        """Take note of an order, and of its money once it is done."""
        before = self.known.get(order.id, Outcome("unheard"))
        if before.status in {"done", "refused"} and not anew:
            return before
        if outcome.status == "done" and before.status != "done":
            sign = 1 if self.kinds[order.id] == "charge" else -1
            self.received[order.tenant_id, order.currency] += sign * order.amount
        self.known[order.id] = outcome
        return outcome

    def decide(self, tenant_id: UUID, order_id: UUID, amount: int, status: str) -> None:
        """Settle or refuse an order that is open."""
        order = Order(tenant_id, order_id, amount, "GBP")
        self.remember(order, Outcome(status))  # type: ignore[arg-type]  # one of its statuses

    def tell(self, *news: News) -> None:
        """Let something happen outside."""
        for one in news:
            if isinstance(one, Arrival) and one not in self.untold:
                self.received[one.tenant_id, one.currency] += one.amount
        self.untold += news

    async def _sent(self, verb: str, order: Order, usual: str = "done") -> Outcome:
        self.calls.append((verb, order.id))
        self.kinds[order.id] = verb
        if self.away:
            raise RailAway
        steps = self.script[verb]
        known = self.known.get(order.id)
        if known and known.status in {"done", "refused"}:
            return known
        step = steps.popleft() if steps else says(usual)
        return await step(self, order)

    async def verify_card(self, card: CardDetails) -> CardVerdict:
        del card
        return CardVerdict(self.card, "credit", "")  # type: ignore[arg-type]  # one of its outcomes

    async def verify_bank_account(self, destination: Destination) -> BankVerdict:
        del destination
        return BankVerdict(self.bank, "")  # type: ignore[arg-type]  # one of its outcomes

    async def charge(self, order: Order, card: CardDetails, *, approved: bool) -> Outcome:
        del card
        self.approved.append(approved)
        return await self._sent("charge", order)

    async def refund(self, order: Order, paid_by: UUID) -> Outcome:
        del paid_by
        return await self._sent("refund", order)

    async def pay_out(self, order: Order, destination: Destination, reference: str) -> Outcome:
        self.paid_out.append((destination, reference))
        return await self._sent("pay_out", order)

    async def recall(self, order: Order) -> bool:
        self.calls.append(("recall", order.id))
        if self.away:
            raise RailAway
        known = self.known.get(order.id, Outcome("unheard"))
        if not self.recalls or known.status == "done":
            return False
        self.known[order.id] = Outcome("refused", "recalled")
        return True

    async def ask(self, order: Order) -> Outcome:
        self.calls.append(("ask", order.id))
        if self.away:
            raise RailAway
        return self.known.get(order.id, Outcome("unheard"))

    async def receiving(self, currency: str) -> Destination | None:
        return Destination("GB", currency, "31926819", "108800", None, None)

    async def news(self) -> Sequence[News]:
        if self.away:
            raise RailAway
        return list(self.untold)

    async def heard(self, news: News) -> None:
        self.calls.append(("heard", news.id))
        if isinstance(news, DisputeEnd):
            self._lose(news)
        self.untold.remove(news)

    def _lose(self, end: DisputeEnd) -> None:
        """Take what a dispute costs, as networks do, when it is decided."""
        if end.lost:
            self.received[end.tenant_id, "GBP"] -= end.lost

    def disputes(self) -> list[Dispute]:
        """Return the disputes that nobody acknowledged."""
        return [one for one in self.untold if isinstance(one, Dispute)]
