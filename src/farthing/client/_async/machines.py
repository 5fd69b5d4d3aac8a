# Written by `make client` from the operations of the service: do not edit.
"""Operations on machines."""

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._namespaces import AsyncNamespace
from farthing.client.models import Machines


class AsyncMachinesOperations(AsyncNamespace):
    """Operations on machines."""

    async def list(self) -> Machines:
        """Read every state machine as data."""
        ask = Ask(operations.MACHINES_LIST)
        return await self._send(ask, Machines)
