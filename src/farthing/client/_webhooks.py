"""Webhooks as their receiver sees them."""

from collections.abc import Mapping

from standardwebhooks import Webhook, WebhookVerificationError

from farthing.client._failures import InvalidSignature
from farthing.client._session import read
from farthing.client.models import Event


def verify_webhook(body: bytes, headers: Mapping[str, str], secret: str) -> Event:
    """Return the event that was delivered, if the service signed it with this secret just now.

    `body` is what came, byte for byte; `secret` is what `client.webhooks.create` answered.

    >>> hook = client.webhooks.create(url="https://example.org/hook")
    >>> verify_webhook(b"{}", {"webhook-id": "1"}, hook.secret)
    Traceback (most recent call last):
    farthing.client.errors.InvalidSignature: Missing required headers.
    """
    try:
        signer = Webhook(secret)
    except Exception:  # noqa: BLE001 - it raises many things, and all of them mean this
        raise ValueError("This is no secret of a webhook; it begins with whsec_.") from None
    try:
        signer.verify(body, dict(headers), json_parse=False)
    except WebhookVerificationError as error:
        raise InvalidSignature(f"{error}.") from None
    except ValueError:
        raise InvalidSignature("The headers or the body are not those of a webhook.") from None
    return read(body, Event)
