"""The reference on the wire: the document for programs, and the page for people."""

import asyncio
import base64
import functools
import hashlib
from collections.abc import Sequence
from importlib.resources import files

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from farthing.core.schemas import Schema
from farthing.http import openapi
from farthing.http.docs.page import render
from farthing.http.openapi.sections import Section
from farthing.http.pages import page


def routes(listed: Sequence[Section], server: Schema) -> list[BaseRoute]:
    """Make both when somebody first asks; they do not change while the service runs."""

    @functools.cache
    def written() -> tuple[Response, Response]:
        return _write(listed, server)

    # In a thread, because it takes a moment in which others want their answers.

    async def say_document(_: Request) -> Response:
        return (await asyncio.to_thread(written))[0]

    async def say_page(_: Request) -> Response:
        return (await asyncio.to_thread(written))[1]

    return [page("/openapi.json", say_document), page("/docs", say_page)]


def _write(listed: Sequence[Section], server: Schema) -> tuple[Response, Response]:
    document = openapi.describe(listed, server)
    style = files(__name__).joinpath("style.css").read_text("utf-8")
    data = Response(msgspec.json.encode(document), media_type="application/json")
    text = Response(render(document, listed, style), media_type="text/html")
    text.headers["Content-Security-Policy"] = _policy(style)
    text.headers["X-Content-Type-Options"] = "nosniff"
    text.headers["Referrer-Policy"] = "no-referrer"
    return data, text


def _policy(style: str) -> str:
    """Allow the page its own style and nothing else."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    parts = (
        "default-src 'none'",
        f"style-src 'sha256-{digest}'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
    return "; ".join(parts)
