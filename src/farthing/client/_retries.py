"""When to try again, and how long to wait before."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


@dataclass(frozen=True, kw_only=True)
class Retries:
    """How often and how patiently a call is tried again; times are in seconds.

    >>> Retries(attempts=1)  # never again
    Retries(attempts=1, first_pause=0.25, longest_pause=20.0, patience=60.0)
    """

    # The first one counts too.
    attempts: int = 5
    # The pauses double from this one on, and each is drawn at random between nothing and that.
    first_pause: float = 0.25
    # Also if the service names a longer one.
    longest_pause: float = 20.0
    # How long altogether to wait while the first request with the same key still runs.
    patience: float = 60.0

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError("There must be one attempt at least.")

    def pause(self, failures: int, asked: float = 0.0) -> float:
        """Return how long to wait after so many failures, and not less than we were asked to."""
        # A power beyond this is longer than any pause, and at some point no float any more.
        drawn = random.uniform(0, self.first_pause * 2.0 ** min(failures - 1, 30))  # noqa: S311 - only spreads callers out
        return min(self.longest_pause, asked + drawn)


def read_retry_after(value: str | None) -> float:
    """Read a `Retry-After`, which is a number of seconds or a date; 0 for anything else."""
    if not value:
        return 0.0
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
