# Written by `make client` from the operations of the service: do not edit.
"""Models of faults."""

from farthing.client._model import Model
from farthing.client.models.words import FaultKind


class Fault(Model, frozen=True, kw_only=True):
    """A fault that is armed, and for how many more it is."""

    kind: FaultKind
    remaining: int
    milliseconds: int | None = None
    created_at: str


class Faults(Model, frozen=True, kw_only=True):
    """Every fault that is armed."""

    results: list[Fault]
