# Written by `make client` from the operations of the service: do not edit.
"""Exceptions: one class for each code with which the service says no.

Each has the `problem` as the service told it, and nothing of the request.
"""

from farthing.client._failures import (
    ApiError,
    ConnectionFailed,
    FarthingError,
    FieldError,
    InvalidSignature,
    Problem,
    UnexpectedAnswer,
)

__all__ = [
    "AccountNotActive",
    "AmountExceedsRemaining",
    "ApiError",
    "BalanceLimit",
    "BalanceNotZero",
    "BodyTooLarge",
    "ConnectionFailed",
    "ControlNotApplicable",
    "DestinationFixed",
    "FarthingError",
    "FieldError",
    "Forbidden",
    "IdempotencyInProgress",
    "IdempotencyKeyReused",
    "InstrumentNotUsable",
    "InsufficientFunds",
    "InternalError",
    "InvalidSignature",
    "MalformedId",
    "MalformedJson",
    "MethodNotAllowed",
    "NotAcceptable",
    "NotFound",
    "NotReplayable",
    "OwnerNotActive",
    "Problem",
    "RateLimited",
    "RefusedByRule",
    "RequirementsUnresolved",
    "StateMismatch",
    "TooManyBacktests",
    "TooManyRules",
    "TooManyWebhooks",
    "TransitionNotAllowed",
    "Unauthenticated",
    "Unavailable",
    "UnexpectedAnswer",
    "UnsupportedMediaType",
    "ValidationFailed",
    "WebhookNotActive",
]


class MalformedJson(ApiError, code="malformed_json"):
    """The body is not JSON as RFC 8259 defines it."""


class MalformedId(ApiError, code="malformed_id"):
    """An identifier in the path does not have the form `<type>/<uuid>`."""


class Unauthenticated(ApiError, code="unauthenticated"):
    """`X-Token` is missing, unknown, expired, revoked, or of the other environment."""


class Forbidden(ApiError, code="forbidden"):
    """The credential is valid but may not do this."""


class NotFound(ApiError, code="not_found"):
    """There is no such object, or it belongs to another tenant or customer."""


class MethodNotAllowed(ApiError, code="method_not_allowed"):
    """The address exists but does not take this method; `Allow` lists those it takes."""


class NotAcceptable(ApiError, code="not_acceptable"):
    """The answer cannot be had in any form that the `Accept` header admits."""


class StateMismatch(ApiError, code="state_mismatch"):
    """`fromStateId` differs from the state that the object is in; `currentStateId` says which."""


class TransitionNotAllowed(ApiError, code="transition_not_allowed"):
    """The object cannot move to this state, or not for this actor; see `allowedStateIds`."""


class RequirementsUnresolved(ApiError, code="requirements_unresolved"):
    """Something in `requirements` must be resolved before the object can move."""


class InsufficientFunds(ApiError, code="insufficient_funds"):
    """The account's available balance is less than the amount."""


class AmountExceedsRemaining(ApiError, code="amount_exceeds_remaining"):
    """The amount is more than what is left to move."""


class BalanceLimit(ApiError, code="balance_limit"):
    """The account would hold more than 9 * 10^18 of the smallest unit, and cannot."""


class OwnerNotActive(ApiError, code="owner_not_active"):
    """The customer's state does not allow this; enable the customer first."""


class AccountNotActive(ApiError, code="account_not_active"):
    """The account's state does not allow this; enable the account first."""


class InstrumentNotUsable(ApiError, code="instrument_not_usable"):
    """The card or bank account is not ENABLED, has expired, or was for one use; use another."""


class DestinationFixed(ApiError, code="destination_fixed"):
    """The destination of a bank account that was verified or closed cannot be changed."""


class BalanceNotZero(ApiError, code="balance_not_zero"):
    """An account with money in it, or on its way, cannot be closed."""


class ControlNotApplicable(ApiError, code="control_not_applicable"):
    """A control of the sandbox does not fit the object as it is; `detail` says what would."""


class WebhookNotActive(ApiError, code="webhook_not_active"):
    """The webhook is disabled or deleted, and this needs one that is not."""


class TooManyWebhooks(ApiError, code="too_many_webhooks"):
    """The tenant has as many webhooks as it may; delete one first."""


class RefusedByRule(ApiError, code="refused_by_rule"):
    """A rule of the client refuses this; `ruleId` names it, and `ruleCode` is the rule's own."""


class TooManyRules(ApiError, code="too_many_rules"):
    """As many rules are enabled as can be; disable or delete one first."""


class NotReplayable(ApiError, code="not_replayable"):
    """Only a rule on `transaction.create` can be run over what is stored."""


class TooManyBacktests(ApiError, code="too_many_backtests"):
    """As many backtests are running as can be; cancel one, or wait until one is done."""


class IdempotencyInProgress(ApiError, code="idempotency_in_progress"):
    """The first request with this `Idempotency-Key` is still running; repeat in a moment."""


class BodyTooLarge(ApiError, code="body_too_large"):
    """The body is larger than 64 KiB."""


class UnsupportedMediaType(ApiError, code="unsupported_media_type"):
    """The body is not declared as `application/json`."""


class ValidationFailed(ApiError, code="validation_failed"):
    """Something in the request is wrong; `errors` lists everything that is, and where."""


class IdempotencyKeyReused(ApiError, code="idempotency_key_reused"):
    """This `Idempotency-Key` came with a different request before; use a new key."""


class RateLimited(ApiError, code="rate_limited"):
    """Too many requests; `Retry-After` says when to go on."""


class InternalError(ApiError, code="internal_error"):
    """A fault of the service itself, logged under the request id. Nothing was changed."""


class Unavailable(ApiError, code="unavailable"):
    """The database or a rail is away, or too much is waiting; repeat with the same key."""
