# Written by `make client` from the operations of the service: do not edit.
"""Operations on tokens."""

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._namespaces import AsyncNamespace
from farthing.client.models import AccessToken, Revocation


class AsyncTokensOperations(AsyncNamespace):
    """Tenants, credentials and access tokens."""

    async def issue(self, id: str, *, idempotency_key: str | None = None) -> AccessToken:
        """Issue an access token for a customer.

        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises OwnerNotActive.
        """
        ask = Ask(operations.TOKENS_ISSUE, id, key=idempotency_key)
        return await self._send(ask, AccessToken)

    async def revoke(self, id: str, *, idempotency_key: str | None = None) -> Revocation:
        """Revoke all access tokens of a customer.

        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.
        """
        ask = Ask(operations.TOKENS_REVOKE, id, key=idempotency_key)
        return await self._send(ask, Revocation)
