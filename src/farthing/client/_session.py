"""Calls: with which credential, how often, and what their answers mean."""

import itertools
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

import msgspec

from farthing.client import _failures
from farthing.client._asks import Ask, Operation
from farthing.client._credentials import Credential
from farthing.client._model import Model
from farthing.client._retries import Retries
from farthing.client._steps import Broken, Flow, Pause, Reply, Send, send

T = TypeVar("T")

# A token with less than this left is not used any more.
_MARGIN: Final = timedelta(minutes=1)
_MOST_TOKENS: Final = 10_000
_UNAUTHENTICATED: Final = 401
_ISSUE: Final = Operation(
    "POST", "/v1/customers/{id}/tokens", "customer", "customer", takes_key=True
)


class _Token(Model, frozen=True, kw_only=True):
    """An access token as it is issued."""

    access_token: str
    expires_at: datetime

    def __repr__(self) -> str:
        return "<an access token>"


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
        return replace(self, customer=customer)

    def answer(self, ask: Ask, kind: type[T]) -> Flow[T]:
        """Call an operation and read what it answers."""
        reply = yield from self.call(ask)
        return read(reply.content, kind)

    def call(self, ask: Ask) -> Flow[Reply]:
        """Call an operation, or raise what it says instead."""
        outcome = yield from self._patiently(ask)
        if not isinstance(outcome, Reply) or not outcome.is_good:
            raise outcome.failure()
        return outcome

    def _patiently(self, ask: Ask) -> Flow[Reply | Broken]:
        for failures in itertools.count(1):
            outcome = yield from self.attempt(ask)
            if not outcome.is_passing or failures >= self.retries.attempts:
                return outcome
            yield Pause(self.retries.pause(failures, outcome.retry_after))
        raise AssertionError("unreachable")

    def attempt(self, ask: Ask, *, is_stream: bool = False) -> Flow[Reply | Broken]:
        """Send a request once; again only if the access token was worth nothing any more."""
        operation = ask.operation
        text = yield from self._credential(operation)
        outcome = yield from self._send(ask, text, is_stream=is_stream)
        customer = self._customer(operation)
        is_refused = isinstance(outcome, Reply) and outcome.status == _UNAUTHENTICATED
        if is_refused and customer is not None and text is not None:
            # Nothing was done, so that nothing can be done twice.
            self.tokens.forget(customer, text)
            text = yield from self._credential(operation)
            outcome = yield from self._send(ask, text, is_stream=is_stream)
        return outcome

    def _send(self, ask: Ask, text: str | None, *, is_stream: bool) -> Flow[Reply | Broken]:
        tenant = self.tenant if text == self.credential.text else None
        return (yield from send(Send(ask, ask.headers(text, tenant), is_stream)))

    def _customer(self, operation: Operation) -> str | None:
        """Return the customer with whose token an operation is called; None for the key itself."""
        if operation.is_open or (self.customer is None and operation.takes_key):
            return None
        if self.customer is None and self.credential.kind != "key":
            return None
        # The client is itself a customer, whose id its key says.
        return self.customer or self.credential.tenant

    def _credential(self, operation: Operation) -> Flow[str | None]:
        customer = self._customer(operation)
        if customer is None:
            return None if operation.is_open else self.credential.text
        found = self.tokens.find(customer)
        if found is not None:
            return found
        whoever_holds_the_key = replace(self, customer=None)
        reply = yield from whoever_holds_the_key.call(Ask(_ISSUE, customer))
        return self.tokens.keep(customer, read(reply.content, _Token))


def read(content: bytes, kind: type[T]) -> T:
    """Read an answer as what it should be."""
    decoded: Any = None
    fault = ""
    try:
        decoded = content if kind is bytes else msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        fault = str(error)
    if fault:
        raise _failures.UnexpectedAnswer(f"The answer is not what was agreed: {fault}.")
    return decoded  # type: ignore[no-any-return]  # decoded as this kind
