"""What the fixture gives: a tenant of its own, and everything that can happen to it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Final

import httpx2

from farthing.client import AsyncFarthing, Farthing
from farthing.client.models import Event, NewTenant
from farthing.client.models.objects import OBJECTS
from farthing.testing.numbers import Numbers
from farthing.testing.sharing import shared_server
from farthing.testing.webhooks import Inbox, Receiver

_LONGEST_NAME: Final = 200
# All but those of webhooks: that of the inbox itself would come between.
_EVENTS: Final = [f"{noun}.*" for noun in OBJECTS if noun != "webhook"]


class Clock:
    """The clock of one sandbox: it runs as always, and can be moved ahead."""

    def __init__(self, client: Farthing) -> None:
        self._client = client

    @property
    def now(self) -> datetime:
        """The time of the sandbox."""
        return datetime.fromisoformat(self._client.sandbox.clock.get().now)

    def advance(
        self, *, weeks: int = 0, days: int = 0, hours: int = 0, minutes: int = 0, seconds: int = 0
    ) -> list[Event]:
        """Let time pass, and return what happened on the way; webhooks come a moment later."""
        by = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
        if by < timedelta():
            raise ValueError("A clock does not go back.")
        moved = self._client.sandbox.clock.advance(advance=f"P{by.days}DT{by.seconds}S")
        events = [*moved.events]
        # A clock that has much to do on its way stops before its goal.
        while not moved.complete:
            moved = self._client.sandbox.clock.advance(to=datetime.fromisoformat(moved.to))
            events += moved.events
        return events


class Rail:
    """The way of money into and out of one sandbox; a mood lasts until another takes its place."""

    def __init__(self, client: Farthing) -> None:
        self._client = client

    def fail_next(self, count: int = 1) -> None:
        """Refuse the next charge, payout or refund, or the next few, and be as always otherwise."""
        self._client.sandbox.rail.change(mood="normal", refuse=count)

    def slow(self, seconds: int = 1, *, requests: int | None = None) -> None:
        """Do what it is told, and answer some seconds later."""
        self._client.sandbox.rail.change(mood="slow", seconds=seconds, requests=requests)

    def down(self, *, requests: int | None = None) -> None:
        """Answer nothing: payments are ERRORED until the rail is back and was asked."""
        self._client.sandbox.rail.change(mood="down", requests=requests)

    def forgetful(self, *, requests: int | None = None) -> None:
        """Take orders and then never have heard of them, so that they are sent again."""
        self._client.sandbox.rail.change(mood="forgetful", requests=requests)

    def normal(self) -> None:
        """Be as always again."""
        self._client.sandbox.rail.change(mood="normal")


@dataclass(frozen=True)
class Sandbox:
    """A sandbox for one test, which is thrown away after it.

    `client` has the tenant's API key. `webhooks` gets every event but those of webhooks. Whatever
    can happen outside is in `client.sandbox`, such as `client.sandbox.transactions.dispute(...)`.
    """

    url: str
    tenant: NewTenant
    client: Farthing
    clock: Clock
    rail: Rail
    webhooks: Inbox
    numbers: type[Numbers] = Numbers

    @property
    def api_key(self) -> str:
        """The tenant's API key, for a client of your own at `url`."""
        return self.tenant.api_key

    @cached_property
    def async_client(self) -> AsyncFarthing:
        """The same client to await; it belongs to no event loop, and need not be closed."""
        limits = httpx2.Limits(max_keepalive_connections=0)
        transport = httpx2.AsyncHTTPTransport(verify=False, limits=limits)
        return AsyncFarthing(self.api_key, base_url=self.url, transport=transport)


@dataclass(frozen=True)
class Server:
    """The server of the test run, as one of its processes sees it."""

    url: str
    operator: Farthing
    receiver: Receiver

    @contextmanager
    def open_sandbox(self, name: str) -> Iterator[Sandbox]:
        """Give a fresh tenant, and throw it away."""
        tenant = self.operator.sandbox.tenants.create(name=name[:_LONGEST_NAME])
        try:
            with self._furnish(tenant) as sandbox:
                yield sandbox
        finally:
            self.operator.sandbox.tenants.delete(tenant.id)

    @contextmanager
    def _furnish(self, tenant: NewTenant) -> Iterator[Sandbox]:
        with self.receiver.open_inbox() as inbox, _open_client(tenant.api_key, self.url) as client:
            with inbox.being_registered():
                inbox.secret = client.webhooks.create(url=inbox.url, events=_EVENTS).secret
            yield Sandbox(self.url, tenant, client, Clock(client), Rail(client), inbox)


@contextmanager
def open_server(folder: Path) -> Iterator[Server]:
    """Give the server of the test run whose folder this is."""
    with ExitStack() as stack:
        running = stack.enter_context(shared_server(folder))
        operator = stack.enter_context(_open_client(running.operator_key, running.base_url))
        receiver = stack.enter_context(Receiver())
        yield Server(running.base_url, operator, receiver)


def _open_client(key: str, url: str) -> Farthing:
    # No certificates are read, and no proxy of the environment is asked: it is this machine.
    return Farthing(key, base_url=url, transport=httpx2.HTTPTransport(verify=False))
