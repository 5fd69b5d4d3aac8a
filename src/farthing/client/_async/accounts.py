# Written by `make client` from the operations of the service: do not edit.
"""Operations on accounts."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._async.accounts_statements import AsyncAccountsStatementsOperations
from farthing.client._model import Body
from farthing.client._reading import AsyncListing
from farthing.client.models import Account, AccountPage, AccountState, Transitions


class AsyncAccountsOperations(AsyncAccountsStatementsOperations):
    """Accounts: where a customer's money is held."""

    async def create(
        self,
        *,
        owner_id: str,
        currency_iso: str,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Account:
        """Open an account.

        - `owner_id`: Must be customer/<uuid>, with the uuid in lower case.
        - `currency_iso`: Must be a currency of ISO 4217 in capitals, such as GBP.
        - `tags`: Free-form labels; rules can use them.
        - `annotations`: Free-form names with their values; rules can use them.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises OwnerNotActive, RefusedByRule.
        """
        ask = Ask(
            operations.ACCOUNTS_CREATE,
            body=Body(
                {
                    "ownerId": owner_id,
                    "currencyISO": currency_iso,
                    "tags": tags,
                    "annotations": annotations,
                }
            ),
            key=idempotency_key,
        )
        return await self._send(ask, Account)

    async def update(
        self,
        id: str,
        *,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Account:
        """Update an account.

        - `tags`: Free-form labels; rules can use them.
        - `annotations`: Free-form names with their values; rules can use them.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.
        """
        ask = Ask(
            operations.ACCOUNTS_UPDATE,
            id,
            body=Body({"tags": tags, "annotations": annotations}),
            key=idempotency_key,
        )
        return await self._send(ask, Account)

    async def move(
        self,
        id: str,
        *,
        to_state_id: AccountState,
        reason: str | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        from_state_id: AccountState | None = None,
        idempotency_key: str | None = None,
    ) -> Account:
        """Move an account to another state.

        - `reason`: Why; kept in the history.
        - `tags`: Added to the tags that there are.
        - `annotations`: Merged by name into those that there are.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises StateMismatch, TransitionNotAllowed, BalanceNotZero, RefusedByRule.
        """
        ask = Ask(
            operations.ACCOUNTS_MOVE,
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
        return await self._send(ask, Account)

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
        state_id: AccountState | None = None,
    ) -> AsyncListing[Account, AccountPage]:
        """List accounts, newest first.

        - `limit`: How many results at the most, over all pages; all of them by default.
        - `annotations`: Only objects with these annotations.
        - `cursor`: The `nextCursor` of the page before.
        - `tag`: Only objects with this tag.
        - `created_from`: Only objects made at this time or later.
        - `created_to`: Only objects made before this time.
        - `owner_id`: Must be customer/<uuid>, with the uuid in lower case.
        """
        ask = Ask(
            operations.ACCOUNTS_LIST,
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
        return self._list(ask, AccountPage, limit)

    async def get(self, id: str) -> Account:
        """Read one account."""
        ask = Ask(operations.ACCOUNTS_GET, id)
        return await self._send(ask, Account)

    async def transitions(self, id: str) -> Transitions:
        """Read the history of one account and its possible next states."""
        ask = Ask(operations.ACCOUNTS_TRANSITIONS, id)
        return await self._send(ask, Transitions)
