"""How webhooks are spoken of on the wire."""

from typing import Annotated, Final

from msgspec import Meta

from farthing.core import addresses, errors
from farthing.core.addresses import BadTarget
from farthing.core.fields import Annotations, Tags
from farthing.core.operation import KEY_ONLY, Operation
from farthing.core.wire import ListQuery, Page, Request, StateChange
from farthing.db.patterns import reading
from farthing.resources.webhooks import actions
from farthing.resources.webhooks.model import (
    NOUN,
    AttemptView,
    WebhookState,
    WebhookView,
    WebhookWithSecret,
)
from farthing.resources.webhooks.store import WEBHOOKS

PATH: Final = "/v1/webhooks"
ONE: Final = "/v1/webhooks/{id}"
MOST_PATTERNS: Final = 50


def _fault_of(url: str) -> str | None:
    try:
        addresses.read_target(url)
    except BadTarget as bad:
        return bad.code
    return None


Url = Annotated[
    str,
    Meta(
        max_length=addresses.MOST_CHARACTERS,
        pattern=r"^https?://[!-\[\]-~]+$",
        description="Where events are delivered: http, or https, which live requires.",
        examples=["https://shop.example/farthing"],
        extra={
            "rule": _fault_of,
            "expected": (
                "an http or https address in ASCII without credentials and fragment, whose host "
                "is a name or an address in its usual form"
            ),
        },
        extra_json_schema={"format": "uri"},
    ),
]
Pattern = Annotated[
    str,
    Meta(
        max_length=100,
        pattern=r"^(\*|[a-z_]+\.(\*|[a-z_]+))$",
        examples=["transaction.*"],
        extra={"expected": "a type of event, a noun followed by .*, or * for all"},
    ),
]
Patterns = Annotated[
    list[Pattern],
    Meta(
        max_length=MOST_PATTERNS,
        description="Which events are delivered; all of them by default.",
    ),
]
Description = Annotated[str, Meta(min_length=1, max_length=140)]


class CreateWebhook(Request, frozen=True, kw_only=True):
    """A new webhook."""

    url: Url
    events: Patterns | None = None
    description: Description | None = None
    tags: Tags | None = None
    annotations: Annotations | None = None


class UpdateWebhook(Request, frozen=True, kw_only=True):
    """What is to change; a field that is left out stays as it is."""

    url: Url | None = None
    events: Patterns | None = None
    description: Description | None = None
    tags: Tags | None = None
    annotations: Annotations | None = None


class MoveWebhook(StateChange, frozen=True, kw_only=True):
    """A move of a webhook to another state."""

    from_state_id: WebhookState | None = None
    to_state_id: WebhookState


class WebhookQuery(ListQuery, frozen=True, kw_only=True):
    """Which webhooks to list."""

    state_id: WebhookState | None = None


class WebhookPage(Page, frozen=True, kw_only=True):
    """One page of webhooks."""

    results: list[WebhookView]


OPERATIONS: Final = (
    Operation(
        id="webhooks.create",
        method="POST",
        path=PATH,
        summary="Create a webhook; its secret is shown only now",
        who=KEY_ONLY,
        prepare=actions.create,
        status=201,
        body=CreateWebhook,
        answer=WebhookWithSecret,
        raises=(errors.TooManyWebhooks,),
        body_example={
            "url": "https://shop.example/farthing",
            "events": ["transaction.*", "card.created"],
            "description": "The shop's backend",
        },
        secret=True,
    ),
    Operation(
        id="webhooks.update",
        method="PATCH",
        path=ONE,
        summary="Update a webhook",
        who=KEY_ONLY,
        command=actions.update,
        noun=NOUN,
        body=UpdateWebhook,
        answer=WebhookView,
        raises=(errors.WebhookNotActive,),
        body_example={"events": ["transaction.*"]},
    ),
    Operation(
        id="webhooks.move",
        method="PATCH",
        path=f"{ONE}/state",
        summary="Move a webhook to another state",
        who=KEY_ONLY,
        prepare=actions.move,
        noun=NOUN,
        body=MoveWebhook,
        answer=WebhookView,
        raises=(errors.StateMismatch, errors.TransitionNotAllowed),
        body_example={"toStateId": "DISABLED"},
    ),
    Operation(
        id="webhooks.delete",
        method="DELETE",
        path=ONE,
        summary="Delete a webhook",
        who=KEY_ONLY,
        command=actions.delete,
        noun=NOUN,
        answer=WebhookView,
        raises=(errors.TransitionNotAllowed,),
    ),
    Operation(
        id="webhooks.rotate",
        method="POST",
        path=f"{ONE}/rotate",
        summary="Give a webhook a new secret; the old one signs too for 24 hours",
        who=KEY_ONLY,
        command=actions.rotate,
        noun=NOUN,
        answer=WebhookWithSecret,
        raises=(errors.WebhookNotActive,),
        secret=True,
    ),
    Operation(
        id="webhooks.test",
        method="POST",
        path=f"{ONE}/test",
        summary="Send a signed webhook.test event at once",
        who=KEY_ONLY,
        prepare=actions.test,
        noun=NOUN,
        answer=AttemptView,
        raises=(errors.WebhookNotActive,),
    ),
    *reading(
        WEBHOOKS, path=PATH, who=KEY_ONLY, query=WebhookQuery, page=WebhookPage, view=WebhookView
    ),
)
