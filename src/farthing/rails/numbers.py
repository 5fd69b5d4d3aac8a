"""The numbers of the sandbox that have a fate: its rail and the documentation go by these."""

from typing import Final, Literal

from msgspec import Struct

from farthing.rails.base import CardType, Destination
from farthing.rails.memory import RefundResult, Result

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


def card_of(number: str) -> MagicCard:
    """Return what becomes of a card with this number."""
    return _CARDS.get(number, _ANY_CARD)


def sort_code_of(destination: Destination) -> MagicSortCode:
    """Return what becomes of a destination, also by the sort code inside a British IBAN."""
    sort_code, _ = destination.british or ("", "")
    return _SORT_CODES.get(sort_code, _ANY_SORT_CODE)
