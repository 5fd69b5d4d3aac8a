"""Literals: what is written in an expression, as a value."""

import math
import re
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import re2

from farthing.core.expressions.faults import Fault
from farthing.core.expressions.limits import MOST_HOURS, MOST_INT, MOST_MEMORY, MOST_PATTERN

_ESCAPE: Final = re.compile(
    r"\\(?:([abfnrtv\\?\"'`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})"
    r"|([0-3][0-7]{2})|)"
)
_PLAIN: Final = dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))
_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(h|ms|us|ns|m|s)")
_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})"
)
_UNITS: Final = {
    "h": Fraction(3600),
    "m": Fraction(60),
    "s": Fraction(1),
    "ms": Fraction(1, 10**3),
    "us": Fraction(1, 10**6),
    "ns": Fraction(1, 10**9),
}


def read_int(text: str, offset: int) -> int:
    """Read a whole number; one more than the greatest is for the minus before it to judge."""
    number = int(text, 16 if text.startswith("0x") else 10)
    if number > MOST_INT + 1:
        raise Fault("This number does not fit into 64 bits.", offset)
    return number


def read_double(text: str, offset: int) -> float:
    """Read a number with a fraction or an exponent."""
    number = float(text)
    if math.isinf(number):
        raise Fault("This number is too big for a double.", offset)
    return number


def read_string(text: str, offset: int) -> str:
    """Read a string in any of its forms."""
    raw = text[0] in "rR"
    quoted = text[raw:]
    width = 3 if len(quoted) >= 6 and quoted[:3] in {'"""', "'''"} else 1  # noqa: PLR2004 - twice three quotes
    inner = quoted[width:-width]
    if raw:
        return inner

    def replaced(found: re.Match[str]) -> str:
        sign, *codes = found.groups()
        if sign is not None:
            return _PLAIN.get(sign, sign)
        *hexadecimal, octal = codes
        code = next((int(one, 16) for one in hexadecimal if one), None)
        if code is None and octal is not None:
            code = int(octal, 8)
        if code is None or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:  # noqa: PLR2004 - Unicode's own borders
            raise Fault(
                "No such escape: write \\\\ for a backslash, or put r before the string.",
                offset + raw + width + found.start(),
            )
        return chr(code)

    return _ESCAPE.sub(replaced, inner)


def read_duration(text: str, offset: int) -> Fraction:
    """Read a duration such as `1h30m`, in seconds."""
    sign, unsigned = (-1, text[1:]) if text.startswith("-") else (1, text)
    parts = _PART.findall(unsigned)
    if not parts or "".join(number + unit for number, unit in parts) != unsigned:
        raise Fault(
            'A duration is numbers with units: "24h", "90m", "1h30m", "45s", "1.5s", "20ms".',
            offset,
        )
    seconds = sum((Fraction(number) * _UNITS[unit] for number, unit in parts), Fraction(0))
    if seconds > MOST_HOURS * 3600:
        raise Fault(f"A duration has {MOST_HOURS} hours at most.", offset)
    return sign * seconds


def read_timestamp(text: str, offset: int) -> datetime:
    """Read a time of RFC 3339."""
    try:
        if _TIME.fullmatch(text):
            return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise Fault('A timestamp is written "2026-01-31T12:00:00Z".', offset)


def read_pattern(text: str, offset: int) -> str:
    """Read a regular expression, and refuse what RE2 cannot compile."""
    if len(text) > MOST_PATTERN:
        raise Fault(f"A regular expression has {MOST_PATTERN} characters at most.", offset)
    try:
        compile_pattern(text)
    except re2.error:
        raise Fault("This is not a regular expression of RE2.", offset) from None
    return text


@lru_cache(maxsize=1_000)
def compile_pattern(pattern: str) -> Any:
    """Compile a regular expression within bounds; RE2 takes no longer than its text is long."""
    options = re2.Options()
    options.max_mem = MOST_MEMORY
    options.log_errors = False
    return re2.compile(pattern, options)
