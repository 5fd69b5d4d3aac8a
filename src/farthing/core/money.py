"""Money: integers in the smallest unit, never a float."""

from typing import Final

from iso4217 import Currency

AMOUNT_PATTERN: Final = "^(0|[1-9][0-9]{0,17})$"

# Funds codes and metals have no smallest unit and cannot be held.
CURRENCIES: Final = frozenset(
    currency.code for currency in Currency if currency.exponent is not None
)


def decimals(currency: str) -> int:
    """Return how many decimals the major unit of a currency has."""
    return Currency(currency).exponent or 0


def say_amount(amount: int) -> str:
    """Write an amount as it stands on the wire."""
    return str(amount)
