"""The stream of events: over a real server, with readers who come back, dawdle and leave."""

import asyncio
import functools
import json
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import pytest_asyncio
import uvicorn
from tests.db.test_committer import adding, context
from tests.events import follow_to_the_end

from farthing.cli.serving import Server
from farthing.core.ids import new_id, take
from farthing.http import streams
from farthing.http.app import build
from farthing.http.service import Service
from farthing.resources.events import actions, model, store
from farthing.resources.events.actions import Feeds

if TYPE_CHECKING:
    from tests.conftest import Database, Tenant

PATIENCE = 20.0
NOBODY = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
GRACE = 5


@dataclass(frozen=True)
class Running:
    """A service behind a port."""

    service: Service
    server: Server
    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1/events/stream"


@contextmanager
def listening(port: int = 0) -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", port)) as listener:
        # Small, so that a reader who dawdles is noticed before megabytes are under way.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        yield listener


@asynccontextmanager
async def serving(database: "Database", port: int = 0) -> AsyncIterator[Running]:
    """Run a server of its own, as another process would."""
    service = await Service.start(database.settings())
    config = uvicorn.Config(
        build(service), log_config=None, lifespan="on", ws="none", timeout_graceful_shutdown=GRACE
    )
    server = Server(config, service)
    with listening(port) as listener:
        running = asyncio.create_task(server.serve([listener]))
        try:
            yield Running(service, server, listener.getsockname()[1])
        finally:
            server.should_exit = True
            await running


@pytest_asyncio.fixture
async def running(database: "Database") -> AsyncIterator[Running]:
    async with serving(database) as found:
        yield found


@dataclass
class Block:
    """One block of a stream, by the names of its fields; a comment has the name ''."""

    fields: dict[str, str] = field(default_factory=dict)

    @property
    def event(self) -> Any:
        return json.loads(self.fields["data"])


