"""Time: UTC, in whole milliseconds, so that what is stored is what is said."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]

_said: tuple[datetime | None, str] = (None, "")


def system_clock() -> datetime:
    """Return the time of this machine."""
    return whole(datetime.now(UTC))


def whole(moment: datetime) -> datetime:
    """Leave out what is finer than a millisecond."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def say_time(moment: datetime) -> str:
    """Write a moment as RFC 3339 with milliseconds and `Z`."""
    global _said  # noqa: PLW0603 - everything in one batch happens at one moment, said many times
    known, text = _said
    if known is not moment:
        text = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        _said = (moment, text)
    return text
