# Written by `make client` from the operations of the service: do not edit.
"""Models of approvals."""

from farthing.client._model import Model
from farthing.client.models.words import Asker, Decider


class Approval(Model, frozen=True, kw_only=True):
    """An approval as the outside sees it."""

    id: str
    created_at: str
    updated_at: str
    state_id: str
    tags: list[str]
    annotations: dict[str, str]
    rule_id: str
    object_id: str
    asked_by: Asker
    four_eyes: bool
    expires_at: str
    message: str | None = None
    decided_by: Decider | None = None
    reason: str | None = None


class ApprovalPage(Model, frozen=True, kw_only=True):
    """One page of approvals."""

    next_cursor: str | None = None
    results: list[Approval]
