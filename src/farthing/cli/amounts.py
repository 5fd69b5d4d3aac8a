"""Amounts for people: `GBP 25.00` instead of 2500, wherever the currency is known."""

import re
from collections.abc import Mapping
from typing import Any, Final

from farthing.core.money import decimals

CURRENCY: Final = "currencyISO"
NAMES: Final = frozenset(
    {"amount", "balance", "openingBalance", "closingBalance", "completeBalance"}
    | {"availableBalance", "withheldBalance", "incompleteCredits", "incompleteDebits"}
    | {"disputedCredits", "disputedDebits"}
)
_WHOLE: Final = re.compile("-?[0-9]+")


def say(amount: str, currency: str | None) -> str:
    """Write an amount of the smallest unit with its currency; as it is where that is unknown."""
    if currency is None or not _WHOLE.fullmatch(amount):
        return amount
    places = decimals(currency)
    sign, digits = ("-", amount[1:]) if amount.startswith("-") else ("", amount)
    digits = digits.zfill(places + 1)
    whole, part = (digits[:-places], digits[-places:]) if places else (digits, "")
    return f"{currency} {sign}{int(whole):,}{'.' if part else ''}{part}"


def currency_in(value: Any) -> str | None:
    """Return the currency that an object names, itself or by an account that it shows."""
    if not isinstance(value, Mapping):
        return None
    accounts = value.get("accounts")
    shown = [value, *(accounts if isinstance(accounts, list) else [])]
    return next(
        (one[CURRENCY] for one in shown if isinstance(one, Mapping) and one.get(CURRENCY)), None
    )


def changes(entry: Mapping[str, Any], currency: str | None) -> str:
    """Tell what an entry of the ledger changes, by how much."""
    told = []
    for name, amount in entry.items():
        if name in NAMES:
            sign, digits = ("-", amount[1:]) if amount.startswith("-") else ("+", amount)
            told.append(f"{name} {sign}{say(digits, currency)}")
    return ", ".join(told)


def spelt(value: Any, currency: str | None = None) -> Any:
    """Return an answer with its amounts spelt out; what stands deeper has the same currency."""
    if isinstance(value, list):
        return [spelt(one, currency) for one in value]
    if not isinstance(value, Mapping):
        return value
    own = currency_in(value) or currency
    if "effect" in value and "balance" not in value:
        # An entry has few of the many counters, and none of them can be left out.
        kept = {name: one for name, one in value.items() if name not in NAMES}
        return {**kept, "changes": changes(value, own)}
    return {
        name: say(one, own) if name in NAMES and isinstance(one, str) else spelt(one, own)
        for name, one in value.items()
    }
