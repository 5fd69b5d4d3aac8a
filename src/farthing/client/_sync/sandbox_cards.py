# Written by `make client` from the operations of the service: do not edit.
"""Operations on cards in the sandbox."""

from typing import Literal

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._model import Body
from farthing.client._namespaces import Namespace
from farthing.client.models import ControlledCard


class SandboxCardsOperations(Namespace):
    """Operations on cards in the sandbox."""

    def challenge(
        self, id: str, *, approve: bool, idempotency_key: str | None = None
    ) -> ControlledCard:
        """Answer the challenge of a card.

        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises ControlNotApplicable, TransitionNotAllowed, AmountExceedsRemaining, BalanceLimit,
        AccountNotActive, OwnerNotActive.
        """
        ask = Ask(
            operations.SANDBOX_CARDS_CHALLENGE,
            id,
            body=Body({"approve": approve}),
            key=idempotency_key,
        )
        return self._send(ask, ControlledCard)

    def verification(
        self, id: str, *, outcome: Literal["fail"], idempotency_key: str | None = None
    ) -> ControlledCard:
        """Let the verification of a card fail.

        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises ControlNotApplicable, TransitionNotAllowed, AmountExceedsRemaining, BalanceLimit,
        AccountNotActive, OwnerNotActive.
        """
        ask = Ask(
            operations.SANDBOX_CARDS_VERIFICATION,
            id,
            body=Body({"outcome": outcome}),
            key=idempotency_key,
        )
        return self._send(ask, ControlledCard)
