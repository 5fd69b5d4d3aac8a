# Written by `make client` from the operations of the service: do not edit.
"""Operations on tokens."""

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._namespaces import Namespace
from farthing.client.models import AccessToken, Revocation


class TokensOperations(Namespace):
    """Tenants, credentials and access tokens.

    >>> ada = client.customers.create(type="INDIVIDUAL")
    >>> client.tokens.issue(ada.id)  # for an application of the customer's own
    <AccessToken, not shown>
    >>> client.tokens.revoke(ada.id).customer_id == ada.id
    True
    """

    def issue(self, id: str, *, idempotency_key: str | None = None) -> AccessToken:
        """Issue an access token for a customer.

        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises OwnerNotActive.
        """
        ask = Ask(operations.TOKENS_ISSUE, id, key=idempotency_key)
        return self._send(ask, AccessToken)

    def revoke(self, id: str, *, idempotency_key: str | None = None) -> Revocation:
        """Revoke all access tokens of a customer.

        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.
        """
        ask = Ask(operations.TOKENS_REVOKE, id, key=idempotency_key)
        return self._send(ask, Revocation)
