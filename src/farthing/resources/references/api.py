"""How references are spoken of on the wire."""

from typing import Annotated, Final

from msgspec import Meta, field

from farthing.core import errors
from farthing.core.fields import AccountId, Annotations, CustomerId, Tags
from farthing.core.operation import TOKENS, Operation
from farthing.core.wire import ListQuery, Page, Request, StateChange
from farthing.db.patterns import reading
from farthing.resources.references import actions
from farthing.resources.references.model import NOUN, ReferenceState, ReferenceView
from farthing.resources.references.store import REFERENCES

PATH: Final = "/v1/references"
ONE: Final = "/v1/references/{id}"

ReferenceText = Annotated[
    str,
    Meta(
        pattern="^RF[0-9]{2}[A-Z0-9]{14}$",
        description="The text that stands on the transfer, in capitals and without spaces.",
        extra={"expected": "a reference of 18 characters in capitals, without spaces"},
    ),
]


class CreateReference(Request, frozen=True, kw_only=True):
    """A new reference."""

    to_id: Annotated[AccountId, Meta(description="The account that is to be paid into.")]
    from_id: (
        Annotated[CustomerId, Meta(description="Who will pay; without it, anybody may.")] | None
    ) = None
    tags: Tags | None = None
    annotations: Annotations | None = None


class UpdateReference(Request, frozen=True, kw_only=True):
    """What is to change; a field that is left out stays as it is."""

    tags: Tags | None = None
    annotations: Annotations | None = None


class MoveReference(StateChange, frozen=True, kw_only=True):
    """A move of a reference to another state."""

    from_state_id: ReferenceState | None = None
    to_state_id: ReferenceState


class ReferenceQuery(ListQuery, frozen=True, kw_only=True):
    """Which references to list."""

    owner_id: CustomerId | None = None
    # The names inside are those of the columns.
    to_account_id: AccountId | None = field(name="toId", default=None)
    text: ReferenceText | None = field(name="reference", default=None)
    state_id: ReferenceState | None = None


class ReferencePage(Page, frozen=True, kw_only=True):
    """One page of references."""

    results: list[ReferenceView]


OPERATIONS: Final = (
    Operation(
        id="references.create",
        method="POST",
        path=PATH,
        summary="Create a reference",
        who=TOKENS,
        prepare=actions.create,
        status=201,
        body=CreateReference,
        answer=ReferenceView,
        raises=(errors.OwnerNotActive, errors.AccountNotActive, errors.RefusedByRule),
        body_example={
            "toId": "account/0190a1b2-c3d4-7e5f-8a9b-9af211329b2f",
            "fromId": "customer/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
            "tags": ["deposit"],
        },
    ),
    Operation(
        id="references.update",
        method="PATCH",
        path=ONE,
        summary="Update a reference",
        who=TOKENS,
        command=actions.update,
        noun=NOUN,
        body=UpdateReference,
        answer=ReferenceView,
        body_example={"tags": ["rent"]},
    ),
    Operation(
        id="references.move",
        method="PATCH",
        path=f"{ONE}/state",
        summary="Move a reference to another state",
        who=TOKENS,
        command=actions.move,
        noun=NOUN,
        body=MoveReference,
        answer=ReferenceView,
        raises=(
            errors.StateMismatch,
            errors.TransitionNotAllowed,
            errors.RefusedByRule,
        ),
        body_example={"toStateId": "CLOSED"},
    ),
    *reading(
        REFERENCES,
        path=PATH,
        who=TOKENS,
        query=ReferenceQuery,
        page=ReferencePage,
        view=ReferenceView,
    ),
)
