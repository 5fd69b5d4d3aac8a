"""What can be done with faults: arm one, clear all, and let one happen."""

from collections.abc import Collection
from typing import Any

import msgspec
from msgspec import Struct

from farthing.core.errors import Fault as Mistake
from farthing.core.errors import ValidationFailed
from farthing.db.calls import Call
from farthing.db.commands import Command, Need
from farthing.db.draft import Draft
from farthing.resources.faults.model import (
    DELAYS,
    EVERY_ID,
    OF_DELIVERIES,
    REFUSALS,
    USUAL_DELAY,
    Fault,
    FaultsView,
    Mischief,
    Taken,
    id_of,
    view,
)
from farthing.resources.faults.store import FAULTS, find_armed


def arm(call: Call[Any]) -> Command:
    """Arm a fault; one of the same kind that is armed already begins anew."""
    body = call.body
    milliseconds = _milliseconds(body.kind, body.milliseconds)
    fault_id = id_of(body.kind)

    def decide(draft: Draft) -> Struct:
        old = draft.find(FAULTS, fault_id)
        fault = Fault(
            tenant_id=draft.tenant_id,
            id=fault_id,
            version=1 if old is None else old.version,
            kind=body.kind,
            remaining=body.count,
            milliseconds=milliseconds,
            created_at=draft.now,
        )
        if old is None:
            draft.insert(FAULTS, fault)
        else:
            draft.update(FAULTS, fault)
        return view(fault)

    return Command(decide, needs=[Need(FAULTS, fault_id)], status=201)


def clear(_: Call[Any]) -> Command:
    """Disarm everything."""

    def decide(draft: Draft) -> Struct:
        for fault_id in EVERY_ID.values():
            draft.remove(FAULTS, fault_id)
        return FaultsView(results=[])

    return Command(decide, needs=[Need(FAULTS, fault_id) for fault_id in EVERY_ID.values()])


async def show(call: Call[Any]) -> Struct:
    """List what is armed."""
    armed = await find_armed(call.pool, call.principal.tenant_id)
    return FaultsView(results=[view(fault) for fault in armed])


def take(kinds: Collection[str]) -> Command:
    """Let what is armed of these kinds happen to one request, and count it.

    A delay goes with anything; of the refusals only one happens. The row is locked, so that no
    two requests are counted as one, in however many processes.
    """

    def decide(draft: Draft) -> Struct:
        delay = _count(draft, "delay") if "delay" in kinds else None
        refusals = (one for one in REFUSALS if one in kinds and _count(draft, one))
        return Taken(
            milliseconds=0 if delay is None else delay.milliseconds or 0,
            refusal=next(refusals, None),
            cut="cut" in kinds and _count(draft, "cut") is not None,
        )

    return Command(decide, needs=[Need(FAULTS, EVERY_ID[kind]) for kind in sorted(kinds)])


def take_on_the_way() -> Command:
    """Let what is armed happen to one delivery, and count it."""

    def decide(draft: Draft) -> Struct:
        taken = {kind: _count(draft, kind) for kind in sorted(OF_DELIVERIES)}
        delay = taken["delayDelivery"]
        return Mischief(
            duplicate=taken["duplicateDelivery"] is not None,
            milliseconds=0 if delay is None else delay.milliseconds or 0,
            reorder=taken["reorderDelivery"] is not None,
            drop=taken["dropDelivery"] is not None,
        )

    return Command(decide, needs=[Need(FAULTS, EVERY_ID[kind]) for kind in sorted(OF_DELIVERIES)])


def _count(draft: Draft, kind: str) -> Fault | None:
    """Take one of what is left of a fault; the last one disarms it."""
    fault = draft.find(FAULTS, EVERY_ID[kind])
    if fault is None:
        return None
    if fault.remaining == 1:
        draft.remove(FAULTS, fault.id)
    else:
        draft.update(FAULTS, msgspec.structs.replace(fault, remaining=fault.remaining - 1))
    return fault


def _milliseconds(kind: str, given: int | None) -> int | None:
    if kind in DELAYS:
        return given or USUAL_DELAY
    if given is not None:
        detail = "Only a delay takes milliseconds. Leave it out."
        raise ValidationFailed([Mistake("/milliseconds", "not_applicable", detail)])
    return None