class Reader:
    """Reads a stream block by block."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response
        self._lines = response.aiter_lines()

    async def block(self) -> Block:
        """Return the next block."""
        found: dict[str, str] = {}
        async with asyncio.timeout(PATIENCE):
            async for line in self._lines:
                if not line:
                    return Block(found)
                name, _, value = line.partition(":")
                found[name] = value.removeprefix(" ")
        raise EOFError

    async def events(self, count: int) -> list[Any]:
        """Return so many events; whatever else is said is passed over."""
        found: list[Any] = []
        while len(found) < count:
            block = await self.block()
            if "data" in block.fields:
                event = block.event
                assert block.fields["id"] == event["id"]
                assert block.fields["event"] == event["type"]
                found.append(event)
        return found


@asynccontextmanager
async def reading(
    running: Running, tenant: "Tenant", *, token: str | None = None, query: str = "", **headers: str
) -> AsyncIterator[Reader]:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    sent["X-Token"] = token or tenant.key
    async with httpx2.AsyncClient(timeout=PATIENCE) as client:
        address = f"{running.address}{query}"
        async with client.stream("GET", address, headers=sent) as response:
            yield Reader(response)


async def write(service: Service, tenant: "Tenant", count: int = 1, **fields: Any) -> None:
    """Let something happen, which writes an event each."""
    for _ in range(count):
        await service.committer.submit(context(tenant.id), adding(new_id(), **fields))


def nobody_reads(service: Service) -> bool:
    return not service.streams._under_way and not service.parts[Feeds]._open  # noqa: SLF001 - who is there


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - what is waited for says nothing by itself
            await asyncio.sleep(0.02)


async def test_a_stream_tells_what_happens_in_this_process_and_in_others(
    running: Running, tenant: "Tenant", service: Service
) -> None:
    await write(service, tenant, 3)
    async with reading(running, tenant) as reader:
        assert reader.response.status_code == 200
        assert reader.response.headers["content-type"] == "text/event-stream"
        assert reader.response.headers["cache-control"] == "no-store"
        begin = await reader.block()
        assert begin.fields.keys() == {"retry", "id"}
        await write(running.service, tenant)
        seen = await reader.events(1)
        await write(service, tenant, 2)
        seen += await reader.events(2)
    assert seen == (await follow_to_the_end(tenant))[4:]
    assert begin.fields["id"] == (await follow_to_the_end(tenant))[3]["id"]


async def test_a_commit_of_this_process_is_told_at_once(
    running: Running, tenant: "Tenant", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farthing.db.bell.LOOK_SECONDS", 3600)
    async with reading(running, tenant) as reader:
        await reader.block()
        for _ in range(5):
            await write(running.service, tenant)
            async with asyncio.timeout(2):
                await reader.events(1)


async def test_a_reader_who_comes_back_misses_nothing_and_gets_nothing_twice(
    running: Running, tenant: "Tenant", service: Service
) -> None:
    await write(service, tenant, 5)
    log = await follow_to_the_end(tenant)
    async with reading(running, tenant, Last_Event_ID=log[2]["id"]) as reader:
        assert await reader.events(3) == log[3:]
    page = (await tenant.call("GET", "/v1/events?limit=4")).json()
    async with reading(running, tenant, query=f"?after={page['nextCursor']}") as reader:
        assert await reader.events(2) == log[4:]
    # What a reader saw last counts more than where it once began.
    query = f"?after={page['nextCursor']}"
    async with reading(running, tenant, query=query, Last_Event_ID=log[4]["id"]) as reader:
        assert await reader.events(1) == log[5:]


async def test_a_reader_who_was_told_nothing_yet_can_come_back_too(
    running: Running, tenant: "Tenant", service: Service
) -> None:
    async with reading(running, tenant) as reader:
        begin = (await reader.block()).fields["id"]
    await write(service, tenant, 2)
    async with reading(running, tenant, Last_Event_ID=begin) as reader:
        assert await reader.events(2) == (await follow_to_the_end(tenant))[1:]


async def test_a_stream_survives_restarts_without_a_gap_or_a_repeat(
    database: "Database", tenant: "Tenant", service: Service
) -> None:
    with listening() as probe:
        port = probe.getsockname()[1]
    seen: list[Any] = []
    (first,) = await follow_to_the_end(tenant)
    last = {"Last_Event_ID": first["id"]}

    def has_seen(count: int) -> bool:
        return len(seen) >= count

    async def follow(running: Running) -> None:
        """Read until the server goes away, as a browser does."""
        async with reading(running, tenant, **last) as reader:
            while True:
                block = await reader.block()
                last["Last_Event_ID"] = block.fields.get("id", last["Last_Event_ID"])
                if "data" in block.fields:
                    seen.append(block.event)

    async def write_slowly() -> None:
        for _ in range(150):
            await write(service, tenant, 2)
            await asyncio.sleep(0.02)

    writing = asyncio.create_task(write_slowly())
    async with asyncio.timeout(60):
        for count in range(50, 301, 50):
            async with serving(database, port) as running:
                following = asyncio.create_task(follow(running))
                await until(functools.partial(has_seen, count))
            with pytest.raises((EOFError, httpx2.TransportError)):
                await following
        await writing
    assert seen == (await follow_to_the_end(tenant, limit="100"))[1:]
    assert len(seen) == 300


async def test_streams_end_at_once_when_the_server_stops(
    database: "Database", tenant: "Tenant"
) -> None:
    async with serving(database) as running, reading(running, tenant) as reader:
        await reader.block()
        running.server.should_exit = True
        stopped = time.monotonic()
        with pytest.raises(EOFError):
            await reader.block()
        assert time.monotonic() - stopped < GRACE / 2
    assert time.monotonic() - stopped < GRACE / 2
    assert nobody_reads(running.service)


async def test_only_events_of_the_wanted_types_are_told(
    running: Running, tenant: "Tenant", service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "HEARTBEAT_SECONDS", 0.2)
    async with reading(running, tenant, query="?type=account.*") as reader:
        begin = await reader.block()
        await write(service, tenant, 2)
        # How far the log was looked through is told all the same, for when the reader comes back.
        place = await reader.block()
        while place.fields.keys() != {"id"}:
            place = await reader.block()
        assert place.fields["id"] != begin.fields["id"]
        account = await tenant.new_account(await tenant.new_customer())
        (event,) = await reader.events(1)
        assert (event["type"], event["objectId"]) == ("account.created", account)


async def test_a_stream_with_nothing_to_tell_gives_a_sign_of_life(
    running: Running, tenant: "Tenant", monkeypatch: pytest.MonkeyPatch
) -> None:
    assert actions.HEARTBEAT_SECONDS == 15
    monkeypatch.setattr(actions, "HEARTBEAT_SECONDS", 0.1)
    async with reading(running, tenant) as reader:
        await reader.block()
        for _ in range(3):
            assert (await reader.block()).fields == {"": "still here"}


async def test_a_reader_who_takes_nothing_is_dropped_and_can_come_back(
    running: Running, tenant: "Tenant", service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert streams.DRAIN_SECONDS == 10
    monkeypatch.setattr(streams, "DRAIN_SECONDS", 0.5)
    await write(service, tenant, 60, annotations={f"{n}": "x" * 500 for n in range(50)})
    log = await follow_to_the_end(tenant, limit="100")
    begin = f"event/{model.identify(tenant.id, 0)}"
    with socket.socket() as dawdler:
        dawdler.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        dawdler.connect(("127.0.0.1", running.port))
        request = f"GET /v1/events/stream HTTP/1.1\r\nHost: a\r\nX-Token: {tenant.key}\r\n"
        dawdler.sendall(f"{request}Last-Event-ID: {begin}\r\n\r\n".encode())
        await until(lambda: not nobody_reads(running.service))
        # Another reader of the same log is not held up.
        async with reading(running, tenant, Last_Event_ID=begin) as reader:
            assert await reader.events(len(log)) == log
        await until(lambda: nobody_reads(running.service))
        got = await asyncio.to_thread(_drain, dawdler)
    whole = [line[4:] for line in got.split("\n\n")[:-1] for line in line.split("\n")[:1]]
    assert 0 < len(whole) < len(log)
    last = next(one for one in reversed(whole) if one.startswith("event/"))
    position = model.position_of(tenant.id, take(last))
    assert position is not None
    async with reading(running, tenant, Last_Event_ID=last) as reader:
        assert await reader.events(len(log) - position) == log[position:]


def _drain(dawdler: socket.socket) -> str:
    """Take everything that was sent, without the lines that the chunks begin with."""
    dawdler.settimeout(PATIENCE)
    got = b""
    while more := dawdler.recv(65536):
        got += more
    _, _, body = got.partition(b"\r\n\r\n")
    lines = body.split(b"\r\n")
    return b"".join(lines[1::2]).decode()


async def test_a_reader_who_leaves_leaves_nothing_behind(
    running: Running, tenant: "Tenant"
) -> None:
    for _ in range(3):
        async with reading(running, tenant) as reader:
            await reader.block()
            assert not nobody_reads(running.service)
        await until(lambda: nobody_reads(running.service))


async def test_many_readers_of_one_log_ask_the_database_once(
    running: Running, tenant: "Tenant", service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0
    fetch_after = store.fetch_after

    async def count(*given: Any) -> Any:
        nonlocal asked
        asked += 1
        return await fetch_after(*given)

    monkeypatch.setattr(store, "fetch_after", count)

    async def read(ready: asyncio.Semaphore) -> list[Any]:
        async with reading(running, tenant) as reader:
            await reader.block()
            ready.release()
            return await reader.events(10)

    ready = asyncio.Semaphore(0)
    readers = [asyncio.create_task(read(ready)) for _ in range(20)]
    for _ in readers:
        await ready.acquire()
    await asyncio.sleep(1)
    asked = 0
    await write(service, tenant, 10)
    logs = await asyncio.gather(*readers)
    assert all(one == logs[0] for one in logs)
    # Once for each ring: the bell rings at most twice a second for other processes.
    assert 0 < asked <= 10


async def test_what_is_not_remembered_any_more_is_read_again(
    running: Running, tenant: "Tenant", service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "_MOST_BYTES", 1000)
    monkeypatch.setattr(actions, "_AT_ONCE", 7)
    async with reading(running, tenant) as reader:
        await reader.block()
        await write(service, tenant, 50)
        assert await reader.events(50) == (await follow_to_the_end(tenant))[1:]


@pytest.mark.parametrize("last", ["nonsense", "event/", f"customer/{NOBODY}", f"event/{NOBODY}"])
async def test_a_stream_goes_on_from_no_place_that_is_not_in_the_log(
    tenant: "Tenant", last: str
) -> None:
    answer = await tenant.call("GET", "/v1/events/stream", Last_Event_ID=last)
    (fault,) = answer.json()["errors"]
    assert (answer.status_code, fault["pointer"]) == (422, "Last-Event-ID")


async def test_a_stream_does_not_wait_where_the_log_has_never_been(
    tenant: "Tenant", other_tenant: "Tenant"
) -> None:
    theirs = (await other_tenant.call("GET", "/v1/events")).json()
    ahead = f"event/{model.identify(tenant.id, 1000)}"
    for last in (theirs["results"][0]["id"], ahead):
        answer = await tenant.call("GET", "/v1/events/stream", Last_Event_ID=last)
        assert (answer.status_code, answer.json()["code"]) == (422, "validation_failed")
    answer = await tenant.call("GET", f"/v1/events/stream?after={theirs['nextCursor']}")
    assert answer.json()["errors"][0]["pointer"] == "?after"


async def test_a_stream_ends_when_its_credential_is_revoked(
    running: Running, tenant: "Tenant"
) -> None:
    token = await tenant.token_for(tenant.customer)
    async with reading(running, tenant, token=token) as reader:
        await reader.block()
        revoked = await tenant.call(
            "DELETE", f"/v1/customers/{tenant.customer}/tokens", token=tenant.key
        )
        assert revoked.status_code < 300
        began = time.monotonic()
        with pytest.raises(EOFError):
            await reader.events(1)
        assert time.monotonic() - began < 5


async def test_whoever_asks_for_the_head_of_a_stream_gets_no_more(
    running: Running, tenant: "Tenant"
) -> None:
    async with httpx2.AsyncClient(timeout=5) as client:
        answer = await client.head(running.address, headers={"X-Token": tenant.key})
    assert (answer.status_code, answer.content) == (200, b"")
    assert nobody_reads(running.service)
