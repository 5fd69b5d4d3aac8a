"""What can be done with events: read them page by page, one by one, or as they happen."""

import asyncio
import itertools
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Final
from uuid import UUID

from msgspec import Struct

from farthing.core import ids
from farthing.core.errors import Fault, NotFound, ValidationFailed
from farthing.db.bell import Bell
from farthing.db.calls import Call
from farthing.db.pool import Pool
from farthing.resources.events import model, store
from farthing.resources.events.model import NOUN, Event, EventPage, EventTypes, EventView
from farthing.resources.events.store import Wanted

HEARTBEAT_SECONDS: Final = 15.0

# How many events a feed reads at once, and how many bytes it remembers for those who are a little
# behind.
_AT_ONCE: Final = 200
_MOST_BYTES: Final = 1024 * 1024

_RETRY: Final = b"retry: 1000\n"
_HEARTBEAT: Final = b": still here\n\n"


async def list_page(call: Call[Any]) -> EventPage:
    """Read a page of the log in its order."""
    query, tenant_id, pool = call.body, call.principal.tenant_id, call.pool
    wanted = _wanted(call)
    head = await store.find_head(pool, tenant_id)
    after = 0 if query.cursor is None else _read_cursor(call, "?cursor", query.cursor, head)
    last = head
    if query.from_ is not None:
        after = max(after, await store.find_last_before(pool, tenant_id, query.from_))
    if query.to is not None:
        last = min(last, await store.find_last_before(pool, tenant_id, query.to))
    events: list[Event] = []
    place = after
    if after < last:
        events, place = await store.fetch_within(pool, tenant_id, wanted, after, last, query.limit)
    return EventPage(
        results=[model.view(event) for event in events],
        next_cursor=model.say_cursor(tenant_id, place),
        has_more=place < last,
    )


async def read_one(call: Call[Any]) -> EventView:
    """Read one event."""
    tenant_id = call.principal.tenant_id
    position = model.position_of(tenant_id, call.id)
    event = None if position is None else await store.find(call.pool, tenant_id, position)
    if event is None:
        raise NotFound("There is no such event.")
    return model.view(event)


async def follow(call: Call[Any]) -> AsyncIterator[bytes]:
    """Server-sent events: `id` is the identifier of an event, `event` its type, `data` the event.

    The first block says only an `id`: from where on the stream tells everything. Whoever comes back
    with the last `id` in `Last-Event-ID`, or with a cursor in `after`, misses nothing and gets
    nothing twice; others start at the present end of the log. A comment comes every 15 seconds if
    nothing else does. A reader who takes nothing for 10 seconds is dropped, and can come back.
    """
    wanted, tenant_id = _wanted(call), call.principal.tenant_id
    head = await store.find_head(call.pool, tenant_id)
    place = head
    if call.last_event_id:
        place = _read_last_event_id(call, call.last_event_id, head)
    elif call.body.after is not None:
        place = _read_cursor(call, "?after", call.body.after, head)
    return _follow(call.part(Feeds).of(tenant_id, head), tenant_id, wanted.types, place)


async def _follow(
    joined: AbstractContextManager["Feed"], tenant_id: UUID, types: list[str] | None, place: int
) -> AsyncIterator[bytes]:
    yield _RETRY + _say_place(tenant_id, place)
    told = place
    with joined as feed:
        while True:
            news = feed.news
            frames = await feed.after(place)
            for frame in frames:
                place = frame.position
                if types is None or frame.type in types:
                    told = place
                    yield frame.text
            if not frames and not await _rings(news):
                # Also who wants few types learns how far the log has been looked through.
                yield _HEARTBEAT if told == place else _say_place(tenant_id, place)
                told = place


async def _rings(news: asyncio.Event) -> bool:
    """Wait for news; tell whether there were any before the next sign of life is due."""
    try:
        async with asyncio.timeout(HEARTBEAT_SECONDS):
            return await news.wait()
    except TimeoutError:
        return False


class Frame(Struct, frozen=True):
    """An event as it is sent in a stream."""

    position: int
    type: str
    text: bytes

    @classmethod
    def of(cls, event: Event) -> "Frame":
        """Write an event."""
        identifier = ids.say(NOUN, model.identify(event.tenant_id, event.position))
        head = f"id: {identifier}\nevent: {event.type}\ndata: ".encode()
        return cls(event.position, event.type, head + model.write(event) + b"\n\n")


