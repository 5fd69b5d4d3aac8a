# Written by `make client` from the operations of the service: do not edit.
"""Operations on status."""

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._namespaces import Namespace
from farthing.client.models import ServiceStatus


class StatusOperations(Namespace):
    """Operations on status.

    >>> client.status.get().environment
    'sandbox'
    """

    def get(self) -> ServiceStatus:
        """Read the health of the service, part by part."""
        ask = Ask(operations.STATUS_GET)
        return self._send(ask, ServiceStatus)
