# Written by `make client` from the operations of the service: do not edit.
"""Operations on faults in the sandbox."""

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._model import Body
from farthing.client._namespaces import AsyncNamespace
from farthing.client.models import Fault, FaultKind, Faults


class AsyncSandboxFaultsOperations(AsyncNamespace):
    """Operations on faults in the sandbox."""

    async def arm(
        self,
        *,
        kind: FaultKind,
        count: int | None = None,
        milliseconds: int | None = None,
        idempotency_key: str | None = None,
    ) -> Fault:
        """Arm a fault for the next requests of this tenant.

        - `kind`: `rateLimited` answers 429 and `unavailable` 503, before anything happens; `delay`
          keeps a request waiting; `cut` closes the connection instead of answering a write that is
          done. The others are for deliveries of webhooks.
        - `count`: How many requests, writes or deliveries it is for.
        - `milliseconds`: How long, for the two delays only; 1000 if it is left out.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.
        """
        ask = Ask(
            operations.SANDBOX_FAULTS_ARM,
            body=Body({"kind": kind, "count": count, "milliseconds": milliseconds}),
            key=idempotency_key,
        )
        return await self._send(ask, Fault)

    async def list(self) -> Faults:
        """List the faults that are armed."""
        ask = Ask(operations.SANDBOX_FAULTS_LIST)
        return await self._send(ask, Faults)

    async def clear(self, *, idempotency_key: str | None = None) -> Faults:
        """Disarm every fault.

        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.
        """
        ask = Ask(operations.SANDBOX_FAULTS_CLEAR, key=idempotency_key)
        return await self._send(ask, Faults)
