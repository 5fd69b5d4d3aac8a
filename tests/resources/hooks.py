"""A place where webhooks can be tried: a receiver on loopback, and a clock that is set by hand."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import httpx2
import msgspec
from tests.conftest import OnlyDeclaredProblems, make_tenant

from farthing.core.clock import system_clock, whole
from farthing.dispatch import Dispatcher
from farthing.http.app import build
from farthing.http.service import Service
from farthing.resources.webhooks.actions import Courier

if TYPE_CHECKING:
    from tests.conftest import Database, Tenant


@dataclass(frozen=True)
class Got:
    """A request as the receiver got it."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        decoded: dict[str, Any] = msgspec.json.decode(self.body)
        return decoded


Answer = Callable[[Got], Awaitable[tuple[int, bytes]]]


async def accept(_: Got) -> tuple[int, bytes]:
    return 204, b""


@dataclass
class Receiver:
    """An HTTP server that remembers what it got and answers as it is told, by path."""

    answers: dict[str, Answer] = field(default_factory=dict)
    got: list[Got] = field(default_factory=list)
    connections: int = 0
    port: int = 0
    _open: list[asyncio.StreamWriter] = field(default_factory=list)
    _came: asyncio.Event = field(default_factory=asyncio.Event)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def at(self, path: str) -> list[Got]:
        return [one for one in self.got if one.path == path]

    async def hang_up(self) -> None:
        """Close every connection."""
        for writer in self._open:
            writer.close()
        self._open.clear()

    async def wait_for(self, count: int) -> None:
        """Wait until so many requests have come."""
        while len(self.got) < count:
            self._came.clear()
            await self._came.wait()

    def says(self, path: str, status: int, body: bytes = b"") -> None:
        async def answer(_: Got) -> tuple[int, bytes]:
            return status, body

        self.answers[path] = answer

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._open.append(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                first, *lines = head.decode().strip().split("\r\n")
                pairs = (line.split(": ", 1) for line in lines)
                headers = {name.lower(): value for name, value in pairs}
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                got = Got(first.split(" ")[1], headers, body)
                self.got.append(got)
                self._came.set()
                status, answer = await self.answers.get(got.path, accept)(got)
                more = "location: /elsewhere\r\n" if 300 <= status < 400 else ""
                writer.write(
                    f"HTTP/1.1 {status} X\r\n{more}content-length: {len(answer)}\r\n\r\n".encode()
                    + answer
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def receiving(tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    receiver = Receiver()
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()


@dataclass
class Hands:
    """A clock that is set by hand."""

    now: datetime = field(default_factory=lambda: whole(system_clock()))

    def __call__(self) -> datetime:
        return self.now

    def advance(self, by: timedelta) -> None:
        self.now += by


@dataclass(frozen=True)
class World:
    """A service whose webhooks may be on loopback, with one tenant, a receiver and a worker."""

    service: Service
    tenant: "Tenant"
    clock: Hands
    receiver: Receiver
    dispatcher: Dispatcher

    async def call(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        answer = await self.tenant.call(method, path, body, token=self.tenant.key, **headers)
        assert answer.status_code < 300, answer.text
        return answer.json()

    async def refused(self, method: str, path: str, body: object = None) -> tuple[int, str]:
        answer = await self.tenant.call(method, path, body, token=self.tenant.key)
        return answer.status_code, answer.json()["code"]

    async def hook(self, path: str = "/hook", **fields: Any) -> dict[str, Any]:
        """Make a webhook at the receiver, for the events of customers."""
        body = {"url": self.receiver.url(path), "events": ["customer.*"], **fields}
        made: dict[str, Any] = await self.call("POST", "/v1/webhooks", body)
        return made

    async def customer(self, updates: int = 0) -> str:
        """Make a customer, which is an event, and update it, each time another."""
        made = (await self.call("POST", "/v1/customers", {"type": "INDIVIDUAL"}))["id"]
        for number in range(updates):
            await self.update(made, number)
        return str(made)

    async def update(self, customer: str, number: int) -> None:
        await self.call("PATCH", f"/v1/customers/{customer}", {"name": f"{number}"})

    async def deliver(self) -> None:
        """Let the worker send whatever is to be sent now."""
        await deliver(self.dispatcher)

    async def deliveries(self, hook: dict[str, Any], query: str = "") -> list[dict[str, Any]]:
        """Return the deliveries of a webhook, the oldest first."""
        page = await self.call("GET", f"/v1/webhooks/{hook['id']}/deliveries?limit=100{query}")
        return list(reversed(page["results"]))

    async def state(self, hook: dict[str, Any]) -> str:
        return str((await self.call("GET", f"/v1/webhooks/{hook['id']}"))["stateId"])

    def another_worker(self) -> Dispatcher:
        service = self.service
        return Dispatcher(service.pool, service.committer, service.parts[Courier])


async def deliver(dispatcher: Dispatcher) -> None:
    async with asyncio.timeout(30):
        while await dispatcher.dispatch():
            await dispatcher.idle()


@asynccontextmanager
async def world(database: "Database", **settings: Any) -> AsyncIterator[World]:
    """Open a world in a database of its own: a worker works for every tenant."""
    own = await database.create_current()
    clock = Hands()
    service = await Service.start(own.settings(webhook_private=True, **settings), clock)
    app = OnlyDeclaredProblems(build(service), service)
    transport = httpx2.ASGITransport(app=app)
    async with (
        receiving() as receiver,
        httpx2.AsyncClient(transport=transport, base_url="http://farthing.test") as client,
    ):
        tenant = await make_tenant(service, client)
        courier = service.parts[Courier]
        dispatcher = Dispatcher(service.pool, service.committer, courier)
        yield World(service, tenant, clock, receiver, dispatcher)
        await dispatcher.close()
        await service.stop()
