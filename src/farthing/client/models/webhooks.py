# Written by `make client` from the operations of the service: do not edit.
"""Models of webhooks."""

from farthing.client._model import Model, Secret


class Attempt(Model, frozen=True, kw_only=True):
    """One attempt to deliver: what the endpoint answered, or why it did not."""

    number: int
    attempted_at: str
    duration_ms: int
    status_code: int | None = None
    answer: str | None = None
    error: str | None = None


class Webhook(Model, frozen=True, kw_only=True):
    """A webhook as the outside sees it."""

    id: str
    created_at: str
    updated_at: str
    state_id: str
    tags: list[str]
    annotations: dict[str, str]
    url: str
    events: list[str]
    description: str | None = None


class WebhookPage(Model, frozen=True, kw_only=True):
    """One page of webhooks."""

    next_cursor: str | None = None
    results: list[Webhook]


class WebhookWithSecret(Secret, frozen=True, kw_only=True):
    """A webhook with the secret that signs its deliveries, which is shown only here."""

    id: str
    created_at: str
    updated_at: str
    state_id: str
    tags: list[str]
    annotations: dict[str, str]
    url: str
    events: list[str]
    description: str | None = None
    secret: str
