# Written by `make client` from the operations of the service: do not edit.
"""Operations on clock in the sandbox."""

from datetime import datetime

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._model import Body
from farthing.client._namespaces import AsyncNamespace
from farthing.client.models import Advance, Clock


class AsyncSandboxClockOperations(AsyncNamespace):
    """Operations on clock in the sandbox."""

    async def get(self) -> Clock:
        """Read the clock of the tenant."""
        ask = Ask(operations.SANDBOX_CLOCK_GET)
        return await self._send(ask, Clock)

    async def advance(
        self,
        *,
        advance: str | None = None,
        to: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> Advance:
        """Move the clock of the tenant forward, and do everything that falls due on the way.

        - `advance`: By how much, as a duration of ISO 8601.
        - `to`: To which time; the clock never goes back.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.
        """
        ask = Ask(
            operations.SANDBOX_CLOCK_ADVANCE,
            body=Body({"advance": advance, "to": to}),
            key=idempotency_key,
        )
        return await self._send(ask, Advance)
