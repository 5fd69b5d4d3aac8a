"""HTML that cannot be forged: every text is escaped unless it is markup that was made here."""

import html
import re
from collections.abc import Iterable
from typing import Final

_INLINE: Final = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*")
_EMPTY: Final = frozenset({"br", "input", "meta"})


class Html(str):
    """Markup that was made here, so that it is not escaped again."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str) -> Html:
    """Make an element; a trailing underscore and inner ones in attribute names are for Python."""
    opening = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"'
        for key, value in attributes.items()
    )
    if name in _EMPTY:
        return Html(f"<{name}{opening}>")
    return Html(f"<{name}{opening}>{join(children)}</{name}>")


def join(children: Iterable[str]) -> Html:
    """Put pieces one after the other."""
    return Html("".join(one if isinstance(one, Html) else html.escape(one) for one in children))


def prose(text: str) -> Html:
    """Render paragraphs that have only `code` and **bold** in them."""
    return join(element("p", inline(part)) for part in text.strip().split("\n\n"))


def inline(text: str) -> Html:
    """Render the `code` and the **bold** of one paragraph."""
    pieces: list[str] = []
    end = 0
    for found in _INLINE.finditer(text):
        pieces.append(text[end : found.start()])
        code, bold = found.groups()
        pieces.append(element("code", code) if code else element("strong", bold))
        end = found.end()
    return join([*pieces, text[end:]])


def table(headings: Iterable[str], rows: Iterable[Iterable[str]], **attributes: str) -> Html:
    """Make a table that scrolls by itself when it is wider than the page."""
    head = element("tr", *(element("th", one, scope="col") for one in headings))
    body = [element("tr", *(element("td", cell) for cell in row)) for row in rows]
    whole = element("table", element("thead", head), element("tbody", *body), **attributes)
    return element("div", whole, class_="scroll", tabindex="0")
