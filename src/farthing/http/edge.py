"""The edge: request ids, problems for whatever goes wrong, one log line and one count each."""

import re
import time
from http import HTTPStatus
from typing import Final

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from farthing.core.errors import InternalError, NotFound, Problem, Unavailable
from farthing.core.ids import UUID_PATTERN, new_id
from farthing.db.commands import Answer
from farthing.db.pool import is_away
from farthing.http.endpoint import send_answer
from farthing.http.metrics import Metrics

# A UUID, or any harmless text without so many digits in a row that it could be a card number.
_REQUEST_ID: Final = re.compile(
    UUID_PATTERN.encode() + rb"|(?!.*[0-9]([._-]?[0-9]){12})[A-Za-z0-9._-]{8,128}"
)

log = structlog.get_logger()


class Edge:
    """Wraps the service: nothing leaves it without a request id, and nothing as a traceback."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics
        # Bound once, because to find the logger costs more than a line that is not wanted.
        self._log = log.bind()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever happens."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        request_id = _request_id(scope)
        scope["state"] = {"request_id": request_id, "operation": "none"}
        status = 0

        async def send_stamped(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self._app(scope, receive, send_stamped)
        except Exception as error:
            if status:
                raise
            await _send_problem(send_stamped, _problem(error, scope), scope)
        finally:
            self._record(scope, status, time.perf_counter() - started)

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        state = scope["state"]
        self._metrics.record(state["operation"], status, seconds)
        write = self._log.error if status >= HTTPStatus.INTERNAL_SERVER_ERROR else self._log.info
        write(
            "request",
            operation=state["operation"],
            method=scope["method"],
            status=status,
            ms=round(seconds * 1000, 1),
            request_id=state["request_id"],
        )


def _request_id(scope: Scope) -> str:
    """Take the caller's request id if it is harmless, or make one."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return str(value, "ascii")
    return f"req-{new_id()}"


def _problem(error: Exception, scope: Scope) -> Problem:
    if isinstance(error, Problem):
        return error
    request_id = scope["state"]["request_id"]
    if is_away(error):
        log.warning("database_away", error=repr(error), request_id=request_id)
        return Unavailable("The database is away. Repeat in a moment.")
    log.error("request_failed", request_id=request_id, exc_info=error)
    return InternalError()


async def _send_problem(send: Send, problem: Problem, scope: Scope) -> None:
    state = scope["state"]
    answer = Answer(problem.status, problem.encode(state["request_id"]))
    await send_answer(send, answer, {**problem.headers, **state.get("headers", {})})


async def nowhere(scope: Scope, _: Receive, __: Send) -> None:
    """Answer for every address that does not exist."""
    if scope["type"] == "http":
        raise NotFound("There is nothing at this address. GET /docs lists what there is.")
