"""Webhooks: what the service really delivered is verified in one call, and nothing else is."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest
from standardwebhooks import Webhook
from tests.client.conftest import EAGER, Running, Shop
from tests.resources.hooks import Got, Receiver, receiving

from farthing.client import Farthing, errors, verify_webhook
from farthing.client.models import WebhookWithSecret


@pytest.fixture
def receiver(running: Running) -> Iterator[Receiver]:
    opened = receiving()
    yield cast("Receiver", running.run(opened.__aenter__()))
    running.run(opened.__aexit__(None, None, None))


@pytest.fixture
def own(running: Running, shop: Shop) -> Iterator[Farthing]:
    with Farthing(shop.key, base_url=running.url, retries=EAGER) as client:
        yield client


@pytest.fixture
def hook(own: Farthing, receiver: Receiver) -> WebhookWithSecret:
    return own.webhooks.create(url=receiver.url("/hook"), events=["customer.*"])


@pytest.fixture
def got(own: Farthing, receiver: Receiver, hook: WebhookWithSecret) -> Got:
    """Let the service deliver something."""
    attempt = own.webhooks.test(hook.id)
    assert attempt.status_code == 204
    return receiver.got[0]


def test_a_delivery_is_verified_and_typed(own: Farthing, hook: WebhookWithSecret, got: Got) -> None:
    event = verify_webhook(got.body, got.headers, hook.secret)
    assert (event.type, event.object_id) == ("webhook.test", hook.id)
    assert event.object == own.webhooks.get(hook.id)
    assert hook.secret not in repr(hook)
    # Names of headers have no case.
    shouted = {name.upper(): value for name, value in got.headers.items()}
    assert verify_webhook(got.body, shouted, hook.secret) == event


def test_both_secrets_verify_after_a_rotation(
    own: Farthing, hook: WebhookWithSecret, receiver: Receiver
) -> None:
    rotated = own.webhooks.rotate(hook.id)
    own.webhooks.test(hook.id)
    for secret in (hook.secret, rotated.secret):
        event = verify_webhook(receiver.got[0].body, receiver.got[0].headers, secret)
        assert event.object_id == hook.id


@pytest.mark.parametrize(
    "changed",
    [
        {"webhook-signature": "v1,AAAA"},
        {"webhook-signature": "nonsense"},
        {"webhook-signature": "v1,é"},
        {"webhook-id": "event/other"},
        {"webhook-timestamp": "soon"},
        {"webhook-timestamp": ""},
    ],
    ids=str,
)
def test_altered_headers_are_refused(
    hook: WebhookWithSecret, got: Got, changed: dict[str, str]
) -> None:
    with pytest.raises(errors.InvalidSignature):
        verify_webhook(got.body, {**got.headers, **changed}, hook.secret)


def test_an_altered_body_another_secret_and_an_old_delivery_are_refused(
    hook: WebhookWithSecret, got: Got
) -> None:
    for body in (got.body + b" ", b"", b"\xff"):
        with pytest.raises(errors.InvalidSignature):
            verify_webhook(body, got.headers, hook.secret)
    with pytest.raises(errors.InvalidSignature, match="No matching signature"):
        verify_webhook(got.body, got.headers, "whsec_c2VjcmV0c2VjcmV0c2VjcmV0")
    then = datetime.now(UTC) - timedelta(minutes=6)
    old = {
        "webhook-id": "1",
        "webhook-timestamp": str(int(then.timestamp())),
        "webhook-signature": Webhook(hook.secret).sign("1", then, got.body.decode()),
    }
    with pytest.raises(errors.InvalidSignature, match="too old"):
        verify_webhook(got.body, old, hook.secret)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_!", "a"])
def test_what_is_no_secret_is_said_to_be_none(secret: str) -> None:
    with pytest.raises(ValueError, match="no secret of a webhook"):
        verify_webhook(b"{}", {}, secret)


def test_what_is_signed_and_no_event_is_unexpected(hook: WebhookWithSecret) -> None:
    now = datetime.now(UTC)
    headers = {
        "webhook-id": "1",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(hook.secret).sign("1", now, "[]"),
    }
    with pytest.raises(errors.UnexpectedAnswer):
        verify_webhook(b"[]", headers, hook.secret)
