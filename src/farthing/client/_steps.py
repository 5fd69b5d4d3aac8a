"""The steps that a flow asks for, and what comes of them.

A flow is a generator that decides and does nothing itself: it yields steps, and whoever runs it,
waiting or awaiting, sends back what came of them. So both clients are one.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import msgspec

from farthing.client import _failures
from farthing.client._asks import Ask
from farthing.client._retries import read_retry_after

T = TypeVar("T")

_GOOD: Final = range(200, 300)
_CONFLICT: Final = 409
# 502 and 504 are how a gateway says that its connection broke.
_PASSING: Final = frozenset({429, 502, 503, 504})


@dataclass(frozen=True)
class Send:
    """Send a request and wait for the answer; of a stream, for its beginning only."""

    ask: Ask
    headers: Mapping[str, str] = field(repr=False)
    is_stream: bool = False


@dataclass(frozen=True)
class Take:
    """Take what comes next of the stream that is open."""


@dataclass(frozen=True)
class Pause:
    """Wait so many seconds."""

    seconds: float


@dataclass(frozen=True)
class Found:
    """Hand this to whoever reads the stream."""

    value: Any


@dataclass(frozen=True)
class Reply:
    """An answer."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    content: bytes = field(repr=False)

    @property
    def is_good(self) -> bool:
        """Tell whether it is what was asked for."""
        return self.status in _GOOD

    @property
    def problem(self) -> _failures.Problem | None:
        """The problem that it tells; None if it tells something else."""
        try:
            return msgspec.json.decode(self.content, type=_failures.Problem)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return None

    @property
    def is_passing(self) -> bool:
        """Tell whether the same request can have another answer in a moment."""
        return self.status in _PASSING or self.is_in_progress

    @property
    def is_in_progress(self) -> bool:
        """Tell whether the first request with the same key still runs."""
        if self.status != _CONFLICT:
            return False
        problem = self.problem
        return problem is not None and problem.code == "idempotency_in_progress"

    @property
    def retry_after(self) -> float:
        """How many seconds to wait before the next attempt, as the service wishes."""
        return read_retry_after(self.headers.get("retry-after"))

    def failure(self) -> _failures.FarthingError:
        """Return the exception for an answer that is not good."""
        problem, elsewhere = self.problem, self.headers.get("location")
        if problem is not None:
            return _failures.of(problem)
        more = f"leads to {elsewhere}" if elsewhere else "tells no problem"
        return _failures.UnexpectedAnswer(f"The answer has status {self.status}, and {more}.")


@dataclass(frozen=True)
class Broken:
    """No answer, or none that is whole."""

    why: str
    retry_after: float = 0.0

    @property
    def is_good(self) -> bool:
        """It is not."""
        return False

    @property
    def is_passing(self) -> bool:
        """Every request can be repeated: a write has its key."""
        return True

    def failure(self) -> _failures.FarthingError:
        """Return the exception."""
        return _failures.ConnectionFailed(f"No answer came: {self.why}.")


Step = Send | Take | Pause | Found
# What a step brings: an answer, a part of a stream, or nothing.
Outcome = Reply | Broken | bytes | None
Flow = Generator[Step, Outcome, T]


def send(step: Send) -> Flow[Reply | Broken]:
    """Send a request."""
    outcome = yield step
    if not isinstance(outcome, Reply | Broken):
        raise TypeError("a request brings an answer")
    return outcome
