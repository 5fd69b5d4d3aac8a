"""The sections of the reference: one per resource, in the order of the catalogue."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from farthing.catalog import OPERATIONS, RESOURCES
from farthing.core.machine import Machine
from farthing.core.operation import Operation


@dataclass(frozen=True)
class Section:
    """What belongs together: the operations of one noun, and its machine if it has states."""

    name: str
    sentence: str
    operations: Sequence[Operation]
    machine: Machine | None = None

    @property
    def title(self) -> str:
        """The name as a heading."""
        return self.name.replace("_", " ").capitalize()


def sections(
    service_operations: Sequence[Operation], known: Sequence[Operation] = OPERATIONS
) -> tuple[Section, ...]:
    """List every section of a service that knows these operations; itself comes last."""
    own = Section("service", "The service itself: its health and its rules.", service_operations)
    ids = frozenset(operation.id for operation in known)
    every = (_section(api, table, ids) for api, table, _ in RESOURCES)
    return (*(one for one in every if one.operations), own)


def _section(api: Any, table: Any, ids: frozenset[str]) -> Section:
    package = sys.modules[api.__package__]
    sentence = (package.__doc__ or "").strip()
    machine = None if table is None else table.machine
    operations = tuple(one for one in api.OPERATIONS if one.id in ids)
    return Section(package.__name__.rpartition(".")[2], sentence, operations, machine)
