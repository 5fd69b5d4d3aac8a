"""Addresses outside of the API: health, metrics, documentation."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from farthing.core.errors import MethodNotAllowed


@dataclass(frozen=True)
class Page:
    """One address that only answers GET; anything else is a problem like everywhere."""

    answer: Callable[[Request], Awaitable[Response]]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["method"] not in {"GET", "HEAD"}:
            scope["state"]["headers"] = {"Allow": "GET"}
            raise MethodNotAllowed("This address takes GET.")
        response = await self.answer(Request(scope, receive))
        await response(scope, receive, send)


def page(path: str, answer: Callable[[Request], Awaitable[Response]]) -> Route:
    """Make the route of one page."""
    return Route(path, Page(answer))
