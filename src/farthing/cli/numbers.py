"""Card numbers, which never stand in a command: from a file, the environment, a prompt, a name."""

import os
import sys
from collections.abc import Iterable
from getpass import getpass
from pathlib import Path
from typing import Any, Final

from farthing.cli.exits import Exit, Failure
from farthing.cli.options import kebab
from farthing.cli.table import Field

# The sandbox's own numbers, by what becomes of them.
TEST_CARDS: Final[dict[str, str]] = {
    "visa": "4242424242424242",
    "mastercard": "5555555555554444",
    "mastercard-2": "2223003122003222",
    "visa-debit": "4000056655665556",
    "mastercard-debit": "5200828282828210",
    "asks-first": "4000002500003155",
    "asks-always": "4000002760003184",
    "declined": "4000000000000002",
    "no-funds": "4000000000009995",
    "unknown": "4000000000000119",
    "disputed": "4000000000000259",
    "no-refund": "4000000000005126",
    "fails": "4000000000000341",
}
# What a test card also has, unless the command says otherwise.
_REST: Final = {"expiry": "1230", "cvv": "123"}


def file_option(field: Field) -> str:
    """Return the option that names a file with this secret."""
    return f"--{kebab(field.place[-1])}-file"


def variable(field: Field) -> str:
    """Return the variable of the environment that may hold this secret."""
    return "FARTHING_" + kebab(field.place[-1]).replace("-", "_").upper()


def with_test_card(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return a body with the number of a test card in it."""
    return {**_REST, **given, "cardNumber": TEST_CARDS[name]}


def collect(fields: Iterable[Field], files: dict[str, Path | None]) -> dict[str, str]:
    """Return the secrets by their fields; whatever no file and no variable has is asked for."""
    return {one.place[-1]: _secret(one, files.get(one.place[-1])) for one in fields}


def _secret(field: Field, file: Path | None) -> str:
    if file is not None:
        return _read(file)
    found = os.environ.get(variable(field))
    if found:
        return found.strip()
    spoken = kebab(field.place[-1]).replace("-", " ")
    if sys.stdin.isatty():
        return getpass(f"The {spoken} (it is not shown): ").strip()
    raise Failure(
        f"The {spoken} is missing. Give it in a file with {file_option(field)} (- is standard "
        f"input) or in {variable(field)}; in a sandbox, --test-card visa has one.",
        Exit.USAGE,
    )


def _read(file: Path) -> str:
    """Read one line, so that standard input can hold several secrets in their order."""
    try:
        if str(file) == "-":
            return sys.stdin.readline().strip()
        return file.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise Failure(
            f"The file {file} cannot be read. Name one that holds the number and nothing else.",
            Exit.USAGE,
        ) from None
