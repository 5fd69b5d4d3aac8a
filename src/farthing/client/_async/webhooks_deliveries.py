# Written by `make client` from the operations of the service: do not edit.
"""Operations on deliveries."""

from datetime import datetime

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._model import Body
from farthing.client._namespaces import AsyncNamespace
from farthing.client._reading import AsyncListing
from farthing.client.models import Delivery, DeliveryPage, Resend, Status


class AsyncWebhooksDeliveriesOperations(AsyncNamespace):
    """Operations on deliveries."""

    def deliveries(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        status: Status | None = None,
    ) -> AsyncListing[Delivery, DeliveryPage]:
        """List the deliveries to a webhook, newest first.

        - `limit`: How many results at the most, over all pages; all of them by default.
        - `cursor`: The `nextCursor` of the page before.
        """
        ask = Ask(operations.WEBHOOKS_DELIVERIES, id, query={"cursor": cursor, "status": status})
        return self._list(ask, DeliveryPage, limit)

    async def resend(
        self,
        id: str,
        *,
        delivery_id: str | None = None,
        event_id: str | None = None,
        since: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> Resend:
        """Deliver an event, or all since a time, once more.

        - `delivery_id`: The event of this delivery.
        - `event_id`: This event.
        - `since`: Every event of this time or later that the webhook wants.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises WebhookNotActive.
        """
        ask = Ask(
            operations.WEBHOOKS_RESEND,
            id,
            body=Body({"deliveryId": delivery_id, "eventId": event_id, "since": since}),
            key=idempotency_key,
        )
        return await self._send(ask, Resend)
