"""What every body and every answer has in common on the wire."""

from datetime import datetime
from typing import Annotated, Final

from msgspec import Meta, Struct

from farthing.core.fields import Annotations, Reason, Tag, Tags

CURSOR_PATTERN: Final = "^[A-Za-z0-9_-]{22}$"


class Request(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A body or a query that somebody sends."""


class View(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An answer; a field that is absent is left out."""


class ObjectView(View, frozen=True, kw_only=True):
    """What every object shows."""

    id: str
    created_at: str
    updated_at: str
    state_id: str
    tags: list[str]
    annotations: dict[str, str]


class ListQuery(Request, frozen=True, kw_only=True):
    """How a collection is read: newest first, page by page, filtered."""

    limit: Annotated[int, Meta(ge=1, le=100, description="How many results at the most.")] = 20
    cursor: (
        Annotated[
            str,
            Meta(
                pattern=CURSOR_PATTERN,
                description="The `nextCursor` of the page before.",
                extra={"expected": "the nextCursor of the page before"},
            ),
        ]
        | None
    ) = None
    tag: Annotated[Tag, Meta(description="Only objects with this tag.")] | None = None
    created_from: (
        Annotated[datetime, Meta(tz=True, description="Only objects made at this time or later.")]
        | None
    ) = None
    created_to: (
        Annotated[datetime, Meta(tz=True, description="Only objects made before this time.")] | None
    ) = None


class Page(View, frozen=True, kw_only=True):
    """One page of a collection; with no `nextCursor` it is the last."""

    next_cursor: str | None = None


class StateChange(Request, frozen=True, kw_only=True):
    """A move to another state; `fromStateId` makes it conditional on the current one."""

    reason: Annotated[Reason, Meta(description="Why; kept in the history.")] | None = None
    tags: Annotated[Tags, Meta(description="Added to the tags that there are.")] | None = None
    annotations: (
        Annotated[Annotations, Meta(description="Merged by name into those that there are.")] | None
    ) = None


class StepView(View, frozen=True, kw_only=True):
    """One step of an object's history."""

    from_state_id: str | None = None
    to_state_id: str
    actor: str
    by: str
    reason: str | None = None
    request_id: str
    created_at: str


class PossibleStep(View, frozen=True, kw_only=True):
    """A state that the caller can move the object to now, and what that means."""

    to_state_id: str
    why: str


class TransitionsView(View, frozen=True, kw_only=True):
    """How an object came to its state, and where it can go from here."""

    state_id: str
    history: list[StepView]
    possible: list[PossibleStep]
