# Written by `make client` from the operations of the service: do not edit.
"""Operations on approvals."""

from collections.abc import Mapping
from datetime import datetime

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._model import Body
from farthing.client._namespaces import Namespace
from farthing.client._reading import Listing
from farthing.client.models import Approval, ApprovalPage, ApprovalState, Transitions


class ApprovalsOperations(Namespace):
    """Approvals: what rules let wait until somebody says yes or no.

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
    >>> payout.requirements
    {'approval': 'approval/...'}
    >>> client.approvals.approve(payout.requirements["approval"], reason="Known.").state_id
    'APPROVED'
    """

    def approve(
        self, id: str, *, reason: str | None = None, idempotency_key: str | None = None
    ) -> Approval:
        """Approve what waits, so that it goes on.

        - `reason`: Why; kept in the history.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises TransitionNotAllowed, BalanceLimit, OwnerNotActive, AccountNotActive,
        InstrumentNotUsable.
        """
        ask = Ask(
            operations.APPROVALS_APPROVE, id, body=Body({"reason": reason}), key=idempotency_key
        )
        return self._send(ask, Approval)

    def reject(self, id: str, *, reason: str, idempotency_key: str | None = None) -> Approval:
        """Reject what waits, so that it fails.

        - `reason`: Why; kept in the history.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises TransitionNotAllowed.
        """
        ask = Ask(
            operations.APPROVALS_REJECT, id, body=Body({"reason": reason}), key=idempotency_key
        )
        return self._send(ask, Approval)

    def list(
        self,
        *,
        limit: int | None = None,
        annotations: Mapping[str, str] | None = None,
        cursor: str | None = None,
        tag: str | None = None,
        created_from: datetime | None = None,
        created_to: datetime | None = None,
        state_id: ApprovalState | None = None,
        object_id: str | None = None,
        rule_id: str | None = None,
    ) -> Listing[Approval, ApprovalPage]:
        """List approvals, newest first.

        - `limit`: How many results at the most, over all pages; all of them by default.
        - `annotations`: Only objects with these annotations.
        - `cursor`: The `nextCursor` of the page before.
        - `tag`: Only objects with this tag.
        - `created_from`: Only objects made at this time or later.
        - `created_to`: Only objects made before this time.
        - `object_id`: Only those of this object.
        - `rule_id`: Only those that this rule wants.
        """
        ask = Ask(
            operations.APPROVALS_LIST,
            query={
                "cursor": cursor,
                "tag": tag,
                "createdFrom": created_from,
                "createdTo": created_to,
                "stateId": state_id,
                "objectId": object_id,
                "ruleId": rule_id,
                "annotation": annotations,
            },
        )
        return self._list(ask, ApprovalPage, limit)

    def get(self, id: str) -> Approval:
        """Read one approval."""
        ask = Ask(operations.APPROVALS_GET, id)
        return self._send(ask, Approval)

    def transitions(self, id: str) -> Transitions:
        """Read the history of one approval and its possible next states."""
        ask = Ask(operations.APPROVALS_TRANSITIONS, id)
        return self._send(ask, Transitions)
