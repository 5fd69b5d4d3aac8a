# Written by `make client` from the operations of the service: do not edit.
"""Models of references."""

from msgspec import field

from farthing.client._model import Model


class ReceivingDetails(Model, frozen=True, kw_only=True):
    """Where the payer sends the money: our account at the bank."""

    account_number: str | None = None
    sort_code: str | None = None
    iban: str | None = None
    bic: str | None = None
    country_iso: str = field(name="countryISO")
    currency_iso: str = field(name="currencyISO")


class Reference(Model, frozen=True, kw_only=True):
    """A reference as the outside sees it, with everything that a payer needs."""

    id: str
    created_at: str
    updated_at: str
    state_id: str
    tags: list[str]
    annotations: dict[str, str]
    to_id: str
    from_id: str | None = None
    reference: str
    currency_iso: str = field(name="currencyISO")
    expires_at: str
    receiving_details: ReceivingDetails


class ReferencePage(Model, frozen=True, kw_only=True):
    """One page of references."""

    next_cursor: str | None = None
    results: list[Reference]
