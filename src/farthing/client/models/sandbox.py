# Written by `make client` from the operations of the service: do not edit.
"""Models of sandbox."""

from farthing.client._model import Model
from farthing.client.models.bank_accounts import BankAccount
from farthing.client.models.cards import Card
from farthing.client.models.events import Event
from farthing.client.models.transactions import Transaction
from farthing.client.models.words import Mood


class ControlledBankAccount(Model, frozen=True, kw_only=True):
    """A bank account after a control, and the events that the control caused."""

    object: BankAccount
    events: list[Event]


class ControlledCard(Model, frozen=True, kw_only=True):
    """A card after a control, and the events that the control caused."""

    object: Card
    events: list[Event]


class ControlledTransaction(Model, frozen=True, kw_only=True):
    """A transaction after a control, and the events that the control caused."""

    object: Transaction
    events: list[Event]


class Rail(Model, frozen=True, kw_only=True):
    """The mood of the tenant's rail, when it ends, and how many orders are still refused."""

    mood: Mood
    seconds: int | None = None
    until: str | None = None
    requests: int | None = None
    refuse: int | None = None
