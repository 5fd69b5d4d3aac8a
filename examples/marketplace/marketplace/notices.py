"""What people are told, from webhooks."""

from collections import defaultdict
from collections.abc import Mapping

from farthing.client import verify_webhook
from farthing.client.models import Transaction

TEXTS = {
    "transaction.held": "It is paid. Please send the goods.",
    "transaction.effected": "The money is the seller's.",
    "transaction.failed": "It could not be paid.",
    "transaction.cancelled": "It was cancelled, and the money goes back.",
    "transaction.disputed": "The buyer's bank wants the money back.",
}


class Notices:
    """Keeps what is to be told about each order; put `receive` behind the address of a webhook."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._seen: set[str] = set()
        self.about: dict[str, list[str]] = defaultdict(list)

    def receive(self, body: bytes, headers: Mapping[str, str]) -> None:
        """Take a webhook, or raise `InvalidSignature`; one that comes again says nothing new."""
        event = verify_webhook(body, headers, self._secret)
        is_order = isinstance(event.object, Transaction) and event.object.purpose == "PURCHASE"
        if is_order and event.type in TEXTS and event.id not in self._seen:
            self.about[event.object_id].append(TEXTS[event.type])
        self._seen.add(event.id)
