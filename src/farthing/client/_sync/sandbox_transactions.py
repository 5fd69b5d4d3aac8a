# Written by `make client` from the operations of the service: do not edit.
"""Operations on transactions in the sandbox."""

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._model import Body
from farthing.client._namespaces import Namespace
from farthing.client.models import ControlledTransaction


class SandboxTransactionsOperations(Namespace):
    """Operations on transactions in the sandbox."""

    def settle(self, id: str, *, idempotency_key: str | None = None) -> ControlledTransaction:
        """Let the rail carry a transaction out.

        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises ControlNotApplicable, TransitionNotAllowed, AmountExceedsRemaining, BalanceLimit,
        AccountNotActive, OwnerNotActive.
        """
        ask = Ask(operations.SANDBOX_TRANSACTIONS_SETTLE, id, key=idempotency_key)
        return self._send(ask, ControlledTransaction)

    def fail(
        self, id: str, *, reason: str | None = None, idempotency_key: str | None = None
    ) -> ControlledTransaction:
        """Let the rail refuse a transaction.

        - `reason`: What the bank says; kept in the history.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises ControlNotApplicable, TransitionNotAllowed, AmountExceedsRemaining, BalanceLimit,
        AccountNotActive, OwnerNotActive.
        """
        ask = Ask(
            operations.SANDBOX_TRANSACTIONS_FAIL,
            id,
            body=Body({"reason": reason}),
            key=idempotency_key,
        )
        return self._send(ask, ControlledTransaction)

    def stall(self, id: str, *, idempotency_key: str | None = None) -> ControlledTransaction:
        """Let the rail keep a transaction.

        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises ControlNotApplicable, TransitionNotAllowed, AmountExceedsRemaining, BalanceLimit,
        AccountNotActive, OwnerNotActive.
        """
        ask = Ask(operations.SANDBOX_TRANSACTIONS_STALL, id, key=idempotency_key)
        return self._send(ask, ControlledTransaction)

    def return_(
        self, id: str, *, reason: str | None = None, idempotency_key: str | None = None
    ) -> ControlledTransaction:
        """Let the bank return a transaction.

        - `reason`: What the bank says; kept in the history.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises ControlNotApplicable, TransitionNotAllowed, AmountExceedsRemaining, BalanceLimit,
        AccountNotActive, OwnerNotActive.
        """
        ask = Ask(
            operations.SANDBOX_TRANSACTIONS_RETURN,
            id,
            body=Body({"reason": reason}),
            key=idempotency_key,
        )
        return self._send(ask, ControlledTransaction)

    def dispute(
        self, id: str, *, amount: str | None = None, idempotency_key: str | None = None
    ) -> ControlledTransaction:
        """Let the payer dispute a transaction.

        - `amount`: How much; without it, all that is left.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises ControlNotApplicable, TransitionNotAllowed, AmountExceedsRemaining, BalanceLimit,
        AccountNotActive, OwnerNotActive.
        """
        ask = Ask(
            operations.SANDBOX_TRANSACTIONS_DISPUTE,
            id,
            body=Body({"amount": amount}),
            key=idempotency_key,
        )
        return self._send(ask, ControlledTransaction)

    def win(self, id: str, *, idempotency_key: str | None = None) -> ControlledTransaction:
        """Let a dispute be won.

        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises ControlNotApplicable, TransitionNotAllowed, AmountExceedsRemaining, BalanceLimit,
        AccountNotActive, OwnerNotActive.
        """
        ask = Ask(operations.SANDBOX_TRANSACTIONS_WIN, id, key=idempotency_key)
        return self._send(ask, ControlledTransaction)

    def lose(
        self, id: str, *, amount: str | None = None, idempotency_key: str | None = None
    ) -> ControlledTransaction:
        """Let a dispute be lost.

        - `amount`: How much is lost; without it, all.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises ControlNotApplicable, TransitionNotAllowed, AmountExceedsRemaining, BalanceLimit,
        AccountNotActive, OwnerNotActive.
        """
        ask = Ask(
            operations.SANDBOX_TRANSACTIONS_LOSE,
            id,
            body=Body({"amount": amount}),
            key=idempotency_key,
        )
        return self._send(ask, ControlledTransaction)

    def challenge(
        self, id: str, *, approve: bool, idempotency_key: str | None = None
    ) -> ControlledTransaction:
        """Answer the challenge of a payment.

        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises ControlNotApplicable, TransitionNotAllowed, AmountExceedsRemaining, BalanceLimit,
        AccountNotActive, OwnerNotActive.
        """
        ask = Ask(
            operations.SANDBOX_TRANSACTIONS_CHALLENGE,
            id,
            body=Body({"approve": approve}),
            key=idempotency_key,
        )
        return self._send(ask, ControlledTransaction)
