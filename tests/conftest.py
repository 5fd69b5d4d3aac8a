"""A real PostgreSQL for every test: the embedded one, or FARTHING_TEST_DATABASE_URL."""

import asyncio
import ipaddress
import os
import secrets
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

import asyncpg
import httpx2
import msgspec
import pytest
import pytest_asyncio
import structlog
import uvloop
from hypothesis import settings as hypothesis_settings
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from farthing.catalog import MACHINES, OPERATIONS
from farthing.config import Settings
from farthing.core import errors
from farthing.db.embedded import EmbeddedServer
from farthing.db.migrate import migrate
from farthing.http import system
from farthing.http.app import build
from farthing.http.openapi.responses import Problem as ProblemView
from farthing.http.service import Service
from farthing.resources.access import actions

MASTER_KEY = "c0ffee" + "0" * 58
OWNER = "farthing_test_owner"
SLOW_SECONDS = 600

# Times are no subject of tests: these machines are slow at times.
hypothesis_settings.register_profile("farthing", deadline=None, print_blob=True)
hypothesis_settings.load_profile("farthing")

# Plain lines: colours and columns for ten thousands of them take longer than the tests do.
structlog.configure(
    processors=[structlog.processors.format_exc_info, structlog.processors.KeyValueRenderer()]
)


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run tests in the loop in which the service runs."""
    return {"uvloop": uvloop.new_event_loop}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give what is slow more time before it counts as hanging, and let it begin early.

    Otherwise one worker would be busy with the last slow test while the others have none left.
    """
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_SECONDS))
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@dataclass(frozen=True)
class Database:
    """A database of a real server, as its owner and as its administrator see it."""

    url: str
    admin_url: str
    # Makes another one that is empty.
    create: Callable[[], Coroutine[Any, Any, "Database"]]
    # Makes another one that is up to date, much faster than by migrations.
    create_current: Callable[[], Coroutine[Any, Any, "Database"]]

    async def execute(self, sql: str, *values: object) -> None:
        """Do what only the administrator can: look behind the service's back, or tamper."""
        connection = await asyncpg.connect(self.admin_url)
        try:
            await connection.execute("SET search_path = farthing")
            await connection.execute(sql, *values)
        finally:
            await connection.close()

    async def fetch(self, sql: str, *values: object) -> list[Any]:
        """Read as the administrator."""
        connection = await asyncpg.connect(self.admin_url)
        try:
            await connection.execute("SET search_path = farthing")
            return list(await connection.fetch(sql, *values))
        finally:
            await connection.close()

    def settings(self, **changes: Any) -> Settings:
        """Return the settings of a service on this database."""
        return Settings(database_url=self.url, master_key=MASTER_KEY, **changes)


def _with(url: str, *, database: str, userinfo: str | None = None) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    netloc = parts.netloc if userinfo is None else f"{userinfo}@{host}"
    return urlunsplit(parts._replace(netloc=netloc, path=f"/{database}"))


async def _create_database(admin_url: str, current: str, like: str = "template1") -> Database:
    """Make a database whose owner is no superuser, as one's own PostgreSQL would have it.

    It is made like another one, such as the one that is current and that nobody uses.
    """
    name, password = f"farthing_{secrets.token_hex(6)}", "only-for-tests"
    sql = f"CREATE DATABASE {name} OWNER {OWNER} TEMPLATE {like}"
    connection = await asyncpg.connect(admin_url)
    try:
        if not await connection.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", OWNER):
            await connection.execute(f"CREATE ROLE {OWNER} LOGIN CREATEROLE PASSWORD '{password}'")
        await connection.execute(sql)
    except asyncpg.UniqueViolationError:
        # The neighbour process made the role at this moment.
        await connection.execute(sql)
    finally:
        await connection.close()

    async def create() -> Database:
        return await _create_database(admin_url, current)

    async def create_current() -> Database:
        return await _create_database(admin_url, current, current)

    owner = _with(admin_url, database=name, userinfo=f"{OWNER}:{password}")
    return Database(owner, _with(admin_url, database=name), create, create_current)


@pytest.fixture(scope="session", autouse=True)
def _no_name_is_asked_for() -> Iterator[None]:
    """Keep tests on this machine: a name that is not its own is not even looked up."""
    ask = socket.getaddrinfo

    def know(host: Any, *rest: Any, **more: Any) -> Any:
        text = host.decode() if isinstance(host, bytes) else host
        if text in {None, "", "localhost"} or _is_address(text):
            return ask(host, *rest, **more)
        raise socket.gaierror(socket.EAI_NONAME, "tests ask nobody for a name")

    socket.getaddrinfo = know
    yield
    socket.getaddrinfo = ask


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True


