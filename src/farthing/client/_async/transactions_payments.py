# Written by `make client` from the operations of the service: do not edit.
"""Operations on payments."""

from collections.abc import Mapping, Sequence
from typing import Literal

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._async.transactions_moves import AsyncTransactionsMovesOperations
from farthing.client._model import Body
from farthing.client.models import Transaction


class AsyncTransactionsPaymentsOperations(AsyncTransactionsMovesOperations):
    """Operations on payments."""

    async def inbound(
        self,
        *,
        amount: str,
        account_id: str,
        method: Literal["card", "bankAccount"],
        purpose: Literal["PURCHASE", "DEPOSIT"],
        description: str | None = None,
        group_id: str | None = None,
        target_state_id: Literal["PENDING", "HELD", "EFFECTED"] | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        payment_instrument_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Transaction:
        """Take money in, from a card or by bank transfer.

        - `amount`: Must be a string of at most 18 digits, the amount in the smallest unit and not
          0, such as 1000.
        - `description`: May appear on the recipient's statement.
        - `group_id`: Links transactions together. It is set once, here, and can be filtered by.
        - `target_state_id`: How far the platform takes it by itself; HELD keeps the money as
          escrow.
        - `tags`: Free-form labels; rules can use them.
        - `annotations`: Free-form names with their values; rules can use them.
        - `account_id`: Must be account/<uuid>, with the uuid in lower case.
        - `payment_instrument_id`: Must be (card|bank_account)/<uuid>, with the uuid in lower case.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises OwnerNotActive, AccountNotActive, BalanceLimit, RefusedByRule, InstrumentNotUsable.
        """
        ask = Ask(
            operations.TRANSACTIONS_INBOUND,
            body=Body(
                {
                    "amount": amount,
                    "description": description,
                    "groupId": group_id,
                    "targetStateId": target_state_id,
                    "tags": tags,
                    "annotations": annotations,
                    "accountId": account_id,
                    "method": method,
                    "purpose": purpose,
                    "paymentInstrumentId": payment_instrument_id,
                }
            ),
            key=idempotency_key,
        )
        return await self._send(ask, Transaction)

    async def outbound(
        self,
        *,
        amount: str,
        account_id: str,
        method: Literal["bankAccount"],
        purpose: Literal["WITHDRAWAL"],
        description: str | None = None,
        group_id: str | None = None,
        target_state_id: Literal["PENDING", "HELD", "EFFECTED"] | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        payment_instrument_id: str | None = None,
        reference: str | None = None,
        idempotency_key: str | None = None,
    ) -> Transaction:
        """Pay money out to a bank account.

        - `amount`: Must be a string of at most 18 digits, the amount in the smallest unit and not
          0, such as 1000.
        - `description`: May appear on the recipient's statement.
        - `group_id`: Links transactions together. It is set once, here, and can be filtered by.
        - `target_state_id`: How far the platform takes it by itself; HELD keeps the money as
          escrow.
        - `tags`: Free-form labels; rules can use them.
        - `annotations`: Free-form names with their values; rules can use them.
        - `account_id`: Must be account/<uuid>, with the uuid in lower case.
        - `payment_instrument_id`: Must be bank_account/<uuid>, with the uuid in lower case.
        - `reference`: What the recipient's bank shows beside the payment.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises OwnerNotActive, AccountNotActive, BalanceLimit, RefusedByRule, InstrumentNotUsable,
        InsufficientFunds.
        """
        ask = Ask(
            operations.TRANSACTIONS_OUTBOUND,
            body=Body(
                {
                    "amount": amount,
                    "description": description,
                    "groupId": group_id,
                    "targetStateId": target_state_id,
                    "tags": tags,
                    "annotations": annotations,
                    "accountId": account_id,
                    "method": method,
                    "purpose": purpose,
                    "paymentInstrumentId": payment_instrument_id,
                    "reference": reference,
                }
            ),
            key=idempotency_key,
        )
        return await self._send(ask, Transaction)

    async def internal(
        self,
        *,
        amount: str,
        from_account_id: str,
        to_account_id: str,
        purpose: Literal["TRANSFER", "PURCHASE"],
        description: str | None = None,
        group_id: str | None = None,
        target_state_id: Literal["PENDING", "HELD", "EFFECTED"] | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Transaction:
        """Move money between two accounts.

        - `amount`: Must be a string of at most 18 digits, the amount in the smallest unit and not
          0, such as 1000.
        - `description`: May appear on the recipient's statement.
        - `group_id`: Links transactions together. It is set once, here, and can be filtered by.
        - `target_state_id`: How far the platform takes it by itself; HELD keeps the money as
          escrow.
        - `tags`: Free-form labels; rules can use them.
        - `annotations`: Free-form names with their values; rules can use them.
        - `from_account_id`: Must be account/<uuid>, with the uuid in lower case.
        - `to_account_id`: Must be account/<uuid>, with the uuid in lower case.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises OwnerNotActive, AccountNotActive, BalanceLimit, RefusedByRule, InsufficientFunds.
        """
        ask = Ask(
            operations.TRANSACTIONS_INTERNAL,
            body=Body(
                {
                    "amount": amount,
                    "description": description,
                    "groupId": group_id,
                    "targetStateId": target_state_id,
                    "tags": tags,
                    "annotations": annotations,
                    "fromAccountId": from_account_id,
                    "toAccountId": to_account_id,
                    "purpose": purpose,
                }
            ),
            key=idempotency_key,
        )
        return await self._send(ask, Transaction)
