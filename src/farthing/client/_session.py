"""Calls: with which credential, how often, and what their answers mean."""

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

import msgspec

from farthing.client import _failures
from farthing.client._asks import Ask, Operation, check_identifier
from farthing.client._credentials import Credential
from farthing.client._model import Secret
from farthing.client._retries import Retries
from farthing.client._steps import Broken, Flow, Pause, Reply, Send, send

T = TypeVar("T")

# A token with less than this left is not used any more.
_MARGIN: Final = timedelta(minutes=1)
_MOST_TOKENS: Final = 10_000
_UNAUTHENTICATED: Final = 401
# No pause counts for less, so that waiting has an end.
_LEAST_WAIT: Final = 0.1
_ISSUE: Final = Operation(
    "POST", "/v1/customers/{id}/tokens", "customer", "customer", takes_key=True
)


class _Token(Secret, frozen=True, kw_only=True):
    """An access token as it is issued."""

    access_token: str
    expires_at: datetime


@dataclass(frozen=True)
class Tokens:
    """The access tokens that are good, by customer; all clients of one key share them."""

    _kept: OrderedDict[str, _Token] = field(default_factory=OrderedDict)

    def find(self, customer: str) -> str | None:
        """Return a token that will be good for a while."""
        token = self._kept.get(customer)
        # In a sandbox whose clock is ahead this comes too late, and a 401 says so first.
        if token is None or token.expires_at < datetime.now(UTC) + _MARGIN:
            return None
        return token.access_token

    def keep(self, customer: str, token: _Token) -> str:
        """Keep a token."""
        self._kept[customer] = token
        if len(self._kept) > _MOST_TOKENS:
            self._kept.popitem(last=False)
        return token.access_token

    def forget(self, customer: str, text: str) -> None:
        """Forget a token that is worth nothing, unless somebody got another meanwhile."""
        token = self._kept.get(customer)
        if token is not None and token.access_token == text:
            self._kept.pop(customer, None)


@dataclass(frozen=True)
class Session:
    """Who calls where, and how patiently."""

    base_url: str
    credential: Credential
    retries: Retries
    tenant: str | None = None
    customer: str | None = None
    tokens: Tokens = field(default_factory=Tokens, repr=False)

    def for_customer(self, customer: str) -> "Session":
        """Return the session of a customer."""
        if self.credential.kind == "token":
            raise ValueError("An access token is of one customer already; use the API key.")
        check_identifier("customer", customer)
        return replace(self, customer=customer)

    def answer(self, ask: Ask, kind: type[T]) -> Flow[T]:
        """Call an operation and read what it answers."""
        reply = yield from self.call(ask)
        return read(reply.content, kind)

    def call(self, ask: Ask) -> Flow[Reply]:
        """Call an operation, or raise what it says instead."""
        outcome = yield from self._patiently(ask)
        if not isinstance(outcome, Reply) or not outcome.is_good:
            failure = outcome.failure()
            failure.idempotency_key = ask.key
            raise failure
        return outcome

    def _patiently(self, ask: Ask) -> Flow[Reply | Broken]:
        failures, waited = 0, 0.0
        while True:
            outcome = yield from self.attempt(ask)
            # That the first request still runs is no failure of this one.
            if isinstance(outcome, Reply) and outcome.is_in_progress:
                is_over = waited >= self.retries.patience
            else:
                failures += 1
                is_over = not outcome.is_passing or failures >= self.retries.attempts
            if is_over:
                return outcome
            pause = self.retries.pause(max(failures, 1), outcome.retry_after)
            waited += max(pause, _LEAST_WAIT)
            yield Pause(pause)

    def attempt(self, ask: Ask, *, is_stream: bool = False) -> Flow[Reply | Broken]:
        """Send a request once; again only if the access token was worth nothing any more."""
        outcome: Reply | Broken = Broken("no access token")
        for _ in range(2):
            text = yield from self._credential(ask.operation)
            if isinstance(text, Reply | Broken):
                return text
            tenant = self.tenant if text == self.credential.text else None
            step = Send(ask, ask.headers(text, tenant), is_stream)
            outcome = yield from send(step)
            customer = self._customer(ask.operation)
            is_refused = isinstance(outcome, Reply) and outcome.status == _UNAUTHENTICATED
            if not is_refused or customer is None or text is None:
                return outcome
            # Nothing was done, so that nothing can be done twice.
            self.tokens.forget(customer, text)
        return outcome

    def _customer(self, operation: Operation) -> str | None:
        """Return the customer with whose token an operation is called; None for the key itself."""
        if operation.is_open or (self.customer is None and operation.takes_key):
            return None
        if self.customer is None and self.credential.kind != "key":
            return None
        # The client is itself a customer, whose id its key says.
        return self.customer or self.credential.tenant

    def _credential(self, operation: Operation) -> Flow[str | Reply | Broken | None]:
        """Return the credential for an operation, or what came instead of a new one."""
        customer = self._customer(operation)
        if customer is None:
            return None if operation.is_open else self.credential.text
        found = self.tokens.find(customer)
        if found is not None:
            return found
        # Whoever called is patient already.
        whoever_holds_the_key = replace(self, customer=None)
        outcome = yield from whoever_holds_the_key.attempt(Ask(_ISSUE, customer))
        if not isinstance(outcome, Reply) or not outcome.is_good:
            return outcome
        return self.tokens.keep(customer, read(outcome.content, _Token))


def read(content: bytes, kind: type[T]) -> T:
    """Read an answer as what it should be."""
    decoded: Any = None
    fault = ""
    try:
        decoded = content if kind is bytes else msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        fault = str(error)
    if fault:
        # There can be a credential in it, and a traceback can show locals.
        del content
        raise _failures.UnexpectedAnswer(f"The answer is not what was agreed: {fault}.")
    return decoded  # type: ignore[no-any-return]  # decoded as this kind
