"""What the operations of one noun are called through."""

from typing import Any, TypeVar

from farthing.client._asks import Ask
from farthing.client._driving import AsyncDriver, Driver
from farthing.client._reading import AsyncEventStream, AsyncListing, EventStream, Listing

T = TypeVar("T")
P = TypeVar("P")


class Namespace:
    """The operations of one noun."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    def _send(self, ask: Ask, kind: type[T]) -> T:
        return self._driver.run(self._driver.session.answer(ask, kind))

    def _list(self, ask: Ask, kind: type[P], limit: int | None) -> Listing[Any, P]:
        return Listing(self._driver, ask, kind, limit)

    def _follow(self, ask: Ask) -> EventStream:
        return EventStream(self._driver, ask)


class AsyncNamespace:
    """The operations of one noun."""

    def __init__(self, driver: AsyncDriver) -> None:
        self._driver = driver

    async def _send(self, ask: Ask, kind: type[T]) -> T:
        return await self._driver.run(self._driver.session.answer(ask, kind))

    def _list(self, ask: Ask, kind: type[P], limit: int | None) -> AsyncListing[Any, P]:
        return AsyncListing(self._driver, ask, kind, limit)

    def _follow(self, ask: Ask) -> AsyncEventStream:
        return AsyncEventStream(self._driver, ask)
