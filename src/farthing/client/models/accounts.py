# Written by `make client` from the operations of the service: do not edit.
"""Models of accounts."""

from msgspec import field

from farthing.client._model import Model


class Account(Model, frozen=True, kw_only=True):
    """An account as the outside sees it, with its seven amounts in the smallest unit."""

    id: str
    created_at: str
    updated_at: str
    state_id: str
    tags: list[str]
    annotations: dict[str, str]
    owner_id: str
    currency_iso: str = field(name="currencyISO")
    complete_balance: str
    available_balance: str
    incomplete_credits: str
    incomplete_debits: str
    disputed_credits: str
    disputed_debits: str
    withheld_balance: str


class AccountPage(Model, frozen=True, kw_only=True):
    """One page of accounts."""

    next_cursor: str | None = None
    results: list[Account]


class Entry(Model, frozen=True, kw_only=True):
    """One change of what an account holds; an amount that it leaves alone is not shown."""

    account_id: str
    number: int
    effect: str
    complete_balance: str | None = None
    incomplete_credits: str | None = None
    incomplete_debits: str | None = None
    disputed_credits: str | None = None
    disputed_debits: str | None = None
    withheld_balance: str | None = None
    created_at: str
