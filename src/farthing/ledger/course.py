"""The course of one payment through the books: where its money is, and what takes it further.

Each step is a pure function that returns the postings and where the money is afterwards. A step
that is already behind it returns nothing to post.
"""

from typing import Literal
from uuid import UUID

import msgspec
from msgspec import Struct

from farthing.ledger import effects
from farthing.ledger.effects import Posting

Where = Literal["nowhere", "reserved", "withheld", "complete"]
Progress = tuple[tuple[Posting, ...], Where]


class Course(Struct, frozen=True):
    """A payment as the books see it."""

    payer: UUID
    payee: UUID
    amount: int
    where: str
    # The outside has paid it out, whatever the books say of it.
    is_paid: bool = False


def reserve(course: Course) -> Progress:
    """Announce the payment, unless its money is further on."""
    if course.where == "nowhere":
        return (effects.reserve(course.payer, course.payee, course.amount),), "reserved"
    return (), course.where  # type: ignore[return-value]  # the database holds no other


def withhold(course: Course) -> Progress:
    """Complete the payment, and keep the money from the payee for now."""
    if course.where == "withheld":
        return (), "withheld"
    kept = _freely(effects.withhold(course.payee, course.amount))
    return (*complete(course)[0], kept), "withheld"


def complete(course: Course) -> Progress:
    """Complete the payment, from wherever its money is."""
    if course.where == "withheld":
        return (effects.let_go(course.payee, course.amount),), "complete"
    at_once = effects.follow if course.is_paid else effects.move
    way = {"nowhere": at_once, "reserved": effects.effect}[course.where]
    return (way(course.payer, course.payee, course.amount),), "complete"


def give_up(course: Course) -> Progress:
    """Undo whatever is announced, or bring back what is withheld."""
    payer, payee, amount = course.payer, course.payee, course.amount
    if course.where == "reserved":
        return (effects.release(payer, payee, amount),), "nowhere"
    if course.where == "withheld":
        back = _freely(effects.adjust(payer, payee, amount))
        return (effects.let_go(payee, amount), back), "nowhere"
    return (), "nowhere"


def _freely(posting: Posting) -> Posting:
    """Let a posting take what the one before it has brought, though a dispute took all else."""
    return msgspec.structs.replace(posting, may_overdraw=True)
