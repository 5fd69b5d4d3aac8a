"""What a webhook is: an address to which events are delivered, signed.

A secret is kept sealed, with the tenant and the webhook as associated data, so that a row that is
moved to another webhook cannot be opened. Signatures are those of Standard Webhooks.
"""

import base64
import functools
import os
from datetime import datetime, timedelta
from typing import Any, Final, Literal, Self
from uuid import UUID

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from msgspec import Struct
from standardwebhooks import Webhook as Signer

from farthing.core import ids
from farthing.core.clock import say_time
from farthing.core.errors import WebhookNotActive
from farthing.core.machine import Machine, O, P, T, row
from farthing.core.rows import ObjectRow, VersionedRow
from farthing.core.wire import ObjectView, View
from farthing.outgoing import Reply
from farthing.resources.events import model as events

WebhookState = Literal["ENABLED", "FAILING", "DISABLED", "DELETED"]

NOUN: Final = "webhook"
ACTIVE: Final = frozenset({"ENABLED", "FAILING"})

MOST_WEBHOOKS: Final = 20
# How long the old secret signs beside the new one.
OVERLAP: Final = timedelta(hours=24)

_SECRET_BYTES: Final = 32
_NONCE_BYTES: Final = 12


class Webhook(ObjectRow, frozen=True):
    """A webhook as it is kept."""

    url: str
    events: list[str]
    description: str | None
    secret: bytes
    old_secret: bytes | None
    old_secret_until: datetime | None

    def owner(self) -> UUID:
        """Return the tenant's own customer."""
        return self.tenant_id

    def wants(self, type_: str) -> bool:
        """Tell whether events of a type are delivered here."""
        return _wants(tuple(self.events), type_)


class Cursor(VersionedRow, frozen=True):
    """How far into the log a webhook has come, and how many deliveries it has had."""

    position: int
    deliveries: int


class Tally(VersionedRow, frozen=True):
    """How many webhooks a tenant has."""

    webhooks: int


class Try(Struct, frozen=True):
    """One attempt to deliver, as it is kept inside its delivery."""

    number: int
    at: str
    status: int | None
    milliseconds: int
    answer: str
    error: str | None

    @classmethod
    def of(cls, number: int, at: datetime, reply: Reply) -> Self:
        """Note what became of an attempt."""
        return cls(
            number, say_time(at), reply.status, reply.milliseconds, reply.answer, reply.error
        )


class WebhookView(ObjectView, frozen=True, kw_only=True):
    """A webhook as the outside sees it."""

    url: str
    events: list[str]
    description: str | None = None


class WebhookWithSecret(WebhookView, frozen=True, kw_only=True):
    """A webhook with the secret that signs its deliveries, which is shown only here."""

    secret: str


class AttemptView(View, frozen=True, kw_only=True):
    """One attempt to deliver: what the endpoint answered, or why it did not."""

    number: int
    attempted_at: str
    duration_ms: int
    status_code: int | None = None
    answer: str | None = None
    error: str | None = None


def view(webhook: Webhook) -> WebhookView:
    """Show a webhook."""
    return WebhookView(**_shown(webhook))


def view_with_secret(webhook: Webhook, secret: str) -> WebhookWithSecret:
    """Show a webhook together with its secret, this once."""
    return WebhookWithSecret(**_shown(webhook), secret=secret)


def _shown(webhook: Webhook) -> dict[str, Any]:
    return {
        "id": ids.say(NOUN, webhook.id),
        "created_at": say_time(webhook.created_at),
        "updated_at": say_time(webhook.updated_at),
        "state_id": webhook.state_id,
        "tags": webhook.tags,
        "annotations": webhook.annotations,
        "url": webhook.url,
        "events": webhook.events,
        "description": webhook.description,
    }


def view_attempt(attempt: Try) -> AttemptView:
    """Show an attempt."""
    return AttemptView(
        number=attempt.number,
        attempted_at=attempt.at,
        duration_ms=attempt.milliseconds,
        status_code=attempt.status,
        answer=attempt.answer or None,
        error=attempt.error,
    )


def require_active(webhook: Webhook) -> None:
    """Refuse what makes sense only while deliveries are made."""
    if webhook.state_id not in ACTIVE:
        raise WebhookNotActive(f"The webhook is {webhook.state_id}. Enable it first.")


def require_present(webhook: Webhook) -> None:
    """Refuse to do anything with a webhook that was deleted."""
    if webhook.state_id == "DELETED":
        raise WebhookNotActive("The webhook is DELETED. Create a new one.")


def make_secret() -> str:
    """Draw a new secret."""
    return "whsec_" + base64.b64encode(os.urandom(_SECRET_BYTES)).decode()


def seal(key: bytes, tenant_id: UUID, webhook_id: UUID, secret: str) -> bytes:
    """Return what is kept of a secret."""
    nonce = os.urandom(_NONCE_BYTES)
    named = tenant_id.bytes + webhook_id.bytes
    return nonce + AESGCM(key).encrypt(nonce, secret.encode(), named)


def current_secrets(key: bytes, webhook: Webhook, now: datetime) -> list[str]:
    """Open the secrets that sign at this time, the newest first."""
    sealed = [webhook.secret]
    until = webhook.old_secret_until
    if webhook.old_secret is not None and until is not None and now < until:
        sealed.append(webhook.old_secret)
    named = webhook.tenant_id.bytes + webhook.id.bytes
    cipher = AESGCM(key)
    return [
        cipher.decrypt(one[:_NONCE_BYTES], one[_NONCE_BYTES:], named).decode() for one in sealed
    ]


def sign(secrets: list[str], message_id: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the headers of a delivery, with a signature by each secret."""
    text = body.decode()
    signatures = [Signer(secret).sign(message_id, at, text) for secret in secrets]
    return {
        "content-type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }


@functools.lru_cache(maxsize=4096)
def _wants(patterns: tuple[str, ...], type_: str) -> bool:
    return any(events.matches(pattern, type_) for pattern in patterns)


MACHINE: Final = Machine(
    NOUN,
    ("ENABLED", "FAILING", "DISABLED", "DELETED"),
    "ENABLED",
    (
        row("ENABLED", "FAILING", {P}, "A delivery failed for the last time; others go on."),
        row("ENABLED", "DISABLED", {T, O, P}, "Nothing is sent; the platform does it after a 410."),
        row("ENABLED", "DELETED", {T, O}, "The endpoint is not needed any more. Final."),
        row("FAILING", "ENABLED", {T, O, P}, "The endpoint works; a delivery shows it too."),
        row("FAILING", "DISABLED", {T, O, P}, "Nothing is sent; the platform does it after a 410."),
        row("FAILING", "DELETED", {T, O}, "The endpoint is not needed any more. Final."),
        row("DISABLED", "ENABLED", {T, O}, "Deliveries begin again, with the events from then on."),
        row("DISABLED", "DELETED", {T, O}, "The endpoint is not needed any more. Final."),
    ),
)
