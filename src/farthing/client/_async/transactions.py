# Written by `make client` from the operations of the service: do not edit.
"""Operations on transactions."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._async.transactions_payments import AsyncTransactionsPaymentsOperations
from farthing.client._model import Body
from farthing.client._reading import AsyncListing
from farthing.client.models import (
    Flow,
    Transaction,
    TransactionDetail,
    TransactionPage,
    TransactionState,
    Transitions,
)


class AsyncTransactionsOperations(AsyncTransactionsPaymentsOperations):
    """Transactions: money on its way, from state to state, and every step in the ledger."""

    async def update(
        self,
        id: str,
        *,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Transaction:
        """Update a transaction.

        - `tags`: Free-form labels; rules can use them.
        - `annotations`: Free-form names with their values; rules can use them.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.
        """
        ask = Ask(
            operations.TRANSACTIONS_UPDATE,
            id,
            body=Body({"tags": tags, "annotations": annotations}),
            key=idempotency_key,
        )
        return await self._send(ask, Transaction)

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
        state_id: TransactionState | None = None,
        flow: Flow | None = None,
        group_id: str | None = None,
        include: str | None = None,
    ) -> AsyncListing[TransactionDetail, TransactionPage]:
        """List transactions, newest first.

        - `limit`: How many results at the most, over all pages; all of them by default.
        - `annotations`: Only objects with these annotations.
        - `cursor`: The `nextCursor` of the page before.
        - `tag`: Only objects with this tag.
        - `created_from`: Only objects made at this time or later.
        - `created_to`: Only objects made before this time.
        - `owner_id`: Must be customer/<uuid>, with the uuid in lower case.
        - `include`: What to add to each transaction: `accounts`, `entries`, `transitions`.
        """
        ask = Ask(
            operations.TRANSACTIONS_LIST,
            query={
                "cursor": cursor,
                "tag": tag,
                "createdFrom": created_from,
                "createdTo": created_to,
                "ownerId": owner_id,
                "stateId": state_id,
                "flow": flow,
                "groupId": group_id,
                "include": include,
                "annotation": annotations,
            },
        )
        return self._list(ask, TransactionPage, limit)

    async def get(self, id: str, *, include: str | None = None) -> TransactionDetail:
        """Read one transaction.

        - `include`: What to add to each transaction: `accounts`, `entries`, `transitions`.
        """
        ask = Ask(operations.TRANSACTIONS_GET, id, query={"include": include})
        return await self._send(ask, TransactionDetail)

    async def transitions(self, id: str) -> Transitions:
        """Read the history of one transaction and its possible next states."""
        ask = Ask(operations.TRANSACTIONS_TRANSITIONS, id)
        return await self._send(ask, Transitions)
