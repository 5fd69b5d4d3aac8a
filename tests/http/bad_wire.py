"""Requests byte by byte, as no well-behaved client would send them, and what they are aimed at."""

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tests.controls import scene
from tests.payments import Send, furnish, idle, in_path, spends
from tests.trials import new_alert, new_backtest
from tests.verdicts import new_approval

from farthing.catalog import OPERATIONS
from farthing.core.actors import Grant
from farthing.core.ids import UUID_PATTERN
from farthing.core.operation import Operation
from farthing.http.openapi.parameters import fictitious_id
from farthing.http.service import Service

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Message
    from tests.conftest import Tenant

_ID = re.compile(rf"([a-z_]+)/{UUID_PATTERN}")


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def code(self) -> str:
        return str(json.loads(self.body).get("code"))

    @property
    def faults(self) -> list[tuple[str, str]]:
        """Where something is wrong, and which code says what; in order of the places."""
        listed = json.loads(self.body).get("errors", ())
        return sorted((fault["pointer"], fault["code"]) for fault in listed)


async def send(
    app: "ASGIApp",
    method: str,
    address: str,
    headers: "Iterable[tuple[str, bytes]]" = (),
    body: bytes = b"",
) -> Reply:
    """Send a request whose address is already percent-encoded, and whose headers may be anything.

    The scope is made as uvicorn makes it, but nothing is refused on the way.
    """
    raw_path, _, query = address.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(raw_path),
        "raw_path": raw_path.encode(),
        "query_string": query.encode("latin-1"),
        "root_path": "",
        "headers": [(name.lower().encode(), value) for name, value in headers],
        "client": ("127.0.0.1", 1),
        "server": ("farthing.test", 80),
    }
    sent: list[Message] = []

    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> "Message":
        return waiting.pop() if waiting else {"type": "http.disconnect"}

    async def keep(message: "Message") -> None:
        sent.append(message)

    await app(scope, receive, keep)
    start, *parts = sent
    named = {name.decode(): value.decode("latin-1") for name, value in start["headers"]}
    return Reply(start["status"], named, b"".join(part.get("body", b"") for part in parts))


@dataclass(frozen=True)
class Target:
    """An operation with real objects behind each identifier: sent as it is, it succeeds."""

    app: "ASGIApp"
    tenant: "Tenant"
    operation: Operation
    address: str
    body: dict[str, Any]

    async def send(self, body: object) -> Reply:
        """Send a value as the body; Python's own writer also writes what no JSON may hold."""
        return await self.send_bytes(json.dumps(body).encode())

    async def send_bytes(self, body: bytes, **headers: bytes) -> Reply:
        named = {"content-type": b"application/json", **self.credential}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        reply = await send(self.app, self.operation.method, self.address, named.items(), body)
        if self.operation.id == "sandbox.rail.change" and reply.status == 200:
            # Nobody else is to wait for a rail that is slow.
            await self.tenant.call("POST", self.address, {"mood": "normal"})
        return reply

    @property
    def credential(self) -> dict[str, bytes]:
        token = credential(self.operation, self.tenant)
        return {} if token is None else {"x-token": token.encode()}


def credential(operation: Operation, tenant: "Tenant") -> str | None:
    """Return what opens an operation: the client's token, or else the key that it takes."""
    by_grant = {
        Grant.CLIENT_TOKEN: tenant.token,
        Grant.API_KEY: tenant.key,
        Grant.OPERATOR_KEY: tenant.operator,
    }
    return next((shown for grant, shown in by_grant.items() if grant in operation.who), None)


@dataclass(frozen=True)
class Range:
    """A tenant to aim at: what is refused changes nothing, so one target serves many shots."""

    app: "ASGIApp"
    service: Service
    tenant: "Tenant"
    _kept: dict[str, Target] = field(default_factory=dict)

    async def target(self, operation: Operation) -> Target:
        """Return a target that may have been shot at before."""
        if operation.id not in self._kept:
            self._kept[operation.id] = await self.fresh_target(operation)
        return self._kept[operation.id]

    async def fresh_target(self, operation: Operation) -> Target:
        """Make everything that the example of an operation speaks of, and aim at it."""
        made: dict[str, str] = {}
        body = await _real(self.tenant, operation.body_example or {}, made)
        address = operation.path
        if spends(operation.id):
            await furnish(self.service, self.tenant.call, body)
        if operation.noun is not None:
            real = await scene(self.service, self.tenant.call, operation.id)
            real = real or await _object(self.tenant, fictitious_id(operation.noun), made)
            address = address.replace("{id}", in_path(real))
        return Target(self.app, self.tenant, operation, address, body)

    async def written(self) -> int:
        """Count what was written: every change writes an event."""
        # What earlier shots set going has ended by then.
        await idle(self.service)
        sql = "SELECT count(*) FROM events WHERE tenant_id = $1"
        return int(await self.service.pool.fetchval(sql, self.tenant.id))


async def _real(tenant: "Tenant", example: Any, made: dict[str, str]) -> Any:
    """Put the identifiers of real objects where an example has fictitious ones."""
    if isinstance(example, Mapping):
        return {name: await _real(tenant, one, made) for name, one in example.items()}
    if isinstance(example, str) and _ID.fullmatch(example):
        return await _object(tenant, example, made)
    return example


async def _object(tenant: "Tenant", example: str, made: dict[str, str]) -> str:
    """Return the object that stands behind an identifier of an example."""
    if example not in made:
        made[example] = await _make(tenant, example.partition("/")[0], made)
    return made[example]


async def _make(tenant: "Tenant", noun: str, made: dict[str, str]) -> str:
    if noun == "event":
        return await first_event(tenant.call)
    if noun == "snapshot":
        return await snapshot(tenant, await _object(tenant, fictitious_id("tenant"), made))
    if noun == "approval":
        return await new_approval(tenant.service, tenant.id)
    if noun == "alert":
        return await new_alert(tenant.call, with_key(tenant))
    if noun == "backtest":
        return await new_backtest(with_key(tenant))
    creation = _creation(noun)
    body = await _real(tenant, creation.body_example, made)
    token = credential(creation, tenant)
    answer = await tenant.call(creation.method, creation.path, body, token=token)
    assert answer.status_code == creation.status, answer.text
    return str(answer.json()["id"])


def _creation(noun: str) -> Operation:
    """Find the operation that makes what another one reads."""
    return creation_of(noun, OPERATIONS)


async def first_event(send: Send) -> str:
    """Return an event, which nobody makes by itself: every tenant's log begins with its making."""
    page = (await send("GET", "/v1/events?limit=1", None)).json()
    return str(page["results"][0]["id"])


def with_key(tenant: "Tenant") -> Send:
    """Return what sends requests with the tenant's key."""
    return functools.partial(tenant.call, token=tenant.key)


async def snapshot(tenant: "Tenant", of: str) -> str:
    """Return a snapshot of a tenant, which the operator makes."""
    path = f"/v1/sandbox/tenants/{of}/snapshots"
    answer = await tenant.call("POST", path, token=tenant.operator)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def creation_of(noun: str, every: "Iterable[Operation]") -> Operation:
    """Find the first operation that makes objects of a noun.

    Reading may show more of them; making may show a secret.
    """
    listed = list(every)
    (view,) = [one.answer for one in listed if one.noun == noun and one.id.endswith(".get")]
    assert view is not None
    return next(
        one
        for one in listed
        if one.status == 201
        and one.noun is None
        and one.answer
        and (issubclass(view, one.answer) or issubclass(one.answer, view))
    )
