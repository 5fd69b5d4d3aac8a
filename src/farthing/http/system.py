"""What the service says of itself: its status, its machines, its health."""

import asyncio
from datetime import timedelta
from typing import Any, Final, Literal

import structlog
from msgspec import Struct

from farthing import __version__
from farthing.catalog import MACHINES
from farthing.core.machine import Machine
from farthing.core.operation import OPEN, TENANT, Operation
from farthing.core.wire import View
from farthing.db.calls import Call
from farthing.db.migrate import MigrationError, require_current
from farthing.db.pool import AWAY
from farthing.http.event_types import EventTypesView, describe_events
from farthing.http.service import Service

Health = Literal["ok", "degraded", "down"]

# A worker that has not been seen for this long is taken for gone.
WORKER_PATIENCE: Final = timedelta(seconds=20)
_PROBE_SECONDS: Final = 2.0

_WORKER_SEEN: Final = "SELECT now() - max(seen_at) FROM heartbeats"

log = structlog.get_logger()


class Component(View, frozen=True, kw_only=True):
    """The health of one part."""

    status: Health
    detail: str | None = None


class StatusView(View, frozen=True, kw_only=True):
    """The health of the service, part by part."""

    status: Health
    environment: str
    version: str
    components: dict[str, Component]


class StepDescription(View, frozen=True, kw_only=True):
    """One row of a state machine."""

    from_state_id: str
    to_state_id: str
    who: list[str]
    why: str
    condition: str | None = None
    effect: str | None = None


class MachineView(View, frozen=True, kw_only=True):
    """One state machine as data."""

    noun: str
    states: list[str]
    initial_state_id: str
    transitions: list[StepDescription]


class MachinesView(View, frozen=True, kw_only=True):
    """Every state machine of the service."""

    results: list[MachineView]


def operations(service: Service) -> tuple[Operation, ...]:
    """Return the operations that speak of the service itself."""

    async def status(_: Call[Any]) -> Struct:
        return await read_status(service)

    async def machines(_: Call[Any]) -> Struct:
        return MachinesView(results=[describe(machine) for machine in MACHINES])

    async def event_types(_: Call[Any]) -> Struct:
        return describe_events()

    return (
        Operation(
            id="status.get",
            method="GET",
            path="/v1/status",
            summary="Read the health of the service, part by part",
            who=OPEN,
            read=status,
            answer=StatusView,
        ),
        Operation(
            id="events.schemas",
            method="GET",
            path="/v1/events/schemas",
            summary="Read every type of event with its JSON Schema",
            who=TENANT,
            read=event_types,
            answer=EventTypesView,
        ),
        Operation(
            id="machines.list",
            method="GET",
            path="/v1/machines",
            summary="Read every state machine as data",
            who=OPEN,
            read=machines,
            answer=MachinesView,
        ),
    )


async def read_status(service: Service) -> StatusView:
    """Look at every part; the whole is as healthy as its least healthy part."""
    components = {
        "api": Component(status="ok"),
        "database": await _database(service),
        "worker": await _worker(service),
        "commitPath": _commit_path(service),
    }
    found = {component.status for component in components.values()}
    worst: Health = "down" if "down" in found else "degraded" if "degraded" in found else "ok"
    return StatusView(
        status=worst,
        environment=service.settings.environment,
        version=__version__,
        components=components,
    )


async def is_ready(service: Service) -> bool:
    """Tell whether requests can be answered: the database is there and up to date."""
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            await require_current(service.pool)
    except (*AWAY, MigrationError):
        return False
    return True


def describe(machine: Machine) -> MachineView:
    """Show a machine as data."""
    return MachineView(
        noun=machine.noun,
        states=list(machine.states),
        initial_state_id=machine.initial,
        transitions=[
            StepDescription(
                from_state_id=row.source,
                to_state_id=row.target,
                who=sorted(row.who),
                why=row.why,
                condition=row.condition,
                effect=row.consequence,
            )
            for row in machine.table
        ],
    )


async def _database(service: Service) -> Component:
    if await is_ready(service):
        return Component(status="ok")
    return Component(status="down", detail="The database does not answer, or is not up to date.")


async def _worker(service: Service) -> Component:
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            silence = await service.pool.fetchval(_WORKER_SEEN)
    except AWAY:
        return Component(status="down", detail="Unknown, because the database does not answer.")
    if silence is None or silence > WORKER_PATIENCE:
        return Component(status="degraded", detail="No worker is running: `farthing worker`.")
    return Component(status="ok")


def _commit_path(service: Service) -> Component:
    waiting = service.committer.waiting
    # One tenant alone can hold no more than half.
    if waiting >= service.settings.queue_size // 2:
        return Component(status="degraded", detail="The queue is full for whoever fills it.")
    return Component(status="ok", detail=f"{waiting} commands wait.")
