# Written by `make client` from the operations of the service: do not edit.
"""Operations on events."""

from datetime import datetime

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._reading import EventStream, Listing
from farthing.client._sync.events_service import EventsServiceOperations
from farthing.client.models import Event, EventPage


class EventsOperations(EventsServiceOperations):
    """Events: every change of every object, in the order of the commits.

    >>> ada = client.customers.create(type="INDIVIDUAL", name="Ada")
    >>> [event.type for event in client.events.list(object_id=ada.id)]
    ['customer.created']
    >>> page = next(client.events.list(limit=1).pages())
    >>> with client.events.stream(after=page.next_cursor, type="customer.*") as stream:
    ...     event = next(stream)
    >>> event.type, event.object.name
    ('customer.created', 'Ada')
    """

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        type: str | None = None,
        object_id: str | None = None,
        from_: datetime | None = None,
        to: datetime | None = None,
    ) -> Listing[Event, EventPage]:
        """Read the log of events, oldest first.

        - `limit`: How many results at the most, over all pages; all of them by default.
        - `cursor`: The `nextCursor` of the page before. Keep it and ask again later: every event
          comes once.
        - `type`: Only events of this type; `*` stands for any text, and commas separate several,
          such as `transaction.*,card.created`.
        - `object_id`: Only events of this object.
        - `from_`: Only events of this time or later.
        - `to`: Only events before this time.
        """
        ask = Ask(
            operations.EVENTS_LIST,
            query={"cursor": cursor, "type": type, "objectId": object_id, "from": from_, "to": to},
        )
        return self._list(ask, EventPage, limit)

    def stream(
        self, *, type: str | None = None, after: str | None = None, last_event_id: str | None = None
    ) -> EventStream:
        """Be told of events as they happen.

        - `type`: Only events of this type; `*` stands for any text, and commas separate several,
          such as `transaction.*,card.created`.
        - `after`: A `nextCursor` of `GET /v1/events`, to go on from there. `Last-Event-ID`, if it
          is sent, counts instead.
        - `last_event_id`: Where another stream ended, to go on from there.
        """
        return self._follow(
            Ask(
                operations.EVENTS_STREAM,
                query={"type": type, "after": after},
                accept="text/event-stream",
                last_event_id=last_event_id,
            )
        )

    def get(self, id: str) -> Event:
        """Read one event."""
        ask = Ask(operations.EVENTS_GET, id)
        return self._send(ask, Event)
