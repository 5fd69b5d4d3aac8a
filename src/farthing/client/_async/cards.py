# Written by `make client` from the operations of the service: do not edit.
"""Operations on cards."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._model import Body
from farthing.client._namespaces import AsyncNamespace
from farthing.client._reading import AsyncListing
from farthing.client.models import Address, Card, CardPage, CardState, StorageType, Transitions


class AsyncCardsOperations(AsyncNamespace):
    """Cards: how customers pay, and the vault that keeps their numbers."""

    async def create(
        self,
        *,
        owner_id: str,
        card_number: str,
        expiry: str,
        cvv: str,
        billing_address: Address,
        storage_type: StorageType | None = None,
        set_as_preferred: bool | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Card:
        """Create a card.

        - `owner_id`: Must be customer/<uuid>, with the uuid in lower case.
        - `card_number`: The number of a VISA or MASTERCARD card, digits only. It is never returned.
        - `expiry`: MMYY. The card is good through the last day of that month.
        - `cvv`: The three digits of the verification. They are not stored.
        - `tags`: Free-form labels; rules can use them.
        - `annotations`: Free-form names with their values; rules can use them.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises OwnerNotActive, RefusedByRule.
        """
        ask = Ask(
            operations.CARDS_CREATE,
            body=Body(
                {
                    "ownerId": owner_id,
                    "cardNumber": card_number,
                    "expiry": expiry,
                    "cvv": cvv,
                    "billingAddress": billing_address,
                    "storageType": storage_type,
                    "setAsPreferred": set_as_preferred,
                    "tags": tags,
                    "annotations": annotations,
                }
            ),
            key=idempotency_key,
        )
        del card_number, cvv
        return await self._send(ask, Card)

    async def update(
        self,
        id: str,
        *,
        billing_address: Address | None = None,
        set_as_preferred: bool | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Card:
        """Update a card.

        - `tags`: Free-form labels; rules can use them.
        - `annotations`: Free-form names with their values; rules can use them.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.
        """
        ask = Ask(
            operations.CARDS_UPDATE,
            id,
            body=Body(
                {
                    "billingAddress": billing_address,
                    "setAsPreferred": set_as_preferred,
                    "tags": tags,
                    "annotations": annotations,
                }
            ),
            key=idempotency_key,
        )
        return await self._send(ask, Card)

    async def move(
        self,
        id: str,
        *,
        to_state_id: CardState,
        reason: str | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        from_state_id: CardState | None = None,
        idempotency_key: str | None = None,
    ) -> Card:
        """Move a card to another state.

        - `reason`: Why; kept in the history.
        - `tags`: Added to the tags that there are.
        - `annotations`: Merged by name into those that there are.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises StateMismatch, TransitionNotAllowed, RequirementsUnresolved, RefusedByRule.
        """
        ask = Ask(
            operations.CARDS_MOVE,
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
        return await self._send(ask, Card)

    def list(
        self,
        *,
        limit: int | None = None,
        annotations: Mapping[str, str] | None = None,
        cursor: str | None = None,
        tag: str | None = None,
        created_from: datetime | None = None,
        created_to: datetime | None = None,
        owner_id: str | None = None,
        state_id: CardState | None = None,
    ) -> AsyncListing[Card, CardPage]:
        """List cards, newest first.

        - `limit`: How many results at the most, over all pages; all of them by default.
        - `annotations`: Only objects with these annotations.
        - `cursor`: The `nextCursor` of the page before.
        - `tag`: Only objects with this tag.
        - `created_from`: Only objects made at this time or later.
        - `created_to`: Only objects made before this time.
        - `owner_id`: Must be customer/<uuid>, with the uuid in lower case.
        """
        ask = Ask(
            operations.CARDS_LIST,
            query={
                "cursor": cursor,
                "tag": tag,
                "createdFrom": created_from,
                "createdTo": created_to,
                "ownerId": owner_id,
                "stateId": state_id,
                "annotation": annotations,
            },
        )
        return self._list(ask, CardPage, limit)

    async def get(self, id: str) -> Card:
        """Read one card."""
        ask = Ask(operations.CARDS_GET, id)
        return await self._send(ask, Card)

    async def transitions(self, id: str) -> Transitions:
        """Read the history of one card and its possible next states."""
        ask = Ask(operations.CARDS_TRANSITIONS, id)
        return await self._send(ask, Transitions)
