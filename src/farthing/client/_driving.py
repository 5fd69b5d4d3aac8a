"""Running flows: one driver that waits, and one that awaits. Nothing is decided here."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import httpx2

from farthing.client._session import Session
from farthing.client._steps import Broken, Flow, Found, Outcome, Pause, Reply, Send, Step, Take

T = TypeVar("T")

_DONE: Final = 200
# The service gives a sign of life every 15 seconds on a stream.
_LONGEST_SILENCE: Final = 45.0


@dataclass
class Driver:
    """Runs flows for one client, and waits."""

    session: Session
    http: httpx2.Client = field(repr=False)

    def run(self, flow: Flow[T]) -> T:
        """Run a flow to its end."""
        with closing(_Line(self)) as line, closing(flow):
            outcome: Outcome = None
            while True:
                try:
                    step = flow.send(outcome)
                except StopIteration as end:
                    return end.value  # type: ignore[no-any-return]  # what the flow returns
                outcome = line.do(step)

    def follow(self, flow: Flow[None]) -> Iterator[Any]:
        """Run a flow for as long as somebody takes what it finds."""
        with closing(_Line(self)) as line, closing(flow):
            step = next(flow, None)
            while step is not None:
                if isinstance(step, Found):
                    yield step.value
                step = _next(flow, line.do(step))


class _Line:
    """The way of one flow to the service; it holds the stream that the flow has open."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._parts: Iterator[bytes] = iter(())
        self._open: httpx2.Response | None = None

    def do(self, step: Step) -> Outcome:
        """Do one step; what goes wrong on the way is an outcome too."""
        try:
            return self._do(step)
        except httpx2.RequestError as error:
            return _broken(error, self._driver.session)

    def _do(self, step: Step) -> Outcome:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        if isinstance(step, Take):
            return next(self._parts, None)
        return self._send(step) if isinstance(step, Send) else None

    def _send(self, step: Send) -> Reply:
        self.close()
        http = self._driver.http
        response = http.send(_request(http, self._driver.session, step), stream=True)
        if step.is_stream and response.status_code == _DONE:
            self._open, self._parts = response, response.iter_bytes()
            return Reply(_DONE, response.headers, b"")
        with closing(response):
            return Reply(response.status_code, response.headers, response.read())

    def close(self) -> None:
        """Close the stream that is open, if there is one."""
        response, self._open = self._open, None
        if response is not None:
            response.close()


@dataclass
class AsyncDriver:
    """Runs flows for one client, and awaits."""

    session: Session
    http: httpx2.AsyncClient = field(repr=False)

    async def run(self, flow: Flow[T]) -> T:
        """Run a flow to its end."""
        async with aclosing(_AsyncLine(self)) as line:
            with closing(flow):
                outcome: Outcome = None
                while True:
                    try:
                        step = flow.send(outcome)
                    except StopIteration as end:
                        return end.value  # type: ignore[no-any-return]  # what the flow returns
                    outcome = await line.do(step)

    async def follow(self, flow: Flow[None]) -> AsyncIterator[Any]:
        """Run a flow for as long as somebody takes what it finds."""
        async with aclosing(_AsyncLine(self)) as line:
            with closing(flow):
                step = next(flow, None)
                while step is not None:
                    if isinstance(step, Found):
                        yield step.value
                    step = _next(flow, await line.do(step))


class _AsyncLine:
    """The way of one flow to the service; it holds the stream that the flow has open."""

    def __init__(self, driver: AsyncDriver) -> None:
        self._driver = driver
        self._parts: AsyncIterator[bytes] | None = None
        self._open: httpx2.Response | None = None

    async def do(self, step: Step) -> Outcome:
        """Do one step; what goes wrong on the way is an outcome too."""
        try:
            return await self._do(step)
        except httpx2.RequestError as error:
            return _broken(error, self._driver.session)

    async def _do(self, step: Step) -> Outcome:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        if isinstance(step, Take):
            return None if self._parts is None else await anext(self._parts, None)
        return await self._send(step) if isinstance(step, Send) else None

    async def _send(self, step: Send) -> Reply:
        await self.aclose()
        http = self._driver.http
        response = await http.send(_request(http, self._driver.session, step), stream=True)
        if step.is_stream and response.status_code == _DONE:
            self._open, self._parts = response, response.aiter_bytes()
            return Reply(_DONE, response.headers, b"")
        async with aclosing(response):
            return Reply(response.status_code, response.headers, await response.aread())

    async def aclose(self) -> None:
        """Close the stream that is open, if there is one."""
        response, self._open = self._open, None
        if response is not None:
            await response.aclose()


def _next(flow: Flow[None], outcome: Outcome) -> Step | None:
    try:
        return flow.send(outcome)
    except StopIteration:
        return None


def _request(
    http: httpx2.Client | httpx2.AsyncClient, session: Session, step: Send
) -> httpx2.Request:
    timeout = http.timeout
    if step.is_stream:
        timeout = httpx2.Timeout(timeout.connect, read=_LONGEST_SILENCE)
    return http.build_request(
        step.ask.operation.method,
        session.base_url + step.ask.target,
        headers=dict(step.headers),
        content=step.ask.content(),
        timeout=timeout,
    )


def _broken(error: httpx2.RequestError, session: Session) -> Broken:
    # The error itself holds the request and its body, so it goes no further. Only what happened
    # before anything was sent may say more than its kind.
    more = f", {error}" if isinstance(error, httpx2.ConnectError) else ""
    return Broken(f"{type(error).__name__} at {session.base_url}{more}")
