# Written by `make client` from the operations of the service: do not edit.
"""Models of bank accounts."""

from msgspec import field

from farthing.client._model import Model
from farthing.client.models.common import Address


class BankAccount(Model, frozen=True, kw_only=True):
    """A bank account as the outside sees it."""

    id: str
    created_at: str
    updated_at: str
    state_id: str
    tags: list[str]
    annotations: dict[str, str]
    account_number: str | None = None
    sort_code: str | None = None
    iban: str | None = None
    bic: str | None = None
    currency_iso: str = field(name="currencyISO")
    country_iso: str = field(name="countryISO")
    owner_id: str
    billing_address: Address


class BankAccountPage(Model, frozen=True, kw_only=True):
    """One page of bank accounts."""

    next_cursor: str | None = None
    results: list[BankAccount]
