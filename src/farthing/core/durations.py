"""Durations of ISO 8601, as far as they are the same everywhere."""

import re
from datetime import timedelta
from typing import Annotated, Final

from msgspec import Meta

# Days, hours, minutes and seconds are the same everywhere, and months and years are not.
_TIME: Final = "([0-9]{1,6}H([0-9]{1,8}M)?([0-9]{1,9}S)?|[0-9]{1,8}M([0-9]{1,9}S)?|[0-9]{1,9}S)"
DURATION_PATTERN: Final = f"^P([0-9]{{1,4}}W|[0-9]{{1,5}}D(T{_TIME})?|T{_TIME})$"
Duration = Annotated[
    str,
    Meta(
        pattern=DURATION_PATTERN,
        examples=["P3D"],
        extra={"expected": "a duration of ISO 8601 without years and months, such as P3D or PT1H"},
    ),
]

_PARTS: Final = re.compile(r"([0-9]+)([WDHMS])")
_UNITS: Final = {"W": "weeks", "D": "days", "H": "hours", "M": "minutes", "S": "seconds"}


def read_duration(text: str) -> timedelta:
    """Read a duration whose form was checked before."""
    return timedelta(**{_UNITS[unit]: int(count) for count, unit in _PARTS.findall(text)})


def say_duration(duration: timedelta) -> str:
    """Write a duration of ISO 8601, in days, hours, minutes and seconds."""
    minutes, seconds = divmod(duration.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    said = f"{seconds}.{duration.microseconds // 1000:03}".rstrip("0").rstrip(".")
    days = f"{duration.days}D" if duration.days else ""
    parts = ((hours, f"{hours}H"), (minutes, f"{minutes}M"), (said != "0", f"{said}S"))
    time = "".join(text for count, text in parts if count)
    return f"P{days}" + (f"T{time}" if time or not days else "") + ("" if time or days else "0S")
