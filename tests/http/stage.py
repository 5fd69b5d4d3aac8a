"""A stage for the examples: a tenant of its own, and a clock that stands still.

Each operation's example is sent to a real service. What the example speaks of is made first, and
what comes back is told with the identifiers, the times and the secrets of the examples.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID

import httpx2
import msgspec
from tests.conftest import OnlyDeclaredProblems
from tests.controls import scene
from tests.duties import duty
from tests.http.bad_wire import creation_of, first_event
from tests.ledger.books import Books
from tests.payments import furnish, idle, in_path, spends
from tests.trials import new_alert, new_backtest
from tests.verdicts import new_approval

from farthing import __version__
from farthing.config import Settings
from farthing.core.actors import Grant
from farthing.core.ids import UUID_PATTERN
from farthing.core.operation import Operation
from farthing.core.wire import ListQuery
from farthing.http import system
from farthing.http.app import build
from farthing.http.openapi.parameters import fictitious_id
from farthing.http.openapi.sections import sections
from farthing.http.service import Service
from farthing.ledger import effects
from farthing.resources.access import actions, model

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

NOON = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
A_LITTLE_LATER = NOON + timedelta(minutes=5)

_ID = re.compile(rf"\b([a-z_]+)/{UUID_PATTERN}\b")
_CREDENTIAL = re.compile(r"\b(farthing_[a-z]+_[a-z]+_)[A-Za-z0-9_=-]{64}")
_SECRET = re.compile(r"\bwhsec_[A-Za-z0-9+/=]{44}")
_A_SECRET = f"whsec_{'EXAMPLE':0<43}="
_REFERENCE = re.compile(r"\bRF[0-9]{2}[A-Z0-9]{14}\b")
_A_REFERENCE = "RF33XMPQ2346789CDF"
_CURSOR = "AZChssPUfl-KmwwdLj9KWw"


@dataclass
class Clock:
    """A clock that is set by hand."""

    now: datetime = NOON

    def __call__(self) -> datetime:
        return self.now


@dataclass(frozen=True)
class Sent:
    """An example that was sent, and what came back."""

    operation: Operation
    query: dict[str, Any]
    response: httpx2.Response
    # The answer with every name that is real replaced by one that is not.
    told: Any


@dataclass
class Stage:
    """A running service with one tenant."""

    service: Service
    clock: Clock
    client: httpx2.AsyncClient
    operations: Mapping[str, Operation]
    credentials: Mapping[Grant, str]
    # By the identifier in an example, the identifier of the object that was made for it.
    made: dict[str, str] = field(default_factory=dict)

    async def perform(self, operation: Operation, **asked: Any) -> Sent:
        """Send the example of an operation, with what its query is to ask for."""
        self.made.clear()
        self.clock.now = NOON
        await self._prepare(operation)
        path, body = await self._address(operation), await self._real(operation.body_example)
        if spends(operation.id):
            await furnish(self.service, self._call, body)
        query = {"limit": 1} if _is_list(operation) else dict(operation.query_example or {})
        query |= asked
        self.clock.now = A_LITTLE_LATER
        response = await self._send(operation, f"{path}?{urlencode(query)}", body, "req-example")
        await idle(self.service)
        said = response.text if operation.stream else response.json()
        return Sent(operation, query, response, self._told(said))

    async def _prepare(self, operation: Operation) -> None:
        if operation.id == "status.get":
            await self._show_a_worker()
        if operation.id == "accounts.statement":
            await self._move_money(UUID((await self._object(fictitious_id("account")))[8:]))
        if operation.sandbox_only and (
            found := await scene(self.service, self._call, operation.id)
        ):
            self.made[fictitious_id(operation.noun or "")] = found
        if _is_list(operation):
            # Two of them, so that the first page is not the last.
            noun = self._noun(operation)
            await self._make(noun)
            self.made[fictitious_id(noun)] = await self._make(noun)

    async def _show_a_worker(self) -> None:
        await duty(self.service, "heartbeat").run()

    async def _move_money(self, account: UUID) -> None:
        sql = "SELECT tenant_id FROM accounts WHERE id = $1"
        tenant_id = await self.service.pool.fetchval(sql, account)
        books = Books(self.service.pool, self.service.committer, tenant_id)
        await books.post(effects.move(books.outside, account, 12_000))
        await books.post(effects.move(account, books.outside, 4_550))

    async def _make(self, noun: str) -> str:
        if noun == "event":
            return await first_event(self._call)
        if noun == "approval":
            shown = model.read(self.credentials[Grant.API_KEY])
            assert shown is not None
            return await new_approval(self.service, shown.tenant_id)
        if noun == "alert":
            return await new_alert(self._call, self._call_with_key)
        if noun == "backtest":
            return await new_backtest(self._call_with_key)
        if noun == "snapshot":
            keep = self.operations["tenants.keep"]
            tenant = await self._object(fictitious_id("tenant"))
            path = keep.path.replace("{id}", in_path(tenant))
            kept = await self._send(keep, path, None, "req-earlier-example")
            return str(kept.json()["id"])
        creation = self._creation(noun)
        body = await self._real(creation.body_example)
        response = await self._send(creation, creation.path, body, "req-earlier-example")
        assert response.status_code == creation.status, response.text
        return str(response.json()["id"])

    def _noun(self, listing: Operation) -> str:
        return self.operations[listing.id.replace(".list", ".get")].noun or ""

    def _creation(self, noun: str) -> Operation:
        """Find the operation that makes what another one reads."""
        return creation_of(noun, self.operations.values())

    async def _address(self, operation: Operation) -> str:
        if "{id}" not in operation.path:
            return operation.path
        real = await self._object(fictitious_id(operation.noun or ""))
        return operation.path.replace("{id}", in_path(real))

    async def _object(self, example: str) -> str:
        """Return the object that stands behind an identifier of an example."""
        if example not in self.made:
            self.made[example] = await self._make(example.partition("/")[0])
        return self.made[example]

    async def _real(self, example: Any) -> Any:
        if isinstance(example, Mapping):
            return {name: await self._real(one) for name, one in example.items()}
        if isinstance(example, str) and _ID.fullmatch(example):
            return await self._object(example)
        return example

    async def _call(self, method: str, path: str, body: Any) -> httpx2.Response:
        """Send anything in the name of the client."""
        return await self._call_as(Grant.CLIENT_TOKEN, method, path, body)

    async def _call_with_key(self, method: str, path: str, body: Any) -> httpx2.Response:
        return await self._call_as(Grant.API_KEY, method, path, body)

    async def _call_as(self, grant: Grant, method: str, path: str, body: Any) -> httpx2.Response:
        headers = {"X-Token": self.credentials[grant], "X-Request-Id": "req-earlier-example"}
        return await self.client.request(method, path, json=body, headers=headers)

    async def _send(
        self, operation: Operation, address: str, body: Any, request_id: str
    ) -> httpx2.Response:
        headers = {"X-Request-Id": request_id, "Content-Type": "application/json"}
        if operation.who:
            order = (Grant.CLIENT_TOKEN, Grant.API_KEY, Grant.OPERATOR_KEY)
            grant = next(one for one in order if one in operation.who)
            headers["X-Token"] = self.credentials[grant]
        content = b"" if body is None else msgspec.json.encode(body)
        return await self.client.request(
            operation.method, address.rstrip("?"), content=content, headers=headers
        )

    def _told(self, answer: Any) -> Any:
        names = {real: example for example, real in self.made.items()}

        def rename(found: re.Match[str]) -> str:
            first = fictitious_id(found[1])
            other = first[:-12] + sha256(str(len(names)).encode()).hexdigest()[:12]
            return names.setdefault(found[0], other if first in names.values() else first)

        return _replaced(answer, rename)


def _is_list(operation: Operation) -> bool:
    return operation.query is not None and issubclass(operation.query, ListQuery)


def _replaced(value: Any, rename: Callable[[re.Match[str]], str]) -> Any:
    if isinstance(value, list):
        # Two of a kind are enough to see how they look.
        shown = value[:2] if value and isinstance(value[0], dict) else value
        return [_replaced(one, rename) for one in shown]
    if isinstance(value, dict):
        told = {name: _replaced(one, rename) for name, one in value.items()}
        varying = {"nextCursor": _CURSOR, "durationMs": 12}
        return told | {name: one for name, one in varying.items() if name in value}
    if value == __version__:
        return "1.0.0"
    if isinstance(value, str):
        renamed = _REFERENCE.sub(_A_REFERENCE, _ID.sub(rename, value))
        renamed = _SECRET.sub(_A_SECRET, renamed)
        return _CREDENTIAL.sub(rf"\1{'EXAMPLE':0<64}", renamed)
    return value


@asynccontextmanager
async def stage(settings: Settings) -> "AsyncIterator[Stage]":
    """Open a stage."""
    clock = Clock()
    service = await Service.start(settings, clock)
    listed = sections(system.operations(service))
    operations = {one.id: one for section in listed for one in section.operations}
    transport = httpx2.ASGITransport(app=OnlyDeclaredProblems(build(service), service))
    async with httpx2.AsyncClient(transport=transport, base_url="http://farthing.test") as client:
        yield Stage(service, clock, client, operations, await _credentials(service, client))
    await service.stop()


async def _credentials(service: Service, client: httpx2.AsyncClient) -> dict[Grant, str]:
    tenant_id = await actions.found_tenant(service.committer, "Examples")
    key = await actions.issue_api_key(service.committer, "sandbox", tenant_id)
    operator = await actions.issue_operator_key(service.committer, "sandbox")
    address = f"/v1/customers/customer/{tenant_id}/tokens"
    answer = await client.post(address, headers={"X-Token": key})
    return {
        Grant.API_KEY: key,
        Grant.OPERATOR_KEY: operator,
        Grant.CLIENT_TOKEN: answer.json()["accessToken"],
    }
