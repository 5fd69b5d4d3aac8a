# Written by `make client` from the operations of the service: do not edit.
"""Models of customers."""

from farthing.client._model import Model
from farthing.client.models.common import Address
from farthing.client.models.words import CustomerType


class PreferredInstruments(Model, frozen=True, kw_only=True):
    """What is used when a payment names no instrument."""

    card_id: str | None = None
    bank_account_id: str | None = None


class Customer(Model, frozen=True, kw_only=True):
    """A customer as the outside sees it."""

    id: str
    created_at: str
    updated_at: str
    state_id: str
    tags: list[str]
    annotations: dict[str, str]
    type: CustomerType
    name: str | None = None
    email: str | None = None
    phone: str | None = None
    address: Address | None = None
    preferred_instruments: PreferredInstruments | None = None


class CustomerPage(Model, frozen=True, kw_only=True):
    """One page of customers."""

    next_cursor: str | None = None
    results: list[Customer]
