"""A service on a real socket, in a thread of its own, and both clients to call it with."""

import asyncio
import inspect
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import pytest
import uvicorn

from farthing.cli.serving import Server
from farthing.client import AsyncEventStream, AsyncFarthing, AsyncListing, Farthing, Retries
from farthing.client._namespaces import AsyncNamespace
from farthing.http.app import build
from farthing.http.faults import CuttableProtocol
from farthing.http.service import Service
from farthing.resources.access import actions

if TYPE_CHECKING:
    from tests.conftest import Database

# As often as one likes, and never long.
EAGER = Retries(attempts=5, first_pause=0.001, longest_pause=0.01)
_END = object()


@dataclass(frozen=True)
class Shop:
    """A fresh tenant and its keys."""

    id: str
    key: str
    operator: str


class Running:
    """A service in a thread; it can be stopped and started again at the same address."""

    def __init__(self, database: "Database") -> None:
        self._database = database
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def start(self) -> None:
        self.run(self._start())

    async def _start(self) -> None:
        self.service = await Service.start(self._database.settings(webhook_private=True))
        config = uvicorn.Config(
            build(self.service),
            http=CuttableProtocol,
            log_config=None,
            lifespan="on",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        self._server = Server(config, self.service)
        listener = socket.create_server(("127.0.0.1", self._port))
        self._port = listener.getsockname()[1]
        self._serving = asyncio.ensure_future(self._server.serve([listener]))

    def stop(self) -> None:
        self.run(self._stop())

    async def _stop(self) -> None:
        self._server.should_exit = True
        await self._serving

    def close(self) -> None:
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def new_shop(self) -> Shop:
        return cast("Shop", self.run(self._new_shop()))

    async def _new_shop(self) -> Shop:
        committer = self.service.committer
        tenant = await actions.found_tenant(committer, "Shop")
        key = await actions.issue_api_key(committer, "sandbox", tenant)
        operator = await actions.issue_operator_key(committer, "sandbox")
        return Shop(f"customer/{tenant}", key, operator)


class Blocking:
    """Calls an asynchronous client as one calls the other, so that a test is written once."""

    def __init__(self, inner: Any, runner: asyncio.Runner) -> None:
        self._inner, self._runner = inner, runner

    def __getattr__(self, name: str) -> Any:
        return self._wrap(getattr(self._inner, "aclose" if name == "close" else name))

    def __repr__(self) -> str:
        return repr(self._inner)

    def __iter__(self) -> Iterator[Any]:
        found = aiter(self._inner)
        return iter(lambda: self._runner.run(_next(found)), _END)

    def __next__(self) -> Any:
        return self._runner.run(_next(self._inner))

    def _wrap(self, value: Any) -> Any:
        if isinstance(value, AsyncNamespace | AsyncFarthing | AsyncListing | AsyncEventStream):
            return Blocking(value, self._runner)
        if inspect.iscoroutine(value):
            return self._runner.run(value)
        if inspect.isasyncgen(value):
            return iter(Blocking(value, self._runner))
        if callable(value):
            return lambda *given, **named: self._wrap(value(*given, **named))
        return value


async def _next(found: Any) -> Any:
    return await anext(found, _END)


@pytest.fixture(scope="session")
def running(database: "Database") -> Iterator[Running]:
    started = Running(database)
    yield started
    started.close()


@pytest.fixture
def shop(running: Running) -> Shop:
    return running.new_shop()


@dataclass
class Maker:
    """Makes clients, of one kind or of the other."""

    url: str
    runner: asyncio.Runner | None
    _made: list[Any] = field(default_factory=list)

    def __call__(self, key: str, **more: Any) -> Any:
        given = {"base_url": self.url, "retries": EAGER, **more}
        if self.runner is None:
            made: Any = Farthing(key, **given)
        else:
            made = Blocking(AsyncFarthing(key, **given), self.runner)
        self._made.append(made)
        return made

    def close(self) -> None:
        for one in self._made:
            one.close()


@pytest.fixture(params=["sync", "async"])
def make(request: pytest.FixtureRequest, running: Running) -> Iterator[Callable[..., Any]]:
    """Give whatever makes clients: each test runs with both."""
    if request.param == "sync":
        maker = Maker(running.url, None)
        yield maker
        maker.close()
        return
    with asyncio.Runner() as runner:
        maker = Maker(running.url, runner)
        yield maker
        maker.close()


@pytest.fixture
def client(make: Maker, shop: Shop) -> Any:
    """Give a client with the key of a fresh tenant."""
    return make(shop.key)
