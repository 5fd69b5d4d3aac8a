# Written by `make client` from the operations of the service: do not edit.
"""Operations on rules."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._model import Body
from farthing.client._reading import Listing
from farthing.client._sync.rules_trials import RulesTrialsOperations
from farthing.client.models import Action, Rule, RulePage, RuleState, Transitions, Trigger


class RulesOperations(RulesTrialsOperations):
    """Rules: what a tenant wants to happen to objects that are made or moved.

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
    >>> payout = {"flow": "OUTBOUND", "amount": "900", "currencyISO": "GBP"}
    >>> client.rules.test(on="transaction.create", object=payout, owner_id=ada.id).result
    'awaitsApproval'
    >>> client.rules.update(rule.id, enabled=False).state_id
    'DISABLED'
    """

    def create(
        self,
        *,
        name: str,
        on: Trigger,
        when: str,
        then: Sequence[Action],
        priority: int | None = None,
        enabled: bool | None = None,
        dry: bool | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Rule:
        """Create a rule, which holds from the next request on.

        - `on`: The occasion on which the rule is asked.
        - `when`: The condition, an expression in CEL.
        - `then`: What is done where the condition holds, one after the other.
        - `priority`: Rules with a lower number come first.
        - `dry`: Only raise an alert that says what the rule would do.
        - `tags`: Free-form labels; rules can use them.
        - `annotations`: Free-form names with their values; rules can use them.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises TooManyRules.
        """
        ask = Ask(
            operations.RULES_CREATE,
            body=Body(
                {
                    "name": name,
                    "on": on,
                    "when": when,
                    "then": then,
                    "priority": priority,
                    "enabled": enabled,
                    "dry": dry,
                    "tags": tags,
                    "annotations": annotations,
                }
            ),
            key=idempotency_key,
        )
        return self._send(ask, Rule)

    def update(
        self,
        id: str,
        *,
        name: str | None = None,
        on: Trigger | None = None,
        when: str | None = None,
        then: Sequence[Action] | None = None,
        priority: int | None = None,
        enabled: bool | None = None,
        dry: bool | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Rule:
        """Update a rule, enable or disable it.

        - `when`: The condition, an expression in CEL.
        - `then`: What is done where the condition holds, one after the other.
        - `priority`: Rules with a lower number come first.
        - `tags`: Free-form labels; rules can use them.
        - `annotations`: Free-form names with their values; rules can use them.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises TooManyRules, TransitionNotAllowed.
        """
        ask = Ask(
            operations.RULES_UPDATE,
            id,
            body=Body(
                {
                    "name": name,
                    "on": on,
                    "when": when,
                    "then": then,
                    "priority": priority,
                    "enabled": enabled,
                    "dry": dry,
                    "tags": tags,
                    "annotations": annotations,
                }
            ),
            key=idempotency_key,
        )
        return self._send(ask, Rule)

    def delete(self, id: str, *, idempotency_key: str | None = None) -> Rule:
        """Delete a rule; what it did remains.

        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises TransitionNotAllowed.
        """
        ask = Ask(operations.RULES_DELETE, id, key=idempotency_key)
        return self._send(ask, Rule)

    def list(
        self,
        *,
        limit: int | None = None,
        annotations: Mapping[str, str] | None = None,
        cursor: str | None = None,
        tag: str | None = None,
        created_from: datetime | None = None,
        created_to: datetime | None = None,
        state_id: RuleState | None = None,
    ) -> Listing[Rule, RulePage]:
        """List rules, newest first.

        - `limit`: How many results at the most, over all pages; all of them by default.
        - `annotations`: Only objects with these annotations.
        - `cursor`: The `nextCursor` of the page before.
        - `tag`: Only objects with this tag.
        - `created_from`: Only objects made at this time or later.
        - `created_to`: Only objects made before this time.
        """
        ask = Ask(
            operations.RULES_LIST,
            query={
                "cursor": cursor,
                "tag": tag,
                "createdFrom": created_from,
                "createdTo": created_to,
                "stateId": state_id,
                "annotation": annotations,
            },
        )
        return self._list(ask, RulePage, limit)

    def get(self, id: str) -> Rule:
        """Read one rule."""
        ask = Ask(operations.RULES_GET, id)
        return self._send(ask, Rule)

    def transitions(self, id: str) -> Transitions:
        """Read the history of one rule and its possible next states."""
        ask = Ask(operations.RULES_TRANSITIONS, id)
        return self._send(ask, Transitions)
