"""Exit codes as data: the help, the guide and every command go by this table."""

from enum import IntEnum
from typing import Final


class Exit(IntEnum):
    """With what a command ends."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    REFUSED = 3
    NO_ACCESS = 4
    NOT_FOUND = 5
    CONFLICT = 6
    UNAVAILABLE = 7
    UNEXPECTED = 8
    INTERRUPTED = 130


EXITS: Final[dict[Exit, str]] = {
    Exit.DONE: "It was done.",
    Exit.FAILED: "It was not done: a setting, a file or the database is in the way.",
    Exit.USAGE: "The command or one of its options is wrong; nothing was sent.",
    Exit.REFUSED: "The service refused what was asked, such as a field that is wrong.",
    Exit.NO_ACCESS: "There is no key, or it may not do this.",
    Exit.NOT_FOUND: "There is no such object.",
    Exit.CONFLICT: "The state of the object, or too little money, does not allow this.",
    Exit.UNAVAILABLE: "No answer came, or the service is not well; try again later.",
    Exit.UNEXPECTED: "Something answered that is not as agreed.",
    Exit.INTERRUPTED: "Somebody pressed Ctrl-C.",
}


class Failure(Exception):
    """A command cannot go on; the sentence says why, and what to do next."""

    exit: Exit = Exit.FAILED

    def __init__(self, sentence: str, exit_code: Exit | None = None) -> None:
        super().__init__(sentence)
        if exit_code is not None:
            self.exit = exit_code
