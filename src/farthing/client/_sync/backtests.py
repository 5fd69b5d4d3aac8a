# Written by `make client` from the operations of the service: do not edit.
"""Operations on backtests."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._model import Body
from farthing.client._namespaces import Namespace
from farthing.client._reading import Listing
from farthing.client.models import Backtest, BacktestPage, BacktestState, Transitions


class BacktestsOperations(Namespace):
    """Operations on backtests.

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
    >>> from datetime import UTC, datetime, timedelta
    >>> now = datetime.now(UTC)
    >>> backtest = client.rules.backtest(rule.id, from_=now - timedelta(days=30), to=now)
    >>> client.backtests.get(backtest.id).rule_id == rule.id
    True
    """

    def move(
        self,
        id: str,
        *,
        to_state_id: Literal["CANCELLED"],
        reason: str | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        from_state_id: BacktestState | None = None,
        idempotency_key: str | None = None,
    ) -> Backtest:
        """Cancel a backtest; what it has found so far remains.

        - `reason`: Why; kept in the history.
        - `tags`: Added to the tags that there are.
        - `annotations`: Merged by name into those that there are.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises StateMismatch, TransitionNotAllowed.
        """
        ask = Ask(
            operations.BACKTESTS_MOVE,
            id,
            body=Body(
                {
                    "reason": reason,
                    "tags": tags,
                    "annotations": annotations,
                    "fromStateId": from_state_id,
                    "toStateId": to_state_id,
                }
            ),
            key=idempotency_key,
        )
        return self._send(ask, Backtest)

    def list(
        self,
        *,
        limit: int | None = None,
        annotations: Mapping[str, str] | None = None,
        cursor: str | None = None,
        tag: str | None = None,
        created_from: datetime | None = None,
        created_to: datetime | None = None,
        rule_id: str | None = None,
        state_id: BacktestState | None = None,
    ) -> Listing[Backtest, BacktestPage]:
        """List backtests, newest first.

        - `limit`: How many results at the most, over all pages; all of them by default.
        - `annotations`: Only objects with these annotations.
        - `cursor`: The `nextCursor` of the page before.
        - `tag`: Only objects with this tag.
        - `created_from`: Only objects made at this time or later.
        - `created_to`: Only objects made before this time.
        - `rule_id`: Must be rule/<uuid>, with the uuid in lower case.
        """
        ask = Ask(
            operations.BACKTESTS_LIST,
            query={
                "cursor": cursor,
                "tag": tag,
                "createdFrom": created_from,
                "createdTo": created_to,
                "ruleId": rule_id,
                "stateId": state_id,
                "annotation": annotations,
            },
        )
        return self._list(ask, BacktestPage, limit)

    def get(self, id: str) -> Backtest:
        """Read one backtest."""
        ask = Ask(operations.BACKTESTS_GET, id)
        return self._send(ask, Backtest)

    def transitions(self, id: str) -> Transitions:
        """Read the history of one backtest and its possible next states."""
        ask = Ask(operations.BACKTESTS_TRANSITIONS, id)
        return self._send(ask, Transitions)
