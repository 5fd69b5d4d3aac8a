# Written by `make client` from the operations of the service: do not edit.
"""Operations on machines."""

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._namespaces import Namespace
from farthing.client.models import Machines


class MachinesOperations(Namespace):
    """Operations on machines.

    >>> [one.noun for one in client.machines.list().results if "DISPUTED" in one.states]
    ['transaction']
    """

    def list(self) -> Machines:
        """Read every state machine as data."""
        ask = Ask(operations.MACHINES_LIST)
        return self._send(ask, Machines)
