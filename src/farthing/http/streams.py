"""Streams: answers that go on until the caller leaves, falls too far behind, or we stop."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Any, Final, cast

import structlog
from starlette.types import Receive, Scope, Send

from farthing.db.pool import is_away

MEDIA_TYPE: Final = "text/event-stream"

# How long a caller may take nothing of what was sent, and how long to take leave may take.
DRAIN_SECONDS: Final = 10.0
_LEAVE_SECONDS: Final = 1.0

_HEADERS: Final = [
    (b"content-type", MEDIA_TYPE.encode()),
    (b"cache-control", b"no-store"),
    # A proxy that collects an answer before it passes it on would keep it for ever.
    (b"x-accel-buffering", b"no"),
]

log = structlog.get_logger()


class TooSlow(Exception):
    """A caller takes nothing of what is sent."""


class Streams:
    """The streams of this process, so that they can be ended."""

    def __init__(self) -> None:
        self._under_way: set[asyncio.Task[None]] = set()
        self._is_closed = False

    async def send(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        parts: AsyncIterator[bytes],
        revoked: Callable[[], Awaitable[None]],
    ) -> None:
        """Send a stream until it ends, the caller leaves, or its credential is worth nothing."""
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        sending = asyncio.create_task(_pass_on(parts, send))
        ends = {sending, *map(asyncio.ensure_future, (_left(receive), revoked()))}
        self._under_way.add(sending)
        if self._is_closed:
            sending.cancel()
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._under_way.discard(sending)
            for one in ends:
                one.cancel()
            await asyncio.gather(*ends, return_exceptions=True)
        error = None if sending.cancelled() else sending.exception()
        if error is not None:
            # What the caller has got so far is whole, so that it can go on from there.
            _tell(error)
        if not isinstance(error, TooSlow):
            with suppress(TimeoutError):
                async with asyncio.timeout(_LEAVE_SECONDS):
                    await send({"type": "http.response.body", "body": b"", "more_body": False})

    def close(self) -> None:
        """End every stream; whoever reads one can go on elsewhere."""
        self._is_closed = True
        for sending in self._under_way:
            sending.cancel()


async def _pass_on(parts: AsyncIterator[bytes], send: Send) -> None:
    async with aclosing(cast("Any", parts)):
        async for part in parts:
            try:
                async with asyncio.timeout(DRAIN_SECONDS):
                    await send({"type": "http.response.body", "body": part, "more_body": True})
            except TimeoutError:
                raise TooSlow from None


async def _left(receive: Receive) -> None:
    """Wait until the caller has left; what it sends meanwhile is of no interest."""
    message = await receive()
    while message["type"] != "http.disconnect":
        message = await receive()


def _tell(error: BaseException) -> None:
    if isinstance(error, TooSlow):
        log.info("stream_dropped")
    elif isinstance(error, Exception) and is_away(error):
        log.warning("database_away", error=repr(error))
    else:
        log.error("stream_broken", exc_info=error)
