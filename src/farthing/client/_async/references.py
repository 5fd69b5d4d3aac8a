# Written by `make client` from the operations of the service: do not edit.
"""Operations on references."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._model import Body
from farthing.client._namespaces import AsyncNamespace
from farthing.client._reading import AsyncListing
from farthing.client.models import Reference, ReferencePage, ReferenceState, Transitions


class AsyncReferencesOperations(AsyncNamespace):
    """References: what a payer puts on a bank transfer, so that the money finds its account."""

    async def create(
        self,
        *,
        to_id: str,
        from_id: str | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Reference:
        """Create a reference.

        - `to_id`: The account that is to be paid into.
        - `from_id`: Who will pay; without it, anybody may.
        - `tags`: Free-form labels; rules can use them.
        - `annotations`: Free-form names with their values; rules can use them.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises OwnerNotActive, AccountNotActive, RefusedByRule.
        """
        ask = Ask(
            operations.REFERENCES_CREATE,
            body=Body({"toId": to_id, "fromId": from_id, "tags": tags, "annotations": annotations}),
            key=idempotency_key,
        )
        return await self._send(ask, Reference)

    async def update(
        self,
        id: str,
        *,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Reference:
        """Update a reference.

        - `tags`: Free-form labels; rules can use them.
        - `annotations`: Free-form names with their values; rules can use them.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.
        """
        ask = Ask(
            operations.REFERENCES_UPDATE,
            id,
            body=Body({"tags": tags, "annotations": annotations}),
            key=idempotency_key,
        )
        return await self._send(ask, Reference)

    async def move(
        self,
        id: str,
        *,
        to_state_id: ReferenceState,
        reason: str | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        from_state_id: ReferenceState | None = None,
        idempotency_key: str | None = None,
    ) -> Reference:
        """Move a reference to another state.

        - `reason`: Why; kept in the history.
        - `tags`: Added to the tags that there are.
        - `annotations`: Merged by name into those that there are.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises StateMismatch, TransitionNotAllowed, RefusedByRule.
        """
        ask = Ask(
            operations.REFERENCES_MOVE,
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
        return await self._send(ask, Reference)

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
        to_account_id: str | None = None,
        text: str | None = None,
        state_id: ReferenceState | None = None,
    ) -> AsyncListing[Reference, ReferencePage]:
        """List references, newest first.

        - `limit`: How many results at the most, over all pages; all of them by default.
        - `annotations`: Only objects with these annotations.
        - `cursor`: The `nextCursor` of the page before.
        - `tag`: Only objects with this tag.
        - `created_from`: Only objects made at this time or later.
        - `created_to`: Only objects made before this time.
        - `owner_id`: Must be customer/<uuid>, with the uuid in lower case.
        - `to_account_id`: Must be account/<uuid>, with the uuid in lower case.
        - `text`: The text that stands on the transfer, in capitals and without spaces.
        """
        ask = Ask(
            operations.REFERENCES_LIST,
            query={
                "cursor": cursor,
                "tag": tag,
                "createdFrom": created_from,
                "createdTo": created_to,
                "ownerId": owner_id,
                "toId": to_account_id,
                "reference": text,
                "stateId": state_id,
                "annotation": annotations,
            },
        )
        return self._list(ask, ReferencePage, limit)

    async def get(self, id: str) -> Reference:
        """Read one reference."""
        ask = Ask(operations.REFERENCES_GET, id)
        return await self._send(ask, Reference)

    async def transitions(self, id: str) -> Transitions:
        """Read the history of one reference and its possible next states."""
        ask = Ask(operations.REFERENCES_TRANSITIONS, id)
        return await self._send(ask, Transitions)
