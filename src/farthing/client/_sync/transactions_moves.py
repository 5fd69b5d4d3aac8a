# Written by `make client` from the operations of the service: do not edit.
"""Operations on moves."""

from collections.abc import Mapping, Sequence

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._model import Body
from farthing.client._namespaces import Namespace
from farthing.client.models import FromState, MoveOptions, Rehearsal, ToState, Transaction


class TransactionsMovesOperations(Namespace):
    """Operations on moves."""

    def move(
        self,
        id: str,
        *,
        to_state_id: ToState,
        from_state_id: FromState | None = None,
        annotations: Mapping[str, str] | None = None,
        tags: Sequence[str] | None = None,
        options: MoveOptions | None = None,
        idempotency_key: str | None = None,
    ) -> Transaction:
        """Transition a transaction status.

        - `annotations`: Merged by name into those that there are.
        - `tags`: Added to the tags that there are.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises StateMismatch, TransitionNotAllowed, RequirementsUnresolved, InsufficientFunds,
        AmountExceedsRemaining, BalanceLimit, RefusedByRule, AccountNotActive, OwnerNotActive,
        InstrumentNotUsable.
        """
        ask = Ask(
            operations.TRANSACTIONS_MOVE,
            id,
            body=Body(
                {
                    "fromStateId": from_state_id,
                    "toStateId": to_state_id,
                    "annotations": annotations,
                    "tags": tags,
                    "options": options,
                }
            ),
            key=idempotency_key,
        )
        return self._send(ask, Transaction)

    def move_dry_run(
        self,
        id: str,
        *,
        to_state_id: ToState,
        from_state_id: FromState | None = None,
        annotations: Mapping[str, str] | None = None,
        tags: Sequence[str] | None = None,
        options: MoveOptions | None = None,
        idempotency_key: str | None = None,
    ) -> Rehearsal:
        """Transition a transaction status, as a dry run: nothing is changed.

        - `annotations`: Merged by name into those that there are.
        - `tags`: Added to the tags that there are.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises StateMismatch, TransitionNotAllowed, RequirementsUnresolved, InsufficientFunds,
        AmountExceedsRemaining, BalanceLimit, RefusedByRule, AccountNotActive, OwnerNotActive,
        InstrumentNotUsable.
        """
        ask = Ask(
            operations.TRANSACTIONS_MOVE,
            id,
            query={"dryRun": True},
            body=Body(
                {
                    "fromStateId": from_state_id,
                    "toStateId": to_state_id,
                    "annotations": annotations,
                    "tags": tags,
                    "options": options,
                }
            ),
            key=idempotency_key,
        )
        return self._send(ask, Rehearsal)
