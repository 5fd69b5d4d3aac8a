"""Errors are data: one class each, its docstring the documentation, its code a literal.

Problem (RFC 9457)
├── 400 MalformedJson, MalformedId
├── 401 Unauthenticated
├── 403 Forbidden
├── 404 NotFound        405 MethodNotAllowed        406 NotAcceptable
├── 409 StateMismatch, TransitionNotAllowed, RequirementsUnresolved, InsufficientFunds,
│       AmountExceedsRemaining, BalanceLimit, BalanceNotZero, OwnerNotActive,
│       AccountNotActive, InstrumentNotUsable, DestinationFixed,
│       ControlNotApplicable, WebhookNotActive, TooManyWebhooks, RefusedByRule,
│       TooManyRules, NotReplayable, TooManyBacktests, IdempotencyInProgress
├── 413 BodyTooLarge    415 UnsupportedMediaType
├── 422 ValidationFailed, IdempotencyKeyReused
├── 429 RateLimited
├── 500 InternalError
└── 503 Unavailable
"""

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Any, ClassVar, Final

import msgspec
from msgspec import Struct

CATALOGUE: Final[dict[str, type["Problem"]]] = {}


class Fault(Struct, frozen=True):
    """One thing that is wrong in a request: where, what, and how to mend it."""

    pointer: str
    code: str
    detail: str


class Problem(Exception):
    """Something that the caller is told, and that changes nothing."""

    code: ClassVar[str]
    status: ClassVar[int]
    headers: ClassVar[dict[str, str]] = {}

    def __init_subclass__(cls, *, code: str, status: int) -> None:
        """Enter the class into the catalogue."""
        cls.code, cls.status = code, status
        if code in CATALOGUE:
            raise TypeError(f"two problems with the code {code}")
        CATALOGUE[code] = cls

    def __init__(self, detail: str, **members: object) -> None:
        super().__init__(detail)
        self.detail = detail
        self.members = members

    def body(self, request_id: str) -> dict[str, Any]:
        """Return the members of the problem document."""
        return {
            "type": f"/docs#error-{self.code}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            "requestId": request_id,
            **self.members,
        }

    def encode(self, request_id: str) -> bytes:
        """Return the problem document as JSON."""
        return msgspec.json.encode(self.body(request_id))


class MalformedJson(Problem, code="malformed_json", status=400):
    """The body is not JSON as RFC 8259 defines it."""


class MalformedId(Problem, code="malformed_id", status=400):
    """An identifier in the path does not have the form `<type>/<uuid>`."""


class Unauthenticated(Problem, code="unauthenticated", status=401):
    """`X-Token` is missing, unknown, expired, revoked, or of the other environment."""

    def __init__(
        self,
        detail: str = "No valid credential. Send an access token, or the key that this operation "
        "takes, in the X-Token header.",
    ) -> None:
        super().__init__(detail)


class Forbidden(Problem, code="forbidden", status=403):
    """The credential is valid but may not do this."""


class NotFound(Problem, code="not_found", status=404):
    """There is no such object, or it belongs to another tenant or customer."""


class MethodNotAllowed(Problem, code="method_not_allowed", status=405):
    """The address exists but does not take this method; `Allow` lists those it takes."""


class NotAcceptable(Problem, code="not_acceptable", status=406):
    """The answer cannot be had in any form that the `Accept` header admits."""


class StateMismatch(Problem, code="state_mismatch", status=409):
    """`fromStateId` differs from the state that the object is in; `currentStateId` says which."""


class TransitionNotAllowed(Problem, code="transition_not_allowed", status=409):
    """The object cannot move to this state, or not for this actor; see `allowedStateIds`."""


class RequirementsUnresolved(Problem, code="requirements_unresolved", status=409):
    """Something in `requirements` must be resolved before the object can move."""


class InsufficientFunds(Problem, code="insufficient_funds", status=409):
    """The account's available balance is less than the amount."""


