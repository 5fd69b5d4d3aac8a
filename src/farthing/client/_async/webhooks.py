# Written by `make client` from the operations of the service: do not edit.
"""Operations on webhooks."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._async.webhooks_deliveries import AsyncWebhooksDeliveriesOperations
from farthing.client._model import Body
from farthing.client._reading import AsyncListing
from farthing.client.models import (
    Attempt,
    Transitions,
    Webhook,
    WebhookPage,
    WebhookState,
    WebhookWithSecret,
)


class AsyncWebhooksOperations(AsyncWebhooksDeliveriesOperations):
    """Webhooks: addresses to which events are delivered, signed, in order per object."""

    async def create(
        self,
        *,
        url: str,
        events: Sequence[str] | None = None,
        description: str | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> WebhookWithSecret:
        """Create a webhook; its secret is shown only now.

        - `url`: Where events are delivered: http, or https, which live requires.
        - `events`: Which events are delivered; all of them by default.
        - `tags`: Free-form labels; rules can use them.
        - `annotations`: Free-form names with their values; rules can use them.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises TooManyWebhooks.
        """
        ask = Ask(
            operations.WEBHOOKS_CREATE,
            body=Body(
                {
                    "url": url,
                    "events": events,
                    "description": description,
                    "tags": tags,
                    "annotations": annotations,
                }
            ),
            key=idempotency_key,
        )
        return await self._send(ask, WebhookWithSecret)

    async def update(
        self,
        id: str,
        *,
        url: str | None = None,
        events: Sequence[str] | None = None,
        description: str | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Webhook:
        """Update a webhook.

        - `url`: Where events are delivered: http, or https, which live requires.
        - `events`: Which events are delivered; all of them by default.
        - `tags`: Free-form labels; rules can use them.
        - `annotations`: Free-form names with their values; rules can use them.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises WebhookNotActive.
        """
        ask = Ask(
            operations.WEBHOOKS_UPDATE,
            id,
            body=Body(
                {
                    "url": url,
                    "events": events,
                    "description": description,
                    "tags": tags,
                    "annotations": annotations,
                }
            ),
            key=idempotency_key,
        )
        return await self._send(ask, Webhook)

    async def move(
        self,
        id: str,
        *,
        to_state_id: WebhookState,
        reason: str | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        from_state_id: WebhookState | None = None,
        idempotency_key: str | None = None,
    ) -> Webhook:
        """Move a webhook to another state.

        - `reason`: Why; kept in the history.
        - `tags`: Added to the tags that there are.
        - `annotations`: Merged by name into those that there are.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises StateMismatch, TransitionNotAllowed.
        """
        ask = Ask(
            operations.WEBHOOKS_MOVE,
            id,
            body=Body(
                {
                    "reason": reason,
                    "tags": tags,
                    "annotations": annotations,
                    "fromStateId": from_state_id,
                    "toStateId": to_state_id,
                }
            ),
            key=idempotency_key,
        )
        return await self._send(ask, Webhook)

    async def delete(self, id: str, *, idempotency_key: str | None = None) -> Webhook:
        """Delete a webhook.

        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises TransitionNotAllowed.
        """
        ask = Ask(operations.WEBHOOKS_DELETE, id, key=idempotency_key)
        return await self._send(ask, Webhook)

    async def rotate(self, id: str, *, idempotency_key: str | None = None) -> WebhookWithSecret:
        """Give a webhook a new secret; the old one signs too for 24 hours.

        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises WebhookNotActive.
        """
        ask = Ask(operations.WEBHOOKS_ROTATE, id, key=idempotency_key)
        return await self._send(ask, WebhookWithSecret)

    async def test(self, id: str, *, idempotency_key: str | None = None) -> Attempt:
        """Send a signed webhook.test event at once.

        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises WebhookNotActive.
        """
        ask = Ask(operations.WEBHOOKS_TEST, id, key=idempotency_key)
        return await self._send(ask, Attempt)

    def list(
        self,
        *,
        limit: int | None = None,
        annotations: Mapping[str, str] | None = None,
        cursor: str | None = None,
        tag: str | None = None,
        created_from: datetime | None = None,
        created_to: datetime | None = None,
        state_id: WebhookState | None = None,
    ) -> AsyncListing[Webhook, WebhookPage]:
        """List webhooks, newest first.

        - `limit`: How many results at the most, over all pages; all of them by default.
        - `annotations`: Only objects with these annotations.
        - `cursor`: The `nextCursor` of the page before.
        - `tag`: Only objects with this tag.
        - `created_from`: Only objects made at this time or later.
        - `created_to`: Only objects made before this time.
        """
        ask = Ask(
            operations.WEBHOOKS_LIST,
            query={
                "cursor": cursor,
                "tag": tag,
                "createdFrom": created_from,
                "createdTo": created_to,
                "stateId": state_id,
                "annotation": annotations,
            },
        )
        return self._list(ask, WebhookPage, limit)

    async def get(self, id: str) -> Webhook:
        """Read one webhook."""
        ask = Ask(operations.WEBHOOKS_GET, id)
        return await self._send(ask, Webhook)

    async def transitions(self, id: str) -> Transitions:
        """Read the history of one webhook and its possible next states."""
        ask = Ask(operations.WEBHOOKS_TRANSITIONS, id)
        return await self._send(ask, Transitions)
