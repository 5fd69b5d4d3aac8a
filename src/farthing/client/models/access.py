# Written by `make client` from the operations of the service: do not edit.
"""Models of access."""

from farthing.client._model import Model, Secret


class AccessToken(Secret, frozen=True, kw_only=True):
    """An access token, shown once."""

    access_token: str
    expires_at: str


class Revocation(Model, frozen=True, kw_only=True):
    """The end of all access tokens of a customer."""

    customer_id: str
    revoked_at: str
