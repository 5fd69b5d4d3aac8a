"""A receiver of webhooks that notes how late each event comes: `python -m bench.receiver`.

It says its two ports in a line as JSON: at the first it takes everything, at the second it takes
the connection and never answers. After a line on its input it tells what has come since the last.
"""

import asyncio
import sys
from datetime import UTC, datetime
from typing import Final

import msgspec
import uvloop
from bench.measurement import percentile
from msgspec import Struct

_HOST: Final = "127.0.0.1"
_ANSWER: Final = b"HTTP/1.1 204 No Content\r\n\r\n"
_HEAD_END: Final = b"\r\n\r\n"
_LENGTH: Final = b"content-length: "
_BORN: Final = b'"createdAt":"'
_BORN_SIZE: Final = len("2026-01-01T00:00:00.000Z")


class Ports(Struct, frozen=True):
    """Where it listens."""

    quick: int
    dead: int


class Tally(Struct, frozen=True):
    """What has come, and how long after it was committed; times are in milliseconds."""

    received: int
    distinct: int
    p50: float
    p99: float


class _Receiver:
    def __init__(self) -> None:
        self._lags: list[float] = []
        self._seen: set[bytes] = set()

    def note(self, head: bytes, body: bytes) -> None:
        """Note one event: its identifier, and its time, which comes before the object in it."""
        place = body.index(_BORN) + len(_BORN)
        born = datetime.fromisoformat(body[place : place + _BORN_SIZE].decode())
        self._lags.append((datetime.now(UTC) - born).total_seconds() * 1000)
        self._seen.add(_field(head, b"webhook-id: "))

    def tell(self) -> Tally:
        """Return what has come since this was last asked."""
        lags, self._lags = self._lags, []
        seen, self._seen = self._seen, set()
        return Tally(len(lags), len(seen), percentile(lags, 0.50), percentile(lags, 0.99))


class _Quick(asyncio.Protocol):
    def __init__(self, receiver: _Receiver) -> None:
        self._receiver = receiver
        self._waiting = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._waiting += data
        head, end, rest = self._waiting.partition(_HEAD_END)
        if not end or len(rest) < (size := int(_field(head, _LENGTH))):
            return
        self._receiver.note(head, rest[:size])
        self._waiting = rest[size:]
        self._transport.write(_ANSWER)  # type: ignore[attr-defined]  # of a stream it can


def _field(head: bytes, name: bytes) -> bytes:
    return head.partition(name)[2].partition(b"\r\n")[0]


async def _serve() -> None:
    loop, receiver = asyncio.get_running_loop(), _Receiver()
    quick = await loop.create_server(lambda: _Quick(receiver), _HOST, 0)
    dead = await loop.create_server(asyncio.Protocol, _HOST, 0)
    _say(Ports(*(one.sockets[0].getsockname()[1] for one in (quick, dead))))
    while await loop.run_in_executor(None, sys.stdin.readline):
        _say(receiver.tell())


def _say(what: Struct) -> None:
    print(msgspec.json.encode(what).decode(), flush=True)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve())
