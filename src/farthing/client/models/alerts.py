# Written by `make client` from the operations of the service: do not edit.
"""Models of alerts."""

from farthing.client._model import Model
from farthing.client.models.words import AlertKind


class Alert(Model, frozen=True, kw_only=True):
    """An alert as the outside sees it."""

    id: str
    created_at: str
    updated_at: str
    state_id: str
    tags: list[str]
    annotations: dict[str, str]
    kind: AlertKind
    rule_id: str
    object_id: str
    message: str
    refused: bool


class AlertPage(Model, frozen=True, kw_only=True):
    """One page of alerts."""

    next_cursor: str | None = None
    results: list[Alert]
