"""One address of the service: from a raw request to an action, and back to bytes."""

import asyncio
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import msgspec
from starlette.types import Receive, Scope, Send

from farthing.core import keys
from farthing.core.actors import Grant, Principal
from farthing.core.errors import MethodNotAllowed
from farthing.core.ids import HOUSE
from farthing.core.operation import Operation
from farthing.db.calls import Call
from farthing.db.commands import Answer, Context, IdempotencyKey
from farthing.http import formats, requests
from farthing.http.auth import Authenticator, authorise, place, read_credential
from farthing.http.faults import Faults, cut
from farthing.http.requests import Headers
from farthing.http.service import Service
from farthing.resources.access.model import Presented

if TYPE_CHECKING:
    from farthing.http.limits import Limits

_NOBODY: Final = Principal(HOUSE, Grant.PLATFORM)


@dataclass(frozen=True)
class Endpoint:
    """The operations of one path, by method."""

    service: Service
    authenticator: Authenticator
    operations: Mapping[str, Operation]
    limits: "Limits | None" = None
    faults: Faults | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        operation = self._operation(scope)
        scope["state"]["operation"] = operation.id
        headers = requests.read_headers(scope)
        shown = read_credential(headers) if operation.who else None
        principal = await self._principal(operation, shown, scope)
        text = scope["path_params"].get("id")
        object_id = None if text is None else requests.parse_id(operation, text)
        if operation.who:
            principal = await place(self.service.pool, principal, headers, operation, object_id)
            if self.faults is not None:
                await self.faults.before(principal, operation)
        now = await self.service.clocks.now(principal.tenant_id)
        query, annotations = requests.parse_query(operation.query, scope)
        media_type = formats.choose(operation, scope)
        body, key = None, None
        if operation.writes:
            body, key = await self._take_body(operation, scope, headers, receive, shown, now)
        if operation.rehearses or getattr(query, "dry_run", False):
            # What changes nothing is not remembered either.
            key = None
        call = Call(
            self.service.pool,
            self.service.settings,
            principal,
            query if body is None else body,
            object_id,
            self.service.parts,
            annotations,
            query,
            now,
            headers.get("last-event-id"),
            None if key is None else key.key,
        )
        if operation.stream is not None:
            parts = await operation.stream(call)
            revoked = functools.partial(self.authenticator.wait_until_revoked, shown)
            await self.service.streams.send(scope, receive, send, parts, revoked)
            return
        context = Context(principal, scope["state"]["request_id"], key)
        answer = await self._answer(operation, call, context, media_type)
        if self.faults is not None and await self.faults.cuts(principal, operation, answer):
            await cut(scope, receive)
            return
        await send_answer(send, answer, scope["state"].get("headers"), media_type)

    async def _take_body(
        self,
        operation: Operation,
        scope: Scope,
        headers: Headers,
        receive: Receive,
        shown: Presented | None,
        now: datetime,
    ) -> tuple[Any, IdempotencyKey | None]:
        """Return the typed body and the key; what was sent itself is not kept beyond this."""
        raw = await requests.read_body(headers, receive)
        value, body = requests.parse_body(operation, headers, raw, now)
        return body, self._idempotency(operation, scope, headers, value, shown)

    async def _answer(
        self, operation: Operation, call: Call[Any], context: Context, media_type: str
    ) -> Answer:
        submit = self.service.committer.submit
        if operation.command is not None:
            return await submit(context, operation.command(call))
        if operation.prepare is not None:
            prepare = functools.partial(operation.prepare, call)
            return await submit(context, prepare, once=operation.sandbox_only)
        if operation.read is None:
            raise TypeError(f"{operation.id} neither reads nor writes")
        view = await operation.read(call)
        write = operation.formats.get(media_type)
        if write is None:
            return Answer(operation.status, msgspec.json.encode(view))
        # Not as fast as msgspec, so it must not hold up whoever else is being answered.
        return Answer(operation.status, await asyncio.to_thread(write, view))

    def _operation(self, scope: Scope) -> Operation:
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        operation = self.operations.get(method)
        if operation is None:
            allowed = ", ".join(sorted(self.operations))
            problem = MethodNotAllowed(f"This address takes {allowed}.")
            scope["state"]["headers"] = {"Allow": allowed}
            raise problem
        return operation

    async def _principal(
        self, operation: Operation, shown: Presented | None, scope: Scope
    ) -> Principal:
        if not operation.who:
            return _NOBODY
        principal = await self.authenticator.principal(shown)
        if self.limits is not None and shown is not None:
            self.limits.count(shown, scope["state"])
        authorise(principal, operation)
        return principal

    def _idempotency(
        self,
        operation: Operation,
        scope: Scope,
        headers: Headers,
        value: object,
        shown: Presented | None,
    ) -> IdempotencyKey | None:
        key = requests.parse_key(headers)
        if key is None:
            return None
        parts = [
            scope["method"].encode(),
            scope["path"].encode(),
            scope["query_string"],
            msgspec.json.encode(value, order="sorted"),
        ]
        seal = None
        if operation.secret and shown is not None:
            # Only whoever holds the same credential can open the answer again.
            parts.append(shown.digest)
            seal = keys.derive(shown.secret, "idempotency seal")
        # Callers put anything into a key, so it is kept as a digest too.
        kept = keys.fingerprint(self.service.fingerprint_key, b"key", key.encode()).hex()
        return IdempotencyKey(kept, keys.fingerprint(self.service.fingerprint_key, *parts), seal)


async def send_answer(
    send: Send,
    answer: Answer,
    headers: Mapping[str, str] | None = None,
    media_type: str = formats.JSON,
) -> None:
    """Send an answer; what is 400 or above is a problem document."""
    if answer.status >= HTTPStatus.BAD_REQUEST:
        media_type = "application/problem+json"
    if media_type.startswith("text/"):
        media_type += "; charset=utf-8"
    lines = [
        (b"content-type", media_type.encode()),
        (b"content-length", str(len(answer.body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    if answer.replayed:
        lines.append((b"idempotency-replayed", b"true"))
    lines += [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": lines})
    await send({"type": "http.response.body", "body": answer.body})
