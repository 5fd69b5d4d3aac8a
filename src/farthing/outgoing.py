"""Requests to addresses that callers choose: each is checked, and the checked one is used."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping
from time import monotonic
from typing import Any, Final

import httpcore2
import structlog
from msgspec import Struct

from farthing.core.addresses import Address, Target, is_allowed, read_address

# Returns every address of a name.
Resolver = Callable[[str, int], Awaitable[list[str]]]

TIMEOUT_SECONDS: Final = 15.0
KEPT_BYTES: Final = 1024
# An answer that is longer is not read to its end, which costs its connection.
_READ_BYTES: Final = 64 * 1024
_IDLE_SECONDS: Final = 30.0
_CONNECTIONS: Final = 16
_POOLS: Final = 512
_REDIRECTS: Final = range(300, 400)
_SUCCESSES: Final = range(200, 300)

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


class ForbiddenAddress(httpcore2.ConnectError):
    """A host has an address to which we do not go."""


class UnknownHost(httpcore2.ConnectError):
    """The name of a host has no address."""


class NotEncrypted(httpcore2.ConnectError):
    """An address begins with http where only https is allowed."""


async def resolve(host: str, port: int) -> list[str]:
    """Ask the system for every address of a name."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(one[4][0]) for one in found]


class CheckedNetwork(httpcore2.AsyncNetworkBackend):
    """Looks a name up once, checks every address of it, and connects to no other."""

    def __init__(self, *, private_ok: bool, resolver: Resolver = resolve) -> None:
        self._private_ok = private_ok
        self._resolver = resolver
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's own signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first address that answers."""
        addresses = await self._addresses(host, port)
        for address in addresses[:-1]:
            try:
                return await self._network.connect_tcp(
                    str(address), port, timeout, local_address, socket_options
                )
            except httpcore2.ConnectError:
                continue
        last = str(addresses[-1])
        return await self._network.connect_tcp(last, port, timeout, local_address, socket_options)

    async def _addresses(self, host: str, port: int) -> list[Address]:
        literal = read_address(host)
        try:
            texts = [] if literal is not None else await self._resolver(host, port)
        except (OSError, UnicodeError):
            raise UnknownHost("The name of the host has no address.") from None
        found = [literal] if literal is not None else [read_address(text) for text in texts]
        known = [one for one in dict.fromkeys(found) if one is not None]
        if not known or len(known) != len(set(found)):
            raise UnknownHost("The name of the host has no address.")
        if not all(is_allowed(one, private_ok=self._private_ok) for one in known):
            raise ForbiddenAddress("The host has an address to which nothing is sent.")
        return known


class Poster:
    """Sends requests over connections that stay open, each host with its own few."""

    def __init__(
        self,
        *,
        private_ok: bool,
        https_only: bool = False,
        resolver: Resolver = resolve,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._network = CheckedNetwork(private_ok=private_ok, resolver=resolver)
        self._https_only = https_only
        self._tls = tls or httpcore2.default_ssl_context()
        self._pools: dict[tuple[str, str, int], httpcore2.AsyncConnectionPool] = {}

    async def post(self, target: Target, headers: Mapping[str, str], body: bytes) -> Reply:
        """Send a body and say what became of it; nothing that goes wrong is raised."""
        began = monotonic()
        status, answer, error = None, b"", None
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                status, answer = await self._exchange(target, headers, body)
        except TimeoutError:
            error = f"No whole answer within {TIMEOUT_SECONDS:.0f} seconds."
        except (ForbiddenAddress, UnknownHost, NotEncrypted) as refused:
            error = str(refused)
        except httpcore2.ConnectError:
            error = "No connection to the host."
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException):
            error = "The connection broke, or what came was not HTTP."
        except Exception:
            # Whatever it is, it is this receiver's, and the others are not to suffer.
            log.exception("request_failed", host=target.host)
            error = "The request could not be sent."
        if status in _REDIRECTS:
            error = "Redirects are not followed."
        elapsed = round((monotonic() - began) * 1000)
        return Reply(status, _readable(answer), error, elapsed)

    async def close(self) -> None:
        """Close every connection."""
        pools = list(self._pools.values())
        self._pools.clear()
        for pool in pools:
            await pool.aclose()

    async def _exchange(
        self, target: Target, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, bytes]:
        if self._https_only and target.scheme != "https":
            raise NotEncrypted("Only https is allowed.")
        url = httpcore2.URL(
            scheme=target.scheme, host=target.host, port=target.port, target=target.path
        )
        named = [("Host", target.authority), ("Accept-Encoding", "identity"), *headers.items()]
        kept, size = b"", 0
        pool = self._pool(target)
        async with pool.stream("POST", url, headers=named, content=body) as response:
            async for part in response.aiter_stream():
                kept += part[: KEPT_BYTES - len(kept)]
                size += len(part)
                if size > _READ_BYTES:
                    break
        return response.status, kept

    def _pool(self, target: Target) -> httpcore2.AsyncConnectionPool:
        key = (target.scheme, target.host, target.port)
        pool = self._pools.pop(key, None)
        if pool is None:
            self._forget_idle_pools()
            pool = httpcore2.AsyncConnectionPool(
                ssl_context=self._tls,
                max_connections=None,
                max_keepalive_connections=_CONNECTIONS,
                keepalive_expiry=_IDLE_SECONDS,
                network_backend=self._network,
            )
        # At the end, so that the one that was not used for the longest time comes first.
        self._pools[key] = pool
        return pool

    def _forget_idle_pools(self) -> None:
        if len(self._pools) < _POOLS:
            return
        for key in [key for key, pool in self._pools.items() if not pool.connections]:
            del self._pools[key]


def _readable(answer: bytes) -> str:
    # The database keeps every character but this one.
    return answer.decode("utf-8", "replace").replace("\0", "\ufffd")
