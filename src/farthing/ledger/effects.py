"""Effects: everything that can happen to money, each a pure function that returns a posting.

Every effect but withholding touches two accounts, and what it adds on one side it takes from, or
mirrors on, the other. A posting that is not balanced cannot be made.
"""

from collections.abc import Callable
from uuid import UUID

from msgspec import Struct


class Leg(Struct, frozen=True, kw_only=True):
    """What a posting adds to the counters of one account."""

    account_id: UUID
    complete: int = 0
    incomplete_debits: int = 0
    incomplete_credits: int = 0
    disputed_debits: int = 0
    disputed_credits: int = 0
    withheld: int = 0


class Posting(Struct, frozen=True):
    """The legs of one effect; they balance, or the posting does not exist."""

    effect: str
    legs: tuple[Leg, ...]
    # Only what the outside decides, such as a dispute, may take more than is available.
    may_overdraw: bool = False

    def __post_init__(self) -> None:
        balanced = (
            sum(leg.complete for leg in self.legs) == 0
            and sum(leg.incomplete_debits - leg.incomplete_credits for leg in self.legs) == 0
            and sum(leg.disputed_debits - leg.disputed_credits for leg in self.legs) == 0
        )
        if len({leg.account_id for leg in self.legs}) != len(self.legs):
            raise ValueError(f"{self.effect} has two legs on one account")
        if not balanced:
            raise ValueError(f"the legs of {self.effect} do not balance")


# The effects that have a payer and a payee.
TwoSided = Callable[[UUID, UUID, int], Posting]


def reserve(payer: UUID, payee: UUID, amount: int) -> Posting:
    """Announce a payment on both sides; the payer can no longer dispose of the amount."""
    return Posting(
        "reserve",
        (
            Leg(account_id=payer, incomplete_debits=amount),
            Leg(account_id=payee, incomplete_credits=amount),
        ),
    )


def release(payer: UUID, payee: UUID, amount: int) -> Posting:
    """Take the announcement back."""
    return Posting(
        "release",
        (
            Leg(account_id=payer, incomplete_debits=-amount),
            Leg(account_id=payee, incomplete_credits=-amount),
        ),
    )


def effect(payer: UUID, payee: UUID, amount: int) -> Posting:
    """Complete a payment that was reserved."""
    return Posting(
        "effect",
        (
            Leg(account_id=payer, complete=-amount, incomplete_debits=-amount),
            Leg(account_id=payee, complete=amount, incomplete_credits=-amount),
        ),
    )


def move(payer: UUID, payee: UUID, amount: int) -> Posting:
    """Complete a payment in one step, with no reservation before it."""
    return Posting(
        "move",
        (Leg(account_id=payer, complete=-amount), Leg(account_id=payee, complete=amount)),
    )


def follow(payer: UUID, payee: UUID, amount: int) -> Posting:
    """Complete a payment that the outside has carried out already: the books can only follow."""
    return Posting(
        "follow",
        (Leg(account_id=payer, complete=-amount), Leg(account_id=payee, complete=amount)),
        may_overdraw=True,
    )


def withhold(account: UUID, amount: int) -> Posting:
    """Keep money that is in an account from its owner, as escrow does."""
    return Posting("withhold", (Leg(account_id=account, withheld=amount),))


def let_go(account: UUID, amount: int) -> Posting:
    """End a withholding."""
    return Posting("let_go", (Leg(account_id=account, withheld=-amount),))


def set_aside(payer: UUID, payee: UUID, amount: int) -> Posting:
    """Set the disputed part of a completed payment aside; the payee may have spent it already."""
    return Posting(
        "set_aside",
        (
            Leg(account_id=payer, disputed_credits=amount),
            Leg(account_id=payee, disputed_debits=amount),
        ),
        may_overdraw=True,
    )


def give_back(payer: UUID, payee: UUID, amount: int) -> Posting:
    """End a dispute in the payee's favour."""
    return Posting(
        "give_back",
        (
            Leg(account_id=payer, disputed_credits=-amount),
            Leg(account_id=payee, disputed_debits=-amount),
        ),
    )


def charge_back(payer: UUID, payee: UUID, amount: int) -> Posting:
    """End a dispute in the payer's favour: what was set aside returns to the payer."""
    return Posting(
        "charge_back",
        (
            Leg(account_id=payer, complete=amount, disputed_credits=-amount),
            Leg(account_id=payee, complete=-amount, disputed_debits=-amount),
        ),
        may_overdraw=True,
    )


def restore(payer: UUID, payee: UUID, amount: int) -> Posting:
    """Take an adjustment back that the outside did not carry out."""
    return Posting(
        "restore",
        (Leg(account_id=payer, complete=-amount), Leg(account_id=payee, complete=amount)),
    )


def adjust(payer: UUID, payee: UUID, amount: int) -> Posting:
    """Return a part of a completed payment from the payee to the payer."""
    return Posting(
        "adjust",
        (Leg(account_id=payer, complete=amount), Leg(account_id=payee, complete=-amount)),
    )
