# Written by `make client` from the operations of the service: do not edit.
"""Operations on alerts."""

from collections.abc import Mapping
from datetime import datetime

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._namespaces import Namespace
from farthing.client._reading import Listing
from farthing.client.models import Alert, AlertKind, AlertPage, Transitions


class AlertsOperations(Namespace):
    """Alerts: what rules wanted somebody to know.

    >>> ada = client.customers.create(type="INDIVIDUAL", name="Ada")
    >>> account = client.accounts.create(owner_id=ada.id, currency_iso="GBP")
    >>> reference = client.references.create(to_id=account.id)
    >>> arrived = client.sandbox.inbound(
    ...     reference=reference.reference, amount="2500", currency_iso="GBP"
    ... ).object
    >>> from farthing.client.models import Action
    >>> rule = client.rules.create(
    ...     name="Somebody looks at every payout",
    ...     on="transaction.create",
    ...     when='object.flow == "OUTBOUND"',
    ...     then=[Action(action="approve"), Action(action="alert", message="A payout.")],
    ... )
    >>> from farthing.client.models import Address
    >>> bank_account = client.bank_accounts.create(
    ...     owner_id=ada.id,
    ...     currency_iso="GBP",
    ...     country_iso="GB",
    ...     account_number="12345678",
    ...     sort_code="204514",
    ...     billing_address=Address(country_iso="GB"),
    ...     set_as_preferred=True,
    ... )
    >>> payout = client.transactions.outbound(
    ...     account_id=account.id, amount="2500", method="bankAccount", purpose="WITHDRAWAL"
    ... )
    >>> [(alert.message, alert.object_id == payout.id) for alert in client.alerts.list()]
    [('A payout.', True)]
    """

    def list(
        self,
        *,
        limit: int | None = None,
        annotations: Mapping[str, str] | None = None,
        cursor: str | None = None,
        tag: str | None = None,
        created_from: datetime | None = None,
        created_to: datetime | None = None,
        kind: AlertKind | None = None,
        rule_id: str | None = None,
    ) -> Listing[Alert, AlertPage]:
        """List alerts, newest first.

        - `limit`: How many results at the most, over all pages; all of them by default.
        - `annotations`: Only objects with these annotations.
        - `cursor`: The `nextCursor` of the page before.
        - `tag`: Only objects with this tag.
        - `created_from`: Only objects made at this time or later.
        - `created_to`: Only objects made before this time.
        - `rule_id`: Must be rule/<uuid>, with the uuid in lower case.
        """
        ask = Ask(
            operations.ALERTS_LIST,
            query={
                "cursor": cursor,
                "tag": tag,
                "createdFrom": created_from,
                "createdTo": created_to,
                "kind": kind,
                "ruleId": rule_id,
                "annotation": annotations,
            },
        )
        return self._list(ask, AlertPage, limit)

    def get(self, id: str) -> Alert:
        """Read one alert."""
        ask = Ask(operations.ALERTS_GET, id)
        return self._send(ask, Alert)

    def transitions(self, id: str) -> Transitions:
        """Read the history of one alert and its possible next states."""
        ask = Ask(operations.ALERTS_TRANSITIONS, id)
        return self._send(ask, Transitions)
