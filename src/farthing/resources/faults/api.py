"""How faults are spoken of on the wire."""

from typing import Annotated, Final

from msgspec import Meta

from farthing.core.operation import TENANT, Operation
from farthing.core.wire import Request
from farthing.resources.faults import actions
from farthing.resources.faults.model import FaultKind, FaultsView, FaultView

PATH: Final = "/v1/sandbox/faults"

MOST: Final = 1000
LONGEST: Final = 60_000


class ArmFault(Request, frozen=True, kw_only=True):
    """A fault for the next so many requests of this tenant, or for its deliveries."""

    kind: Annotated[
        FaultKind,
        Meta(
            description="`rateLimited` answers 429 and `unavailable` 503, before anything happens; "
            "`delay` keeps a request waiting; `cut` closes the connection instead of answering a "
            "write that is done. The others are for deliveries of webhooks."
        ),
    ]
    count: Annotated[
        int, Meta(ge=1, le=MOST, description="How many requests, writes or deliveries it is for.")
    ] = 1
    milliseconds: (
        Annotated[
            int,
            Meta(
                ge=1,
                le=LONGEST,
                description="How long, for the two delays only; 1000 if it is left out.",
            ),
        ]
        | None
    ) = None


OPERATIONS: Final = (
    Operation(
        id="faults.arm",
        method="POST",
        path=PATH,
        summary="Arm a fault for the next requests of this tenant",
        who=TENANT,
        command=actions.arm,
        status=201,
        body=ArmFault,
        answer=FaultView,
        body_example={"kind": "delay", "count": 3, "milliseconds": 20},
        sandbox_only=True,
    ),
    Operation(
        id="faults.list",
        method="GET",
        path=PATH,
        summary="List the faults that are armed",
        who=TENANT,
        read=actions.show,
        answer=FaultsView,
        sandbox_only=True,
    ),
    Operation(
        id="faults.clear",
        method="DELETE",
        path=PATH,
        summary="Disarm every fault",
        who=TENANT,
        command=actions.clear,
        answer=FaultsView,
        sandbox_only=True,
    ),
)
