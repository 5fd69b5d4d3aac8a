"""What a challenge is: a question to the cardholder, behind a link that works once.

The link carries the tenant's id and 256 random bits, of which a digest is the challenge's id. It
stands in the requirements of its object until it is used or expires, and opens nothing afterwards.
"""

import base64
import binascii
import hashlib
import secrets
from datetime import datetime
from typing import Final
from uuid import UUID

from msgspec import Struct

from farthing.core import ids
from farthing.core.rows import VersionedRow

SECRET_BYTES: Final = 32
PATH: Final = "/challenges/"


class ChallengeRow(VersionedRow, frozen=True):
    """A challenge as it is kept."""

    noun: str
    object_id: UUID
    created_at: datetime
    expires_at: datetime
    outcome: str | None


class Link(Struct, frozen=True):
    """The tenant and the challenge to which a link leads."""

    tenant_id: UUID
    secret: bytes

    @property
    def challenge_id(self) -> UUID:
        """The id of the challenge: half of the digest of the link's secret."""
        return ids.of_bytes(hashlib.sha256(self.secret).digest()[:16])

    @property
    def path(self) -> str:
        """The path of the page."""
        body = base64.urlsafe_b64encode(self.tenant_id.bytes + self.secret).decode()
        return f"{PATH}{body}"

    def __repr__(self) -> str:
        return "<a link>"


def make_link(tenant_id: UUID) -> Link:
    """Make a new link."""
    return Link(tenant_id, secrets.token_bytes(SECRET_BYTES))


def read_link(text: str) -> Link | None:
    """Read the last part of a link's path; None for anything else."""
    try:
        decoded = base64.b64decode(text, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(decoded) != 16 + SECRET_BYTES:
        return None
    return Link(ids.of_bytes(decoded[:16]), decoded[16:])
