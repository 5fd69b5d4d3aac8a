# Written by `make client` from the operations of the service: do not edit.
"""Operations on service."""

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._namespaces import Namespace
from farthing.client.models import EventTypes


class EventsServiceOperations(Namespace):
    """Operations on service."""

    def schemas(self) -> EventTypes:
        """Read every type of event with its JSON Schema."""
        ask = Ask(operations.EVENTS_SCHEMAS)
        return self._send(ask, EventTypes)
