"""The service's own PostgreSQL, with room for more clients than the service ever has."""

from typing import Any, Final

from farthing.db.embedded import EmbeddedServer
from farthing.db.embedded.programs import Programs

_ROOM: Final = "--max_connections=300"


class _Programs(Programs):
    def start(self, name: str, *arguments: str, **how: Any) -> Any:
        # Of two settings of one name the last counts.
        return super().start(name, *arguments, _ROOM, **how)


class RoomyServer(EmbeddedServer):
    """For pgbench with as many clients as the sweep has; all else is as in `farthing up`."""

    def _start_process(self, _: Programs, lock: int) -> None:
        super()._start_process(_Programs(self._cluster.account), lock)
