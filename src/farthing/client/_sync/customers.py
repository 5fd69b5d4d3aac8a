# Written by `make client` from the operations of the service: do not edit.
"""Operations on customers."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._model import Body
from farthing.client._namespaces import Namespace
from farthing.client._reading import Listing
from farthing.client.models import (
    Address,
    Customer,
    CustomerPage,
    CustomerState,
    CustomerType,
    Transitions,
)


class CustomersOperations(Namespace):
    """Customers: the people and businesses whose money it is.

    >>> ada = client.customers.create(type="INDIVIDUAL", name="Ada", tags=["vip"])
    >>> client.customers.update(ada.id, name="Ada Lovelace").name
    'Ada Lovelace'
    >>> [one.name for one in client.customers.list(tag="vip")]
    ['Ada Lovelace']
    >>> client.customers.move(ada.id, to_state_id="DISABLED").state_id
    'DISABLED'
    """

    def create(
        self,
        *,
        type: CustomerType,
        name: str | None = None,
        email: str | None = None,
        phone: str | None = None,
        address: Address | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Customer:
        """Create a customer.

        - `email`: Must be an e-mail address.
        - `phone`: Must be a telephone number of E.164, such as +442071838750.
        - `tags`: Free-form labels; rules can use them.
        - `annotations`: Free-form names with their values; rules can use them.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises RefusedByRule.
        """
        ask = Ask(
            operations.CUSTOMERS_CREATE,
            body=Body(
                {
                    "type": type,
                    "name": name,
                    "email": email,
                    "phone": phone,
                    "address": address,
                    "tags": tags,
                    "annotations": annotations,
                }
            ),
            key=idempotency_key,
        )
        return self._send(ask, Customer)

    def update(
        self,
        id: str,
        *,
        name: str | None = None,
        email: str | None = None,
        phone: str | None = None,
        address: Address | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Customer:
        """Update a customer.

        - `email`: Must be an e-mail address.
        - `phone`: Must be a telephone number of E.164, such as +442071838750.
        - `tags`: Free-form labels; rules can use them.
        - `annotations`: Free-form names with their values; rules can use them.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.
        """
        ask = Ask(
            operations.CUSTOMERS_UPDATE,
            id,
            body=Body(
                {
                    "name": name,
                    "email": email,
                    "phone": phone,
                    "address": address,
                    "tags": tags,
                    "annotations": annotations,
                }
            ),
            key=idempotency_key,
        )
        return self._send(ask, Customer)

    def move(
        self,
        id: str,
        *,
        to_state_id: CustomerState,
        reason: str | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        from_state_id: CustomerState | None = None,
        idempotency_key: str | None = None,
    ) -> Customer:
        """Move a customer to another state.

        - `reason`: Why; kept in the history.
        - `tags`: Added to the tags that there are.
        - `annotations`: Merged by name into those that there are.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises StateMismatch, TransitionNotAllowed, RequirementsUnresolved, BalanceNotZero,
        RefusedByRule.
        """
        ask = Ask(
            operations.CUSTOMERS_MOVE,
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
        return self._send(ask, Customer)

    def list(
        self,
        *,
        limit: int | None = None,
        annotations: Mapping[str, str] | None = None,
        cursor: str | None = None,
        tag: str | None = None,
        created_from: datetime | None = None,
        created_to: datetime | None = None,
        state_id: CustomerState | None = None,
    ) -> Listing[Customer, CustomerPage]:
        """List customers, newest first.

        - `limit`: How many results at the most, over all pages; all of them by default.
        - `annotations`: Only objects with these annotations.
        - `cursor`: The `nextCursor` of the page before.
        - `tag`: Only objects with this tag.
        - `created_from`: Only objects made at this time or later.
        - `created_to`: Only objects made before this time.
        """
        ask = Ask(
            operations.CUSTOMERS_LIST,
            query={
                "cursor": cursor,
                "tag": tag,
                "createdFrom": created_from,
                "createdTo": created_to,
                "stateId": state_id,
                "annotation": annotations,
            },
        )
        return self._list(ask, CustomerPage, limit)

    def get(self, id: str) -> Customer:
        """Read one customer."""
        ask = Ask(operations.CUSTOMERS_GET, id)
        return self._send(ask, Customer)

    def transitions(self, id: str) -> Transitions:
        """Read the history of one customer and its possible next states."""
        ask = Ask(operations.CUSTOMERS_TRANSITIONS, id)
        return self._send(ask, Transitions)
