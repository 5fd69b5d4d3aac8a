# Written by `make client` from the operations of the service: do not edit.
"""Models of transactions."""

from typing import Literal

from farthing.client._model import Model
from farthing.client.models.accounts import Account, Entry
from farthing.client.models.common import Step
from farthing.client.models.words import AdjustmentType, Flow, Method, Purpose


class Adjustment(Model, frozen=True, kw_only=True):
    """Money of a transaction that went back to the payer."""

    id: str
    type: AdjustmentType
    amount: str
    reason: str | None = None
    created_at: str


class Transaction(Model, frozen=True, kw_only=True):
    """A transaction as the outside sees it."""

    id: str
    created_at: str
    updated_at: str
    state_id: str
    tags: list[str]
    annotations: dict[str, str]
    from_owner_id: str
    to_owner_id: str
    payment_instrument_id: str | None = None
    purpose: Purpose
    adjustments: list[Adjustment]
    flow: Flow
    method: Method
    description: str | None = None
    group_id: str | None = None
    requirements: dict[str, str]
    reference: str | None = None
    amount: str


class TransactionDetail(Model, frozen=True, kw_only=True):
    """A transaction with what `include` asks for; of accounts and entries, what one may see."""

    id: str
    created_at: str
    updated_at: str
    state_id: str
    tags: list[str]
    annotations: dict[str, str]
    from_owner_id: str
    to_owner_id: str
    payment_instrument_id: str | None = None
    purpose: Literal["PURCHASE", "TRANSFER", "DEPOSIT", "WITHDRAWAL"]
    adjustments: list[Adjustment]
    flow: Literal["INBOUND", "OUTBOUND", "INTERNAL"]
    method: Literal["card", "bankAccount", "transfer"]
    description: str | None = None
    group_id: str | None = None
    requirements: dict[str, str]
    reference: str | None = None
    amount: str
    accounts: list[Account] | None = None
    entries: list[Entry] | None = None
    transitions: list[Step] | None = None


class TransactionPage(Model, frozen=True, kw_only=True):
    """One page of transactions."""

    next_cursor: str | None = None
    results: list[TransactionDetail]
