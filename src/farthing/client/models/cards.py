# Written by `make client` from the operations of the service: do not edit.
"""Models of cards."""

from farthing.client._model import Model
from farthing.client.models.common import Address
from farthing.client.models.words import CardType, Scheme, StorageType


class Card(Model, frozen=True, kw_only=True):
    """A card as the outside sees it."""

    id: str
    created_at: str
    updated_at: str
    state_id: str
    tags: list[str]
    annotations: dict[str, str]
    card_number_suffix: str
    expiry: str
    scheme: Scheme
    type: CardType
    owner_id: str
    billing_address: Address
    storage_type: StorageType
    set_as_preferred: bool
    requirements: dict[str, str]


class CardPage(Model, frozen=True, kw_only=True):
    """One page of cards."""

    next_cursor: str | None = None
    results: list[Card]
