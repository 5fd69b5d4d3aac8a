"""The page of the quick start, as what can be run."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "quick-start.md"
LANGUAGES = ("sh", "python", "typescript")

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(text: str) -> list[tuple[str, str]]:
    """Return the blocks of a text in their order, each with its language."""
    return _BLOCK.findall(text)


def script(language: str) -> str:
    """Return everything that the page says in one language."""
    found = blocks(PAGE.read_text("utf-8"))
    return "\n".join(text for name, text in found if name == language)


def expected() -> str:
    """Return what the page promises that each language prints."""
    return "".join(text for name, text in blocks(PAGE.read_text("utf-8")) if name == "text")


def commands() -> list[str]:
    """Return what is typed before anything can run in TypeScript."""
    return [line.removeprefix("$ ") for line in script("console").splitlines()]
