"""What the platform makes of a rail's answer."""

from typing import Final

from farthing.rails.base import Outcome
from farthing.resources.arrivals.model import WAITING

# Whether a transaction in one of these states will be paid is not known yet.
UNPAID: Final = WAITING | {"ERRORED"}

NO_ANSWER: Final = Outcome("unknown", "no_answer")
NO_NUMBER: Final = Outcome("refused", "card_number_erased")
GIVEN_UP: Final = Outcome("refused", "given_up")
NO_DESTINATION: Final = Outcome("refused", "bank_account_not_enabled")


def said(outcome: Outcome) -> str:
    """Say an outcome in a sentence, for the history."""
    because = f" ({outcome.reason})" if outcome.reason else ""
    return f"The rail said: {outcome.status}{because}."
