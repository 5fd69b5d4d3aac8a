"""Requests to addresses that callers choose: each is checked, and the checked one is used.

A small client of our own over httptools, because it decides itself to which address it connects,
sends a request in one write, and does so a thousand times a second beside everything else.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Any, Final

import httptools
import structlog
from msgspec import Struct

from farthing.core.addresses import Address, Target, is_allowed, read_address

# Returns every address of a name.
Resolver = Callable[[str, int], Awaitable[list[str]]]
Origin = tuple[str, str, int]

TIMEOUT_SECONDS: Final = 15.0
KEPT_BYTES: Final = 1024
# An answer that is longer is not read to its end, which costs its connection.
_READ_BYTES: Final = 64 * 1024
# Shorter than the patience of common servers, so that we do not write to one that hangs up.
_IDLE_SECONDS: Final = 4.0
_REDIRECTS: Final = range(300, 400)
_SUCCESSES: Final = range(200, 300)
_INFORMATION: Final = range(100, 200)

log = structlog.get_logger()


class Reply(Struct, frozen=True):
    """What became of a request: the status and the first kilobyte, or why there is none."""

    status: int | None
    answer: str
    error: str | None
    milliseconds: int

    @property
    def succeeded(self) -> bool:
        """Tell whether the receiver took it."""
        return self.status in _SUCCESSES and self.error is None


class NotSent(Exception):
    """A request did not lead to an answer; the sentence says why."""


async def resolve(host: str, port: int) -> list[str]:
    """Ask the system for every address of a name."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(one[4][0]) for one in found]


class _Connection(asyncio.Protocol):
    """One connection, on which one request at a time is answered."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self._expiry: asyncio.TimerHandle | None = None
        self._begin()

    def _begin(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._kept, self._size = b"", 0
        self._has_length = self._has_headers = False

    @property
    def is_open(self) -> bool:
        """Tell whether another request can be sent."""
        return self._transport is not None and not self._transport.is_closing()

    async def exchange(self, request: bytes) -> tuple[int, bytes]:
        """Send a request, and return the status and the beginning of its answer."""
        if self._transport is None:
            raise NotSent("The connection broke.")
        if self._expiry is not None:
            self._expiry.cancel()
        self._begin()
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        try:
            return await self._answer
        except BaseException:
            self.close()
            raise
        finally:
            self._answer = None

    def rest(self) -> None:
        """Stay open for a moment, in case there is another request."""
        loop = asyncio.get_running_loop()
        self._expiry = loop.call_later(_IDLE_SECONDS, self.close)

    def close(self) -> None:
        """Hang up at once."""
        if self._transport is not None:
            self._transport.abort()

    def _end(self, *, keep: bool) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result((self._parser.get_status_code(), self._kept))
        if not keep:
            self.close()

    def _fail(self, sentence: str) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(NotSent(sentence))
        self.close()

    # What asyncio tells us.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way out."""
        self._transport = transport  # type: ignore[assignment]  # of a stream it is one

    def data_received(self, data: bytes) -> None:
        """Read what comes."""
        if self._answer is None or self._answer.done():
            # Nobody asked.
            self.close()
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._fail("What came was not HTTP.")

    def connection_lost(self, exc: Exception | None) -> None:
        """Take the end of the connection for the end of an answer that says no other."""
        self._transport = None
        if self._has_headers and not self._has_length and exc is None:
            self._end(keep=False)
        else:
            self._fail("The connection broke.")

    # What the parser tells us.

    def on_header(self, name: bytes, _: bytes) -> None:
        """Note whether an answer says where it ends."""
        self._has_length |= name.lower() in {b"content-length", b"transfer-encoding"}

    def on_headers_complete(self) -> None:
        """Note that the status is known."""
        self._has_headers = self._parser.get_status_code() not in _INFORMATION

    def on_body(self, body: bytes) -> None:
        """Keep the beginning, and stop where it becomes too much."""
        self._kept += body[: KEPT_BYTES - len(self._kept)]
        self._size += len(body)
        if self._size > _READ_BYTES:
            self._end(keep=False)

    def on_message_complete(self) -> None:
        """Hand the answer over, unless it only says that one will come."""
        if self._parser.get_status_code() not in _INFORMATION:
            self._end(keep=bool(self._parser.should_keep_alive()))