class AmountExceedsRemaining(Problem, code="amount_exceeds_remaining", status=409):
    """The amount is more than what is left to move."""


class BalanceLimit(Problem, code="balance_limit", status=409):
    """The account would hold more than 9 * 10^18 of the smallest unit, and cannot."""


class OwnerNotActive(Problem, code="owner_not_active", status=409):
    """The customer's state does not allow this; enable the customer first."""


class AccountNotActive(Problem, code="account_not_active", status=409):
    """The account's state does not allow this; enable the account first."""


class InstrumentNotUsable(Problem, code="instrument_not_usable", status=409):
    """The card or bank account is not ENABLED, has expired, or was for one use; use another."""


class DestinationFixed(Problem, code="destination_fixed", status=409):
    """The destination of a bank account that was verified or closed cannot be changed."""


class BalanceNotZero(Problem, code="balance_not_zero", status=409):
    """An account with money in it, or on its way, cannot be closed."""


class ControlNotApplicable(Problem, code="control_not_applicable", status=409):
    """A control of the sandbox does not fit the object as it is; `detail` says what would."""


class WebhookNotActive(Problem, code="webhook_not_active", status=409):
    """The webhook is disabled or deleted, and this needs one that is not."""


class TooManyWebhooks(Problem, code="too_many_webhooks", status=409):
    """The tenant has as many webhooks as it may; delete one first."""


class RefusedByRule(Problem, code="refused_by_rule", status=409):
    """A rule of the client refuses this; `ruleId` names it, and `ruleCode` is the rule's own."""


class TooManyRules(Problem, code="too_many_rules", status=409):
    """As many rules are enabled as can be; disable or delete one first."""


class NotReplayable(Problem, code="not_replayable", status=409):
    """Only a rule on `transaction.create` can be run over what is stored."""


class TooManyBacktests(Problem, code="too_many_backtests", status=409):
    """As many backtests are running as can be; cancel one, or wait until one is done."""


class IdempotencyInProgress(Problem, code="idempotency_in_progress", status=409):
    """The first request with this `Idempotency-Key` is still running; repeat in a moment."""

    headers: ClassVar[dict[str, str]] = {"Retry-After": "1"}

    def __init__(self) -> None:
        super().__init__(
            "The first request with this Idempotency-Key is still running. Repeat in a moment."
        )


class BodyTooLarge(Problem, code="body_too_large", status=413):
    """The body is larger than 64 KiB."""


class UnsupportedMediaType(Problem, code="unsupported_media_type", status=415):
    """The body is not declared as `application/json`."""


class ValidationFailed(Problem, code="validation_failed", status=422):
    """Something in the request is wrong; `errors` lists everything that is, and where."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults: Sequence[Fault] = tuple(faults)
        first = self.faults[0]
        count = len(self.faults)
        more = "" if count == 1 else f" (and {count - 1} more, see errors)"
        super().__init__(f"{first.pointer}: {first.detail}{more}", errors=self.faults)


class IdempotencyKeyReused(Problem, code="idempotency_key_reused", status=422):
    """This `Idempotency-Key` came with a different request before; use a new key."""

    def __init__(self) -> None:
        super().__init__(
            "This Idempotency-Key came with a different request before. Use a new key for a "
            "new request, and the same body for a repeat."
        )


class RateLimited(Problem, code="rate_limited", status=429):
    """Too many requests; `Retry-After` says when to go on."""

    headers: ClassVar[dict[str, str]] = {"Retry-After": "1"}


class InternalError(Problem, code="internal_error", status=500):
    """A fault of the service itself, logged under the request id. Nothing was changed."""

    def __init__(self) -> None:
        super().__init__("The service failed. The request id finds the reason in its log.")


class Unavailable(Problem, code="unavailable", status=503):
    """The database or a rail is away, or too much is waiting; repeat with the same key."""

    headers: ClassVar[dict[str, str]] = {"Retry-After": "1"}
