"""What is wrong with an expression, and where."""

from collections.abc import Iterable
from difflib import get_close_matches


class BadExpression(Exception):
    """An expression that is refused: why, and the line and column, both from 1.

    The sentence repeats nothing that was sent, only words that the language or its names have.
    """

    def __init__(self, sentence: str, line: int, column: int) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.line = line
        self.column = column


class Fault(Exception):
    """The same while the expression is read, when its place is an offset into the source."""

    def __init__(self, sentence: str, offset: int) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.offset = offset

    def placed(self, source: str) -> BadExpression:
        """Give the fault its line and column."""
        before = source[: self.offset].replace("\r\n", "\n").replace("\r", "\n")
        line = before.count("\n") + 1
        return BadExpression(self.sentence, line, len(before) - before.rfind("\n"))


def choice(given: str, known: Iterable[str]) -> str:
    """Say what there is, and what was probably meant."""
    words = sorted(known)
    if not words:
        return "There is none."
    nearest = get_close_matches(given, words, n=1)
    meant = f"Did you mean {nearest[0]}? " if nearest else ""
    return f"{meant}There is: {', '.join(words)}."
