"""UK modulus checking: some account numbers cannot exist under their sort code.

The tables are published and change; the operator supplies them. Without tables nothing is checked.
"""

from pathlib import Path
from typing import Self

from uk_modulus_check import SortCodeSubstitutionTable, UKModulusChecker, WeightTable

from farthing.config import Settings, SettingsError
from farthing.rails.base import BankVerdict, Destination


class ModulusCheck:
    """A verification step of rails that pay out in the United Kingdom."""

    def __init__(self, checker: UKModulusChecker | None) -> None:
        self._checker = checker

    @classmethod
    def load(cls, settings: Settings) -> Self:
        """Read the operator's tables, if there are any."""
        if not settings.modulus_weights_file:
            return cls(None)
        weights, substitutions = WeightTable(), SortCodeSubstitutionTable()
        try:
            weights.reload(_lines(settings.modulus_weights_file))
            if settings.modulus_substitutions_file:
                substitutions.reload(_lines(settings.modulus_substitutions_file))
        except (OSError, ValueError) as error:
            raise SettingsError(
                f"The tables for modulus checking cannot be read: {error}. Supply the files as "
                "they are published, or leave FARTHING_MODULUS_WEIGHTS_FILE empty."
            ) from None
        return cls(UKModulusChecker(weights, substitutions))

    def refusal(self, destination: Destination) -> BankVerdict | None:
        """Return the verdict on a number that cannot exist; None for all others."""
        if self._checker is None or destination.british is None:
            return None
        sort_code, account_number = destination.british
        result = self._checker.validate(int(sort_code), int(account_number or 0))
        if not result.known_sort_code or result.result:
            return None
        return BankVerdict("pending", "modulus_check_failed")


def _lines(file: str) -> list[str]:
    text = Path(file).read_text("ascii")
    return [line for line in text.splitlines() if line.strip()]
