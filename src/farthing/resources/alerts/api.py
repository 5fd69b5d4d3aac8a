"""How alerts are spoken of on the wire."""

from typing import Annotated, Final

from farthing.core.fields import identifier
from farthing.core.operation import KEY_ONLY
from farthing.core.wire import ListQuery, Page
from farthing.db.patterns import reading
from farthing.resources.alerts.model import AlertKind, AlertView
from farthing.resources.alerts.store import ALERTS

RuleId = Annotated[str, identifier("rule")]


class AlertQuery(ListQuery, frozen=True, kw_only=True):
    """Which alerts to list."""

    kind: AlertKind | None = None
    rule_id: RuleId | None = None


class AlertPage(Page, frozen=True, kw_only=True):
    """One page of alerts."""

    results: list[AlertView]


OPERATIONS: Final = reading(
    ALERTS, path="/v1/alerts", who=KEY_ONLY, query=AlertQuery, page=AlertPage, view=AlertView
)
