"""The port to the outside: what every way of moving money can do.

Nothing here happens inside a commit. A verification moves no money and may be repeated; whatever
moves money carries the id of an order that was recorded before, so that one can ask what became
of it.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

from msgspec import Struct

CardType = Literal["debit", "credit", "unknown"]


class RailAway(Exception):
    """The other side does not answer; whether it heard us is not known."""


class Hidden:
    """A text that must not be seen: not in a log, a traceback or a list of local variables."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text, to whoever says so on purpose."""
        return self._text

    def __repr__(self) -> str:
        return "<hidden>"


class CardDetails(Struct, frozen=True):
    """What a card network needs to know of a card."""

    number: Hidden
    expiry: str
    cvv: Hidden | None


class CardVerdict(Struct, frozen=True):
    """What the network says of a card that somebody wants to store."""

    outcome: Literal["verified", "declined", "challenge"]
    type: CardType
    reason: str


class Destination(Struct, frozen=True):
    """Where a payout goes."""

    country: str
    currency: str
    account_number: str | None
    sort_code: str | None
    iban: str | None
    bic: str | None

    @property
    def is_complete(self) -> bool:
        """Tell whether a payout could reach it."""
        return self.account_number is not None or self.iban is not None

    @property
    def way(self) -> Literal["sort_code", "iban"] | None:
        """Which of its numbers is paid: of both, the sort code's for GBP, the IBAN for all else."""
        if self.sort_code is not None and (self.currency == "GBP" or self.iban is None):
            return "sort_code"
        return None if self.iban is None else "iban"

    @property
    def british(self) -> tuple[str, str] | None:
        """The sort code and account number that are paid, also those inside a British IBAN."""
        if self.way == "sort_code":
            return self.sort_code or "", self.account_number or ""
        iban = self.iban or ""
        # GBkk BBBB SSSS SSCC CCCC CC: what follows the bank's letters.
        return (iban[8:14], iban[14:22]) if iban.startswith("GB") else None


class BankVerdict(Struct, frozen=True):
    """What the bank says of a destination."""

    outcome: Literal["verified", "pending"]
    reason: str


class Order(Struct, frozen=True):
    """An instruction to move money, recorded before it is sent.

    A rail carries out an order of one id once, however often it is sent.
    """

    tenant_id: UUID
    id: UUID
    amount: int
    currency: str


class Outcome(Struct, frozen=True):
    """What became of an order.

    `pending`: the rail has it and will tell later. `unknown`: nobody can say, and it is asked for
    again. `unheard`: the rail never got it, so that it is safe to send it again.
    """

    status: Literal["done", "refused", "challenge", "pending", "unknown", "unheard"]
    reason: str = ""


class Arrival(Struct, frozen=True):
    """Money that somebody sent to us."""

    tenant_id: UUID
    id: UUID
    amount: int
    currency: str
    reference: str
    payer: str


class Dispute(Struct, frozen=True):
    """A payer wants the money of an order back; without an amount, all of it."""

    tenant_id: UUID
    id: UUID
    order_id: UUID
    amount: int | None
    reason: str


class DisputeEnd(Struct, frozen=True):
    """A dispute is decided: this much is lost, nothing if it was won."""

    tenant_id: UUID
    id: UUID
    order_id: UUID
    lost: int | None
    reason: str


# What a rail tells by itself; `id` tells a repetition from something new.
News = Arrival | Dispute | DisputeEnd


class Rail(ABC):
    """A way in which money leaves and enters."""

    name: str

    @abstractmethod
    async def verify_card(self, card: CardDetails) -> CardVerdict:
        """Ask whether a card can be used."""

    @abstractmethod
    async def verify_bank_account(self, destination: Destination) -> BankVerdict:
        """Ask whether a destination can be paid."""

    @abstractmethod
    async def charge(self, order: Order, card: CardDetails, *, approved: bool) -> Outcome:
        """Take money from a card; `approved` once the cardholder has passed a challenge."""

    @abstractmethod
    async def refund(self, order: Order, paid_by: UUID) -> Outcome:
        """Give money back that came in by an earlier order or arrival."""

    @abstractmethod
    async def pay_out(self, order: Order, destination: Destination, reference: str) -> Outcome:
        """Send money to a bank account."""

    @abstractmethod
    async def recall(self, order: Order) -> bool:
        """Stop an order; true only if it is certain that it is not and will not be done."""

    @abstractmethod
    async def ask(self, order: Order) -> Outcome:
        """Ask what became of an order."""

    @abstractmethod
    async def receiving(self, currency: str) -> Destination | None:
        """Return where transfers to us are to be sent; None if we take none in this currency."""

    @abstractmethod
    async def news(self) -> Sequence[News]:
        """Return what happened outside and was not acknowledged yet, oldest first."""

    @abstractmethod
    async def heard(self, news: News) -> None:
        """Acknowledge: it is in the books and need not be told again."""

    async def news_of(self, tenant_id: UUID, until: datetime) -> Sequence[News]:
        """Return what a tenant is to hear until a moment of its own time, oldest first."""
        del until
        return [one for one in await self.news() if one.tenant_id == tenant_id]

    async def next_news(self, tenant_id: UUID, after: datetime) -> datetime | None:
        """Return when a tenant has something to hear next; only a made-up outside knows."""
        del tenant_id, after
        return None
