"""What access is: tenants, and the credentials that open the service to them.

A credential is `farthing_<kind>_<environment>_<64 characters>`. The characters are the tenant's
id, so that its rows are found, and 256 random bits. Only a digest of those bits is kept; because
they are random, a plain one is as good as a slow one.
"""

import base64
import binascii
import functools
import hashlib
import secrets
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from msgspec import Struct

from farthing.core import ids
from farthing.core.wire import View

CredentialKind = Literal["apiKey", "operatorKey", "accessToken"]

SECRET_BYTES: Final = 32

_PREFIXES: Final[dict[CredentialKind, str]] = {
    "apiKey": "key",
    "operatorKey": "operator",
    "accessToken": "token",
}
_KINDS: Final = {prefix: kind for kind, prefix in _PREFIXES.items()}


class Tenant(Struct, frozen=True):
    """A client of the service; its own customer has the same id."""

    id: UUID
    name: str
    created_at: datetime


class Credential(Struct, frozen=True):
    """What is kept of a credential."""

    tenant_id: UUID
    kind: str
    digest: bytes
    customer_id: UUID | None
    generation: int | None
    created_at: datetime
    expires_at: datetime | None


class Presented(Struct, frozen=True):
    """A credential as somebody shows it; the secret itself goes no further than this."""

    kind: CredentialKind
    environment: str
    tenant_id: UUID
    secret: bytes

    @property
    def digest(self) -> bytes:
        """The digest by which the credential is found."""
        return hashlib.sha256(self.secret).digest()

    @property
    def text(self) -> str:
        """The credential as its holder keeps it."""
        body = base64.urlsafe_b64encode(self.tenant_id.bytes + self.secret).decode()
        return f"farthing_{_PREFIXES[self.kind]}_{self.environment}_{body}"

    def __repr__(self) -> str:
        return f"<{self.kind} of {self.tenant_id}>"


def mint(kind: CredentialKind, environment: str, tenant_id: UUID) -> Presented:
    """Make a new credential."""
    return Presented(kind, environment, tenant_id, secrets.token_bytes(SECRET_BYTES))


@functools.lru_cache(maxsize=4096)
def read(text: str) -> Presented | None:
    """Read a credential; None for anything that does not have the form of one."""
    name, _, rest = text.partition("_")
    prefix, _, rest = rest.partition("_")
    environment, _, body = rest.partition("_")
    if name != "farthing" or prefix not in _KINDS:
        return None
    try:
        decoded = base64.b64decode(body, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(decoded) != 16 + SECRET_BYTES:
        return None
    return Presented(_KINDS[prefix], environment, ids.of_bytes(decoded[:16]), decoded[16:])


class TokenView(View, frozen=True, kw_only=True):
    """An access token, shown once."""

    access_token: str
    expires_at: str


class RevocationView(View, frozen=True, kw_only=True):
    """The end of all access tokens of a customer."""

    customer_id: str
    revoked_at: str
