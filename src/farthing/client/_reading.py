"""What can be iterated over: collections, and the stream of events."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from typing import Any, Generic, Self, TypeVar, cast

from farthing.client._asks import Ask
from farthing.client._driving import AsyncDriver, Driver
from farthing.client._listing import pages
from farthing.client._streams import Follower
from farthing.client.models import Event

T = TypeVar("T")
P = TypeVar("P")


class Listing(Generic[T, P]):
    """A collection that is read while somebody iterates over it, page by page."""

    def __init__(self, driver: Driver, ask: Ask, kind: type[P], limit: int | None) -> None:
        self._driver, self._ask, self._kind, self._limit = driver, ask, kind, limit

    def __iter__(self) -> Iterator[T]:
        with closing(cast("Any", self.pages())) as found:
            for page in found:
                yield from page.results

    def pages(self) -> Iterator[P]:
        """Iterate over the pages as the service answers them."""
        session = self._driver.session
        return self._driver.follow(pages(session, self._ask, self._kind, self._limit))


class AsyncListing(Generic[T, P]):
    """A collection that is read while somebody iterates over it, page by page."""

    def __init__(self, driver: AsyncDriver, ask: Ask, kind: type[P], limit: int | None) -> None:
        self._driver, self._ask, self._kind, self._limit = driver, ask, kind, limit

    async def __aiter__(self) -> AsyncIterator[T]:
        async with aclosing(cast("Any", self.pages())) as found:
            async for page in found:
                for one in page.results:
                    yield one

    def pages(self) -> AsyncIterator[P]:
        """Iterate over the pages as the service answers them."""
        session = self._driver.session
        return self._driver.follow(pages(session, self._ask, self._kind, self._limit))


class EventStream:
    """Events as they happen, each once and in order, for as long as somebody iterates.

    It comes back by itself when a connection ends, and goes on where it was.
    """

    def __init__(self, driver: Driver, ask: Ask) -> None:
        self._follower = Follower(driver.session, ask)
        self._events = cast("Any", driver.follow(self._follower.flow()))

    @property
    def last_event_id(self) -> str | None:
        """How far the stream was read: `events.stream(last_event_id=...)` goes on from there."""
        return self._follower.last_event_id

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        return cast("Event", next(self._events))

    def close(self) -> None:
        """End the stream."""
        self._events.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncEventStream:
    """Events as they happen, each once and in order, for as long as somebody iterates.

    It comes back by itself when a connection ends, and goes on where it was.
    """

    def __init__(self, driver: AsyncDriver, ask: Ask) -> None:
        self._follower = Follower(driver.session, ask)
        self._events = cast("Any", driver.follow(self._follower.flow()))

    @property
    def last_event_id(self) -> str | None:
        """How far the stream was read: `events.stream(last_event_id=...)` goes on from there."""
        return self._follower.last_event_id

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        return cast("Event", await anext(self._events))

    async def aclose(self) -> None:
        """End the stream."""
        await self._events.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