@pytest.fixture(scope="session")
def server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the administrator's address of a running server."""
    external = os.environ.get("FARTHING_TEST_DATABASE_URL")
    if external:
        yield external
        return
    with EmbeddedServer(tmp_path_factory.mktemp("pg")) as server:
        yield server.admin_url()
        running = server._process  # noqa: SLF001 - nobody but a test stops a server like this
        assert running is not None
        # At once: what it would write down before it stops is thrown away in any case.
        running.send_signal(signal.SIGQUIT)


@pytest.fixture(scope="session")
def database(server_url: str) -> Database:
    """Give a migrated database."""

    async def make() -> Database:
        made = await _create_database(server_url, "template1")
        await migrate(made.url, MACHINES)
        name = urlsplit(made.url).path.removeprefix("/")
        return await _create_database(server_url, name, name)

    return asyncio.run(make())


class OnlyDeclaredProblems:
    """No operation answers with a code or a member that is not declared, in the whole suite.

    Whoever calls in this way waits for the end of an answer, so it leaves a stream once it began.
    """

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        everything = (*system.operations(service), *OPERATIONS)
        self._declared = {one.id: {problem.code for problem in one.errors} for one in everything}
        anywhere = (errors.NotFound, errors.MethodNotAllowed)
        self._declared["none"] = {problem.code for problem in anywhere}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        status, body, streams = 0, b"", False

        async def hang_up() -> Message:
            return {"type": "http.disconnect"} if streams else await receive()

        async def listen(message: Message) -> None:
            nonlocal status, body, streams
            status = message.get("status", status)
            streams |= (b"content-type", b"text/event-stream") in message.get("headers", ())
            body += message.get("body", b"")
            await send(message)

        await self._app(scope, hang_up, listen)
        if status >= 400 and scope["path"] != "/readyz":
            said, operation = msgspec.json.decode(body), scope["state"]["operation"]
            code, members = said["code"], ProblemView.__struct_encode_fields__
            assert code in self._declared[operation], f"{operation} did not declare {code}"
            assert said.keys() <= set(members), f"{code} says more than is documented"


@pytest_asyncio.fixture(scope="session")
async def service(database: Database) -> AsyncIterator[Service]:
    started = await Service.start(database.settings())
    yield started
    await started.stop()


@pytest.fixture(scope="session")
def app(service: Service) -> ASGIApp:
    return OnlyDeclaredProblems(build(service), service)


@pytest_asyncio.fixture
async def client(app: ASGIApp) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://farthing.test") as opened:
        yield opened


@dataclass(frozen=True)
class Tenant:
    """A fresh tenant with every credential that there is."""

    id: UUID
    key: str
    operator: str
    token: str
    _client: httpx2.AsyncClient
    service: Service

    @property
    def customer(self) -> str:
        return f"customer/{self.id}"

    async def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: str | None = None,
        **headers: str,
    ) -> httpx2.Response:
        """Send one request, with the client's access token unless told otherwise."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent["X-Token"] = self.token if token is None else token
        content = None if body is None else msgspec.json.encode(body)
        if content is not None:
            sent.setdefault("Content-Type", "application/json")
        return await self._client.request(method, path, content=content, headers=sent)

    async def new_customer(self, **fields: Any) -> str:
        """Make a customer and return its id."""
        answer = await self.call("POST", "/v1/customers", {"type": "INDIVIDUAL", **fields})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    async def new_account(self, owner: str, currency: str = "GBP", **fields: Any) -> str:
        """Open an account and return its id."""
        body = {"ownerId": owner, "currencyISO": currency, **fields}
        answer = await self.call("POST", "/v1/accounts", body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    async def token_for(self, customer: str) -> str:
        """Return an access token for a customer."""
        answer = await self.call("POST", f"/v1/customers/{customer}/tokens", token=self.key)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["accessToken"])


async def make_tenant(service: Service, client: httpx2.AsyncClient, name: str = "Shop") -> Tenant:
    """Found a tenant with keys and a client's token."""
    tenant_id = await actions.found_tenant(service.committer, name)
    key = await actions.issue_api_key(service.committer, "sandbox", tenant_id)
    operator = await actions.issue_operator_key(service.committer, "sandbox")
    bare = Tenant(tenant_id, key, operator, "", client, service)
    return replace(bare, token=await bare.token_for(bare.customer))


@pytest_asyncio.fixture
async def tenant(service: Service, client: httpx2.AsyncClient) -> Tenant:
    return await make_tenant(service, client)


@pytest_asyncio.fixture
async def other_tenant(service: Service, client: httpx2.AsyncClient) -> Tenant:
    return await make_tenant(service, client, "Another shop")
