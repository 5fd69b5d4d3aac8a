"""The Python client of Farthing: `Farthing` waits, `AsyncFarthing` awaits."""

from farthing.client import errors, models
from farthing.client._clients import AsyncFarthing, Farthing
from farthing.client._reading import AsyncEventStream, AsyncListing, EventStream, Listing
from farthing.client._retries import Retries
from farthing.client._webhooks import verify_webhook

__all__ = [
    "AsyncEventStream",
    "AsyncFarthing",
    "AsyncListing",
    "EventStream",
    "Farthing",
    "Listing",
    "Retries",
    "errors",
    "models",
    "verify_webhook",
]
