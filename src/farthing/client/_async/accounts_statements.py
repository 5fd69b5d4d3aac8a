# Written by `make client` from the operations of the service: do not edit.
"""Operations on statements."""

from datetime import datetime
from typing import Literal

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._namespaces import AsyncNamespace
from farthing.client.models import Statement


class AsyncAccountsStatementsOperations(AsyncNamespace):
    """Operations on statements."""

    async def statement(self, id: str, *, from_: datetime, to: datetime) -> Statement:
        """Read the statement of an account for a period.

        - `from_`: The first moment of the period, to the millisecond.
        - `to`: The first moment after the period, to the millisecond.
        """
        ask = Ask(operations.ACCOUNTS_STATEMENT, id, query={"from": from_, "to": to})
        return await self._send(ask, Statement)

    async def statement_as(
        self,
        id: str,
        *,
        from_: datetime,
        to: datetime,
        media_type: Literal["text/csv", "application/xml"],
    ) -> bytes:
        """Read the statement of an account for a period, as a file.

        - `from_`: The first moment of the period, to the millisecond.
        - `to`: The first moment after the period, to the millisecond.
        - `media_type`: In which form.
        """
        ask = Ask(
            operations.ACCOUNTS_STATEMENT, id, query={"from": from_, "to": to}, accept=media_type
        )
        return await self._send(ask, bytes)
