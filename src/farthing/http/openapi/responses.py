"""What comes back: the answer of an operation, and every problem that it declares."""

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any, Final

from farthing.core import errors
from farthing.core.errors import Fault
from farthing.core.operation import Operation
from farthing.core.schemas import Schema, Schemas
from farthing.core.wire import View
from farthing.http.openapi import words
from farthing.http.streams import MEDIA_TYPE

HEADERS: Final[dict[str, Schema]] = {
    "X-Request-Id": {"description": words.REQUEST_ID_BACK, "schema": {"type": "string"}},
    "Idempotency-Replayed": {
        "description": words.REPLAYED,
        "schema": {"type": "string", "enum": ["true"]},
    },
    "Retry-After": {"description": words.RETRY_AFTER, "schema": {"type": "string"}},
    "RateLimit-Limit": {"description": words.RATE_LIMIT, "schema": {"type": "string"}},
    "RateLimit-Remaining": {"description": words.RATE_REMAINING, "schema": {"type": "string"}},
    "RateLimit-Reset": {"description": words.RATE_RESET, "schema": {"type": "string"}},
}
_RATE: Final = tuple(name for name in HEADERS if name.startswith("RateLimit-"))


class Problem(View, frozen=True, kw_only=True):
    """What went wrong, in the form of RFC 9457; nothing was changed."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    errors: list[Fault] | None = None
    current_state_id: str | None = None
    allowed_state_ids: list[str] | None = None
    # The rule that refuses a request, and the code that its author gave it.
    rule_id: str | None = None
    rule_code: str | None = None


def responses(operation: Operation, known: Schemas, example: Any) -> dict[str, Schema]:
    """Describe every response of an operation, by status."""
    described = {str(operation.status): _success(operation, known, example)}
    by_status: defaultdict[int, list[type[errors.Problem]]] = defaultdict(list)
    for problem in operation.errors:
        by_status[problem.status].append(problem)
    for status in sorted(by_status):
        described[str(status)] = _failure(status, by_status[status], known)
    return described


def _success(operation: Operation, known: Schemas, example: Any) -> Schema:
    names = ["X-Request-Id", *(["Idempotency-Replayed"] if operation.writes else [])]
    names += _RATE if operation.who else ()
    success: Schema = {
        "description": HTTPStatus(operation.status).phrase,
        "headers": _headers(names),
    }
    if operation.answer is not None:
        schema = known.answer(operation.answer)
        if operation.other_answer is not None:
            schema = {"anyOf": [schema, known.answer(operation.other_answer)]}
        media: Schema = {"schema": schema}
        if example is not None:
            media["example"] = example
        others = {name: _text(write) for name, write in operation.formats.items()}
        success["content"] = {"application/json": media, **others}
    if operation.stream is not None:
        success["content"] = {MEDIA_TYPE: {**_text(operation.stream), "example": example}}
    return success


def _text(write: Callable[..., Any]) -> Schema:
    """Describe an answer that is no JSON by what the function that writes it says of itself."""
    return {"schema": {"type": "string", "description": inspect.getdoc(write) or ""}}


def _failure(status: int, problems: list[type[errors.Problem]], known: Schemas) -> Schema:
    codes = [problem.code for problem in problems]
    waits = any("Retry-After" in problem.headers for problem in problems)
    rate = _RATE if errors.RateLimited in problems else ()
    narrowed = {
        "type": "object",
        "properties": {
            "status": {"type": "integer", "const": status},
            "code": {"type": "string", "enum": codes},
        },
    }
    schema = {"allOf": [known.answer(Problem), narrowed]}
    return {
        "description": "\n\n".join(f"`{one.code}`: {sentence(one)}" for one in problems),
        "headers": _headers(["X-Request-Id", *(["Retry-After"] if waits else []), *rate]),
        "content": {"application/problem+json": {"schema": schema}},
    }


def _headers(names: Iterable[str]) -> dict[str, Schema]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def sentence(problem: type[errors.Problem]) -> str:
    """Return what a problem means."""
    return (problem.__doc__ or "").strip()
