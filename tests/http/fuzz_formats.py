"""Texts of the formats that the document names, each a right one."""

from datetime import datetime
from typing import Final

import schemathesis
from hypothesis import strategies
from hypothesis.strategies import SearchStrategy
from stdnum import iban, luhn

# VISA has 13, 16 or 19 digits; MASTERCARD has 16. The last one is computed.
_NUMBERS: Final = (
    "4([0-9]{11}|[0-9]{14}|[0-9]{17})",
    "(5[1-5][0-9]{2}|222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{11}",
)
_TEN_YEARS: Final = 120


def register(now: datetime) -> None:
    """Teach Schemathesis the formats, as they are at this time."""
    schemathesis.openapi.format("card-number", _card_numbers())
    schemathesis.openapi.format("card-expiry", _expiries(now))
    schemathesis.openapi.format("iban", _ibans())
    schemathesis.openapi.format("bic", _texts("[A-Z]{4}GB[A-Z0-9]{2}([A-Z0-9]{3})?"))


def _card_numbers() -> SearchStrategy[str]:
    digits = strategies.one_of([_texts(pattern) for pattern in _NUMBERS])
    return digits.map(lambda number: number + luhn.calc_check_digit(number))


def _expiries(now: datetime) -> SearchStrategy[str]:
    """Return months from this one on."""
    this_month = now.year * 12 + now.month - 1
    months = strategies.integers(this_month, this_month + _TEN_YEARS)
    return months.map(lambda month: f"{month % 12 + 1:02}{month // 12 % 100:02}")


def _ibans() -> SearchStrategy[str]:
    """Return British ones, because every bank account of the sandbox is British."""
    accounts = _texts("[A-Z]{4}[0-9]{14}")
    return accounts.map(lambda bban: f"GB{iban.calc_check_digits(f'GB00{bban}')}{bban}")


def _texts(pattern: str) -> SearchStrategy[str]:
    return strategies.from_regex(pattern, fullmatch=True)
