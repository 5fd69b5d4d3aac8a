# Written by `make client` from the operations of the service: do not edit.
"""Operations on rail in the sandbox."""

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._model import Body
from farthing.client._namespaces import Namespace
from farthing.client.models import Mood, Rail


class SandboxRailOperations(Namespace):
    """Operations on rail in the sandbox."""

    def get(self) -> Rail:
        """Get the mood of the rail."""
        ask = Ask(operations.SANDBOX_RAIL_GET)
        return self._send(ask, Rail)

    def change(
        self,
        *,
        mood: Mood,
        seconds: int | None = None,
        for_minutes: int | None = None,
        requests: int | None = None,
        refuse: int | None = None,
        idempotency_key: str | None = None,
    ) -> Rail:
        """Make the rail slow, down, forgetful or normal.

        - `seconds`: How late a slow rail answers; 5 by default.
        - `for_minutes`: It ends after so many minutes.
        - `requests`: It ends after so many requests.
        - `refuse`: So many orders to come are refused.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises ControlNotApplicable.
        """
        ask = Ask(
            operations.SANDBOX_RAIL_CHANGE,
            body=Body(
                {
                    "mood": mood,
                    "seconds": seconds,
                    "forMinutes": for_minutes,
                    "requests": requests,
                    "refuse": refuse,
                }
            ),
            key=idempotency_key,
        )
        return self._send(ask, Rail)
