"""What a fault is: something that goes wrong for the next so many requests of one tenant."""

from datetime import datetime
from typing import Final, Literal, cast, get_args
from uuid import UUID, uuid5

from msgspec import Struct

from farthing.core.clock import say_time
from farthing.core.rows import VersionedRow
from farthing.core.wire import View

FaultKind = Literal[
    "rateLimited",
    "unavailable",
    "delay",
    "cut",
    "duplicateDelivery",
    "delayDelivery",
    "reorderDelivery",
    "dropDelivery",
]
Refusal = Literal["rateLimited", "unavailable"]

# Of two that are armed, the first refuses.
REFUSALS: Final[tuple[Refusal, ...]] = get_args(Refusal)
# The others are for the worker, who delivers.
OF_REQUESTS: Final = frozenset({*REFUSALS, "delay", "cut"})
OF_DELIVERIES: Final = frozenset(get_args(FaultKind)) - OF_REQUESTS
DELAYS: Final = frozenset({"delay", "delayDelivery"})
USUAL_DELAY: Final = 1000

_NAMESPACE: Final = UUID("0190a1b2-c3d4-7e5f-8a9b-fa0175fa0175")


class Fault(VersionedRow, frozen=True):
    """A fault that is armed; each tenant has at most one of a kind."""

    kind: str
    remaining: int
    milliseconds: int | None
    created_at: datetime


class FaultView(View, frozen=True, kw_only=True):
    """A fault that is armed, and for how many more it is."""

    kind: FaultKind
    remaining: int
    milliseconds: int | None = None
    created_at: str


class FaultsView(View, frozen=True, kw_only=True):
    """Every fault that is armed."""

    results: list[FaultView]


class Mischief(Struct, frozen=True):
    """What happens to one delivery."""

    duplicate: bool = False
    milliseconds: int = 0
    reorder: bool = False
    drop: bool = False


class Taken(Struct, frozen=True):
    """What happens to one request."""

    milliseconds: int = 0
    refusal: Refusal | None = None
    cut: bool = False


def id_of(kind: str) -> UUID:
    """Return the id of the one fault of a kind, which is the same in each tenant."""
    return uuid5(_NAMESPACE, kind)


EVERY_ID: Final = {kind: id_of(kind) for kind in get_args(FaultKind)}


def view(fault: Fault) -> FaultView:
    """Show a fault."""
    return FaultView(
        kind=cast("FaultKind", fault.kind),
        remaining=fault.remaining,
        milliseconds=fault.milliseconds,
        created_at=say_time(fault.created_at),
    )
