"""Texts that must not stand in a body, and names that nobody knows."""

import string
from typing import Final

# Nothing that the service says by itself has these in it.
MARK: Final = "zqx-unrepeatable-zqx"
NUMBER: Final = 8231947155

# A text that nearly fills a body, and one that no body can hold.
NEARLY_TOO_MUCH: Final = 60_000
FAR_TOO_MUCH: Final = 1_000_000

DIGITS_ELSEWHERE: Final = {
    "Arabic-Indic": "٠١٢٣٤٥٦٧٨٩",
    "full-width": "０１２３４５６７８９",  # noqa: RUF001 - they are meant to look alike
    "Bengali": "০১২৩৪৫৬৭৮৯",
    "mathematical": "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗",  # noqa: RUF001 - they too
}
WIDE_LETTERS: Final = {ord(one): ord(one) + 0xFEE0 for one in string.ascii_letters}

UNFIT: Final = {
    "a zero character": f"{MARK}\0",
    "a control character": f"{MARK}\a",
    "a newline": f"{MARK}\n{MARK}",
    "a tabulator": f"{MARK}\t{MARK}",
    "a delete character": f"{MARK}\x7f",
    "a control character of Latin-1": f"{MARK}\x85",
    "a high surrogate without its low one": f"{MARK}\ud83d",
    "a low surrogate without its high one": f"\ude00{MARK}",
    "surrogates in the wrong order": f"{MARK}\ude00\ud83d",
}
# A text may have them that is written in lines.
LINES: Final = {"a newline", "a tabulator"}

# Names that nobody knows, and how a pointer says them: what it cannot say is replaced.
BAD_NAMES: Final = {
    "unheardOf": "/unheardOf",
    "": "/",
    "a/b~c": "/a~1b~0c",
    "a\0b": "/a\ufffdb",
    "a\nb": "/a\ufffdb",
    "__class__": "/__class__",
    "x" * NEARLY_TOO_MUCH: "/" + "x" * 100,
}
# Names that no annotation can have, how a pointer says them, and what is wrong.
BAD_LABELS: Final = {
    "": ("/", "too_short"),
    "k" * 101: ("/" + "k" * 100, "too_long"),
    "k" * NEARLY_TOO_MUCH: ("/" + "k" * 100, "too_long"),
    "a\0b": ("/a\ufffdb", "invalid_characters"),
    "a\nb": ("/a\ufffdb", "invalid_characters"),
    "a\x85b": ("/a\ufffdb", "invalid_characters"),
}
# Names that cannot be said again in UTF-8.
UNSPEAKABLE: Final = ("\ud800", "a\ud83d", "\ude00\ud83d")
