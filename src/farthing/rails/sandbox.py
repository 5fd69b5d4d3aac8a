"""The rail of the sandbox: deterministic, and everything can be made to happen.

The tables below are what the rail does and what the documentation shows.
"""

from collections.abc import Sequence
from typing import Final, Literal
from uuid import UUID

from msgspec import Struct

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
)

Verification = Literal["verified", "declined", "challenge"]
Result = Literal["done", "refused", "pending", "unknown"]


class MagicCard(Struct, frozen=True):
    """A card number with a fate."""

    number: str
    type: CardType
    verification: Verification
    charge: Result
    what: str
    reason: str = ""


class MagicSortCode(Struct, frozen=True):
    """A sort code with a fate."""

    sort_code: str
    verification: Literal["verified", "pending"]
    payout: Result
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
        "Verifies, but the outcome of a charge stays unknown.",
        "processing_error",
    ),
    MagicCard(
        "4000000000000259", "credit", "verified", "done", "Works, and the charge is disputed later."
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
        "Verified; the outcome of a payout is unknown.",
        "no_answer",
    ),
)

_CARDS: Final = {card.number: card for card in MAGIC_CARDS}
_SORT_CODES: Final = {code.sort_code: code for code in MAGIC_SORT_CODES}

# Whatever is not in the tables works, and says nothing of itself.
_ANY_CARD: Final = MagicCard("", "unknown", "verified", "done", "Any other number works.")
_ANY_SORT_CODE: Final = MagicSortCode("", "verified", "done", "Any other sort code works.")


class SandboxRail(Rail):
    """Answers from the tables."""

    name = "sandbox"

    async def verify_card(self, card: CardDetails) -> CardVerdict:
        """Look the number up."""
        found = _CARDS.get(card.number.reveal(), _ANY_CARD)
        return CardVerdict(found.verification, found.type, found.reason)

    async def verify_bank_account(self, destination: Destination) -> BankVerdict:
        """Look the sort code up, also the one inside a British IBAN."""
        found = _SORT_CODES.get(_sort_code(destination), _ANY_SORT_CODE)
        return BankVerdict(found.verification, found.reason)

    async def charge(self, order: Order, card: CardDetails, *, approved: bool) -> Outcome:
        """Charge as the table says."""
        del order, approved
        found = _CARDS.get(card.number.reveal(), _ANY_CARD)
        return Outcome(found.charge, found.reason)

    async def refund(self, order: Order, paid_by: UUID) -> Outcome:
        """Refund whatever is asked."""
        del order, paid_by
        return Outcome("done")

    async def pay_out(self, order: Order, destination: Destination, reference: str) -> Outcome:
        """Pay out as the table says."""
        del order, reference
        found = _SORT_CODES.get(_sort_code(destination), _ANY_SORT_CODE)
        return Outcome(found.payout, found.reason)

    async def recall(self, order: Order) -> bool:
        """Say that it is too late."""
        del order
        return False

    async def ask(self, order: Order) -> Outcome:
        """Say that nobody knows."""
        del order
        return Outcome("unknown", "no_answer")

    async def receiving(self, currency: str) -> Destination | None:
        """Return the account of the sandbox."""
        return Destination(
            "GB", currency, "31926819", "108800", "GB94BARC10201530093459", "BARCGB22"
        )

    async def news(self) -> Sequence[News]:
        """Tell nothing."""
        return ()

    async def heard(self, news: News) -> None:
        """Take note."""
        del news


def _sort_code(destination: Destination) -> str:
    if destination.sort_code is not None:
        return destination.sort_code
    iban = destination.iban or ""
    # GBkk BBBB SSSS SSCC CCCC CC: the six digits after the bank's letters.
    return iban[8:14] if iban.startswith("GB") else ""
