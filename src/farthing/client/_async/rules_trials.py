# Written by `make client` from the operations of the service: do not edit.
"""Operations on trials."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._model import Body
from farthing.client._namespaces import AsyncNamespace
from farthing.client.models import Backtest, RuleTest, RuleTestStep, Trigger


class AsyncRulesTrialsOperations(AsyncNamespace):
    """Operations on trials."""

    async def test(
        self,
        *,
        on: Trigger,
        object_id: str | None = None,
        object: Mapping[str, Any] | None = None,
        owner_id: str | None = None,
        step: RuleTestStep | None = None,
        idempotency_key: str | None = None,
    ) -> RuleTest:
        """Ask what the rules would do about an object, of which nothing comes.

        - `on`: Which rules are tried.
        - `object_id`: An object that is there.
        - `object`: An object that is not there: what rules see of it, as far as it matters. Amounts
          are numbers, or strings of digits.
        - `owner_id`: With object: whose history counts, unless the object says it.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.
        """
        ask = Ask(
            operations.RULES_TEST,
            body=Body(
                {
                    "on": on,
                    "objectId": object_id,
                    "object": object,
                    "ownerId": owner_id,
                    "step": step,
                }
            ),
            key=idempotency_key,
        )
        return await self._send(ask, RuleTest)

    async def backtest(
        self, id: str, *, from_: datetime, to: datetime, idempotency_key: str | None = None
    ) -> Backtest:
        """Run a rule over the stored transactions of a period.

        - `from_`: The first moment of the period.
        - `to`: The first moment after it, at most 366 days later than from.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises NotReplayable, TooManyBacktests.
        """
        ask = Ask(
            operations.RULES_BACKTEST, id, body=Body({"from": from_, "to": to}), key=idempotency_key
        )
        return await self._send(ask, Backtest)