class Feed:
    """The end of one tenant's log, read once for all who follow it."""

    def __init__(self, pool: Pool, tenant_id: UUID, head: int) -> None:
        self._pool = pool
        self._tenant_id = tenant_id
        self._end = head
        self._frames: deque[Frame] = deque()
        self._bytes = 0
        # There may be more than was read: from the start, because commits do not wait for readers.
        self._is_stale = True
        self._reading = asyncio.Lock()
        self.news = asyncio.Event()
        self.readers = 0

    def ring(self) -> None:
        """Wake everybody who waits; whoever waits next waits for the next ring."""
        self._is_stale = True
        self.news.set()
        self.news = asyncio.Event()

    async def after(self, place: int) -> list[Frame]:
        """Return what comes after a place, as far as it is known, and not too much at once."""
        async with self._reading:
            if self._is_stale:
                await self._read_on()
        oldest = self._frames[0].position if self._frames else self._end + 1
        if place + 1 >= oldest:
            begin = place + 1 - oldest
            return list(itertools.islice(self._frames, begin, begin + _AT_ONCE))
        # Who is far behind reads alone, and holds up nobody.
        events = await store.fetch_after(self._pool, self._tenant_id, place, _AT_ONCE)
        return [Frame.of(event) for event in events]

    async def _read_on(self) -> None:
        self._is_stale = False
        try:
            found = await store.fetch_after(self._pool, self._tenant_id, self._end, _AT_ONCE)
        except BaseException:
            self._is_stale = True
            raise
        self._remember([Frame.of(event) for event in found])
        self._end += len(found)
        self._is_stale |= len(found) == _AT_ONCE

    def _remember(self, frames: list[Frame]) -> None:
        self._frames.extend(frames)
        self._bytes += sum(len(frame.text) for frame in frames)
        while self._bytes > _MOST_BYTES:
            self._bytes -= len(self._frames.popleft().text)


class Feeds:
    """The feeds that are read in this process: one for all readers of a tenant."""

    def __init__(self, pool: Pool, bell: Bell) -> None:
        self._pool = pool
        self._bell = bell
        self._open: dict[UUID, tuple[Feed, ExitStack]] = {}

    @contextmanager
    def of(self, tenant_id: UUID, head: int) -> Iterator[Feed]:
        """Join the feed of a tenant; whoever opens it has just seen the head of the log."""
        if tenant_id not in self._open:
            feed, watch = Feed(self._pool, tenant_id, head), ExitStack()
            watch.enter_context(self._bell.watch(tenant_id, feed.ring))
            self._open[tenant_id] = feed, watch
        feed, watch = self._open[tenant_id]
        feed.readers += 1
        try:
            yield feed
        finally:
            feed.readers -= 1
            if not feed.readers:
                del self._open[tenant_id]
                watch.close()


def _wanted(call: Call[Any]) -> Wanted:
    """Return what a query asks for, or say what of it cannot be."""
    types, noun, object_id = call.part(EventTypes), None, None
    names = None if call.body.type is None else types.named_by(call.body.type)
    if (named := getattr(call.body, "object_id", None)) is not None:
        noun, object_id = named.partition("/")[0], ids.take(named)
        if noun not in types.nouns:
            detail = f"Must be the identifier of one of: {', '.join(types.nouns)}."
            raise ValidationFailed([Fault("?objectId", "unknown_noun", detail)])
    return Wanted(types=names, noun=noun, object_id=object_id)


def _read_cursor(call: Call[Any], pointer: str, cursor: str, head: int) -> int:
    place = model.read_cursor(call.principal.tenant_id, cursor)
    return _check_place(pointer, place, head)


def _read_last_event_id(call: Call[Any], text: str, head: int) -> int:
    identifier = ids.read(NOUN, text)
    place = None if identifier is None else model.place_of(call.principal.tenant_id, identifier)
    return _check_place("Last-Event-ID", place, head)


def _check_place(pointer: str, place: int | None, head: int) -> int:
    """Refuse a place that this log does not have: to wait there would be to miss events."""
    if place is None or place > head:
        detail = "Is of no place in this log. Leave it out to begin anew."
        raise ValidationFailed([Fault(pointer, "unknown_cursor", detail)])
    return place


def _say_place(tenant_id: UUID, place: int) -> bytes:
    return f"id: {ids.say(NOUN, model.identify(tenant_id, place))}\n\n".encode()
