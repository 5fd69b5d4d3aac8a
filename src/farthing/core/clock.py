"""Time: UTC, in whole milliseconds, so that what is stored is what is said."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """Return the time of this machine."""
    return whole(datetime.now(UTC))


def whole(moment: datetime) -> datetime:
    """Leave out what is finer than a millisecond."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def say_time(moment: datetime) -> str:
    """Write a moment as RFC 3339 with milliseconds and `Z`."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
