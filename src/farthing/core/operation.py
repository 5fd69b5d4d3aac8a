"""Operations are data: routing, checks, OpenAPI and the reference pages all read these."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from msgspec import Struct

from farthing.core import errors
from farthing.core.actors import Grant
from farthing.core.errors import Problem

OPERATOR_ONLY: Final = frozenset({Grant.OPERATOR_KEY})
KEY_ONLY: Final = frozenset({Grant.API_KEY, Grant.OPERATOR_KEY})
TENANT: Final = frozenset({Grant.API_KEY, Grant.CLIENT_TOKEN, Grant.OPERATOR_KEY})
TOKENS: Final = frozenset({Grant.CUSTOMER_TOKEN, Grant.CLIENT_TOKEN, Grant.OPERATOR_KEY})
ANYBODY_KNOWN: Final = TENANT | TOKENS
OPEN: Final[frozenset[Grant]] = frozenset()

Method = Literal["GET", "POST", "PATCH", "DELETE"]


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One thing that the service does, said once."""

    id: str
    method: Method
    path: str
    summary: str
    who: frozenset[Grant]
    # A write makes a command from the call; one that must ask the outside first prepares it; a
    # read answers by itself; a stream goes on until one side ends it, and says in its docstring
    # what is sent.
    command: Callable[[Any], Any] | None = None
    prepare: Callable[[Any], Awaitable[Any]] | None = None
    read: Callable[[Any], Awaitable[Any]] | None = None
    stream: Callable[[Any], Awaitable[AsyncIterator[bytes]]] | None = None
    status: int = 200
    noun: str | None = None
    body: type[Struct] | None = None
    query: type[Struct] | None = None
    answer: type[Struct] | None = None
    # What comes back instead where the query asks for something else.
    other_answer: type[Struct] | None = None
    raises: tuple[type[Problem], ...] = ()
    body_example: Mapping[str, Any] | None = None
    query_example: Mapping[str, Any] | None = None
    # By media type, what writes the answer otherwise than as JSON; each says in its docstring what
    # comes of it.
    formats: Mapping[str, Callable[[Any], bytes]] = field(default_factory=dict)
    # The answer holds a credential: what idempotency keeps of it is sealed.
    secret: bool = False
    # Plays with the outside world, so that in live there is no such address. What it prepares has
    # effects of its own: nothing is prepared for a repeat.
    sandbox_only: bool = False
    # Only asks, although it goes the way of a write: answered anew each time, also under a key.
    rehearses: bool = False
    # The operator's own matter, which is done in no tenant.
    of_house: bool = False

    @property
    def writes(self) -> bool:
        """Tell whether the operation changes something."""
        return self.command is not None or self.prepare is not None

    @property
    def errors(self) -> tuple[type[Problem], ...]:
        """List every Problem that this operation may answer with, in the catalogue's order."""
        # Every operation refuses a query that it does not know.
        found = {*self.raises, errors.Unavailable, errors.InternalError, errors.ValidationFailed}
        if self.who:
            found |= {errors.Unauthenticated, errors.Forbidden, errors.RateLimited}
        if "{id}" in self.path:
            found |= {errors.MalformedId, errors.NotFound}
        if self.formats:
            found.add(errors.NotAcceptable)
        if self.body is not None:
            found.add(errors.UnsupportedMediaType)
        if self.writes:
            found |= {errors.MalformedJson, errors.BodyTooLarge}
            found |= {errors.IdempotencyInProgress, errors.IdempotencyKeyReused}
        return tuple(problem for problem in errors.CATALOGUE.values() if problem in found)