class Poster:
    """Sends requests over connections that stay open for a while."""

    def __init__(
        self,
        *,
        private_ok: bool,
        https_only: bool = False,
        resolver: Resolver = resolve,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._private_ok = private_ok
        self._https_only = https_only
        self._resolver = resolver
        self._tls = tls or ssl.create_default_context()
        self._idle: dict[Origin, list[_Connection]] = {}

    async def post(self, target: Target, headers: Mapping[str, str], body: bytes) -> Reply:
        """Send a body and say what became of it; nothing that goes wrong is raised."""
        began = monotonic()
        status, answer, error = None, b"", None
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                status, answer = await self._exchange(target, _written(target, headers, body))
        except TimeoutError:
            error = f"No whole answer within {TIMEOUT_SECONDS:.0f} seconds."
        except NotSent as reason:
            error = str(reason)
        except Exception:
            # Whatever it is, it is this receiver's, and the others are not to suffer.
            log.exception("request_failed", host=target.host)
            error = "The request could not be sent."
        if status in _REDIRECTS:
            error = "Redirects are not followed."
        elapsed = round((monotonic() - began) * 1000)
        return Reply(status, _readable(answer), error, elapsed)

    async def close(self) -> None:
        """Close every connection that is not in use."""
        for connections in self._idle.values():
            for connection in connections:
                connection.close()
        self._idle.clear()

    async def _exchange(self, target: Target, request: bytes) -> tuple[int, bytes]:
        if self._https_only and target.scheme != "https":
            raise NotSent("Only https is allowed.")
        origin = (target.scheme, target.host, target.port)
        connection = self._rested(origin) or await self._connect(target)
        answer = await connection.exchange(request)
        if connection.is_open:
            connection.rest()
            self._idle.setdefault(origin, []).append(connection)
        return answer

    def _rested(self, origin: Origin) -> _Connection | None:
        """Return the connection that was used last, if there is one that is still open."""
        waiting = self._idle.pop(origin, [])
        kept = [one for one in waiting if one.is_open]
        found = kept.pop() if kept else None
        if kept:
            self._idle[origin] = kept
        return found

    async def _connect(self, target: Target) -> _Connection:
        """Look a name up once, check every address of it, and connect to no other."""
        secure: dict[str, Any] = {}
        if target.scheme == "https":
            secure = {"ssl": self._tls, "server_hostname": target.host}
        loop = asyncio.get_running_loop()
        for address in await self._addresses(target):
            try:
                _, connection = await loop.create_connection(
                    _Connection, str(address), target.port, **secure
                )
            except (OSError, ssl.SSLError):
                continue
            return connection
        raise NotSent("No connection to the host.")

    async def _addresses(self, target: Target) -> list[Address]:
        literal = target.address
        try:
            texts = [] if literal else await self._resolver(target.host, target.port)
        except (OSError, UnicodeError):
            texts = []
        found = [literal] if literal else [read_address(text) for text in dict.fromkeys(texts)]
        known = [one for one in found if one is not None]
        if not known or len(known) != len(found):
            raise NotSent("The name of the host has no address.")
        if not all(is_allowed(one, private_ok=self._private_ok) for one in known):
            raise NotSent("The host has an address to which nothing is sent.")
        return known


def _written(target: Target, headers: Mapping[str, str], body: bytes) -> bytes:
    named = {
        "host": target.authority,
        "content-length": str(len(body)),
        "user-agent": "farthing",
        "accept-encoding": "identity",
        **headers,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"POST {target.path} HTTP/1.1\r\n{lines}\r\n".encode("ascii") + body


def _readable(answer: bytes) -> str:
    # The database keeps every character but this one.
    return answer.decode("utf-8", "replace").replace("\0", "\ufffd")
