"""Reading a collection from its beginning to its end."""

from dataclasses import replace
from typing import Any, Final

from farthing.client._asks import Ask
from farthing.client._session import Session
from farthing.client._steps import Flow, Found

_LARGEST_PAGE: Final = 100


def pages(session: Session, ask: Ask, kind: type[Any], limit: int | None) -> Flow[None]:
    """Find the pages one after the other, with no more results altogether than the limit."""
    if limit is not None and limit < 1:
        raise ValueError("The limit must be 1 at least.")
    left = limit
    cursor = ask.query.get("cursor")
    while True:
        size = _LARGEST_PAGE if left is None else min(left, _LARGEST_PAGE)
        query = {**ask.query, "limit": size, "cursor": cursor}
        page = yield from session.answer(replace(ask, query=query), kind)
        yield Found(page)
        cursor = page.next_cursor
        left = None if left is None else left - len(page.results)
        # The log of events has a next cursor also where it ends for now.
        if left == 0 or not getattr(page, "has_more", cursor is not None):
            return
