"""What can go wrong with a call.

FarthingError
├── ApiError             the service said no; one class for each code, in `farthing.client.errors`
├── ConnectionFailed     no answer came, after every attempt
├── UnexpectedAnswer     an answer came that is none of Farthing
└── InvalidSignature     a webhook was not signed by the service
"""

from typing import Any, ClassVar, Final

from msgspec import Struct


class FieldError(Struct, frozen=True):
    """One thing that is wrong in a request: where, what, and how to mend it."""

    pointer: str
    code: str
    detail: str


class Problem(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What the service says when it says no, as RFC 9457 has it."""

    type: str = ""
    title: str = ""
    status: int
    detail: str
    code: str
    request_id: str = ""
    errors: list[FieldError] = []
    current_state_id: str | None = None
    allowed_state_ids: list[str] | None = None
    # Of a rule that refuses: which one it is, and what it says of itself.
    rule_id: str | None = None
    rule_code: str | None = None


class FarthingError(Exception):
    """Anything that this client raises because a call did not work.

    `idempotency_key` is that of the write, drawn or given: with it the same call can be made again,
    and is done once.
    """

    idempotency_key: str | None = None


BY_CODE: Final[dict[str, type["ApiError"]]] = {}


class ApiError(FarthingError):
    """The service said no, and `problem` says why; nothing of the request is kept here."""

    code: ClassVar[str] = ""

    def __init_subclass__(cls, *, code: str, **more: Any) -> None:
        """Enter the class under its code."""
        super().__init_subclass__(**more)
        cls.code = code
        BY_CODE[code] = cls

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        told = self.problem
        return f"{told.code}: {told.detail} (request {told.request_id})"


class ConnectionFailed(FarthingError):
    """No answer came, after every attempt. A write may have been done: repeat it with its key."""


class UnexpectedAnswer(FarthingError):
    """Something answered that is not Farthing, or is a much later one."""


class InvalidSignature(FarthingError):
    """A webhook was not signed by the service with this secret, or too long ago."""


for _public in (
    *(ApiError, ConnectionFailed, FarthingError, FieldError),
    *(InvalidSignature, Problem, UnexpectedAnswer),
):
    # A traceback names them as they are imported.
    _public.__module__ = "farthing.client.errors"


def of(problem: Problem) -> ApiError:
    """Return the exception for a problem; a code that is newer than this client has no class."""
    return BY_CODE.get(problem.code, ApiError)(problem)
