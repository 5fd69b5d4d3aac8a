# Written by `make client` from the operations of the service: do not edit.
"""Operations on bank accounts in the sandbox."""

from typing import Literal

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._model import Body
from farthing.client._namespaces import Namespace
from farthing.client.models import ControlledBankAccount


class SandboxBankAccountsOperations(Namespace):
    """Operations on bank accounts in the sandbox."""

    def verification(
        self, id: str, *, outcome: Literal["fail"], idempotency_key: str | None = None
    ) -> ControlledBankAccount:
        """Let the verification of a bank account fail.

        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises ControlNotApplicable, TransitionNotAllowed, AmountExceedsRemaining, BalanceLimit,
        AccountNotActive, OwnerNotActive.
        """
        ask = Ask(
            operations.SANDBOX_BANK_ACCOUNTS_VERIFICATION,
            id,
            body=Body({"outcome": outcome}),
            key=idempotency_key,
        )
        return self._send(ask, ControlledBankAccount)
