"""Rate limits: how many requests one credential may make, counted by each process for itself."""

import math
import time
from collections.abc import Callable
from typing import Any, Final

import limits
from limits.storage import Storage
from limits.strategies import FixedWindowRateLimiter

from farthing.core.errors import RateLimited
from farthing.resources.access.model import Presented

_LIMIT: Final = "RateLimit-Limit"
_REMAINING: Final = "RateLimit-Remaining"
_RESET: Final = "RateLimit-Reset"


class Limits:
    """Counts the requests of each credential that is valid, and refuses what is too much."""

    def __init__(self, limit: str, seconds: Callable[[], float] = time.time) -> None:
        self._limit = limits.parse(limit)
        self._seconds = seconds
        self._counts = Counts(seconds)
        self._windows = FixedWindowRateLimiter(self._counts)

    def count(self, shown: Presented, state: dict[str, Any]) -> None:
        """Count one request; whatever is answered to it says how many may follow."""
        fits = self._windows.hit(self._limit, shown.digest.hex())
        # Right after the hit these are of this credential; to ask for them costs as much again.
        left = max(0, self._limit.amount - self._counts.latest)
        seconds = str(max(1, math.ceil(self._counts.ends - self._seconds())))
        state["headers"] = {
            _LIMIT: str(self._limit.amount),
            _REMAINING: str(left),
            _RESET: seconds,
        }
        if not fits:
            state["headers"]["Retry-After"] = seconds
            allowed = f"{self._limit.amount} requests per {self._limit.GRANULARITY.name}"
            raise RateLimited(f"This credential may make {allowed}. Go on in {seconds} seconds.")


class Counts(Storage):
    """The counters of the window that runs: all end together, so nothing is left to clean up.

    The storage that the library brings looks through all of its counters again and again.
    """

    def __init__(self, seconds: Callable[[], float]) -> None:
        super().__init__()
        self._seconds = seconds
        self._counts: dict[str, int] = {}
        self.ends = 0.0
        self.latest = 0

    @property
    def base_exceptions(self) -> type[Exception]:
        """What can go wrong: nothing that is of this storage."""
        return ArithmeticError

    def incr(self, key: str, expiry: float, amount: int = 1) -> int:
        """Count; the first one after the end of a window begins the next."""
        now = self._seconds()
        if now >= self.ends:
            self._counts.clear()
            self.ends = (now // expiry + 1) * expiry
        self.latest = self._counts[key] = self._counts.get(key, 0) + amount
        return self.latest

    def get(self, key: str) -> int:
        """Return a count."""
        return self._counts.get(key, 0)

    def get_expiry(self, key: str) -> float:  # noqa: ARG002 - all windows end together
        """Return when the window ends."""
        return self.ends

    def check(self) -> bool:
        """Tell that the memory is there."""
        return True

    def reset(self) -> int:
        """Forget all counts."""
        many = len(self._counts)
        self._counts.clear()
        return many

    def clear(self, key: str) -> None:
        """Forget one count."""
        self._counts.pop(key, None)
