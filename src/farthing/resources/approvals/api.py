"""How approvals are spoken of on the wire."""

from typing import Annotated, Final

from msgspec import Meta

from farthing.core import errors
from farthing.core.fields import Reason, identifier
from farthing.core.operation import TENANT, Operation
from farthing.core.wire import ListQuery, Page, Request
from farthing.db.patterns import reading
from farthing.resources.approvals import actions
from farthing.resources.approvals.model import NOUN, ApprovalState, ApprovalView
from farthing.resources.approvals.store import APPROVALS

PATH: Final = "/v1/approvals"
ONE: Final = "/v1/approvals/{id}"

RuleId = Annotated[str, identifier("rule")]
WaitingId = Annotated[str, identifier(f"({'|'.join(actions.WAITING)})")]


class Approve(Request, frozen=True, kw_only=True):
    """A yes."""

    reason: Annotated[Reason, Meta(description="Why; kept in the history.")] | None = None


class Reject(Request, frozen=True, kw_only=True):
    """A no."""

    reason: Annotated[Reason, Meta(description="Why; kept in the history.")]


class ApprovalQuery(ListQuery, frozen=True, kw_only=True):
    """Which approvals to list."""

    state_id: ApprovalState | None = None
    object_id: Annotated[WaitingId, Meta(description="Only those of this object.")] | None = None
    rule_id: Annotated[RuleId, Meta(description="Only those that this rule wants.")] | None = None


class ApprovalPage(Page, frozen=True, kw_only=True):
    """One page of approvals."""

    results: list[ApprovalView]


OPERATIONS: Final = (
    Operation(
        id="approvals.approve",
        method="POST",
        path=f"{ONE}/approve",
        summary="Approve what waits, so that it goes on",
        who=TENANT,
        command=actions.approve,
        noun=NOUN,
        body=Approve,
        answer=ApprovalView,
        raises=(
            errors.TransitionNotAllowed,
            errors.AccountNotActive,
            errors.OwnerNotActive,
            errors.InstrumentNotUsable,
        ),
        body_example={"reason": "Known to us"},
    ),
    Operation(
        id="approvals.reject",
        method="POST",
        path=f"{ONE}/reject",
        summary="Reject what waits, so that it fails",
        who=TENANT,
        command=actions.reject,
        noun=NOUN,
        body=Reject,
        answer=ApprovalView,
        raises=(errors.TransitionNotAllowed,),
        body_example={"reason": "Nobody knows the receiver"},
    ),
    *reading(
        APPROVALS,
        path=PATH,
        who=TENANT,
        query=ApprovalQuery,
        page=ApprovalPage,
        view=ApprovalView,
    ),
)
