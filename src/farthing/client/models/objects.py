# Written by `make client` from the operations of the service: do not edit.
"""What an event can have happened to, by noun."""

from typing import Final

from farthing.client.models.accounts import Account
from farthing.client.models.bank_accounts import BankAccount
from farthing.client.models.cards import Card
from farthing.client.models.customers import Customer
from farthing.client.models.references import Reference
from farthing.client.models.transactions import Transaction
from farthing.client.models.webhooks import Webhook

Object = Customer | BankAccount | Card | Account | Transaction | Reference | Webhook

OBJECTS: Final[dict[str, type[Object]]] = {
    "customer": Customer,
    "bank_account": BankAccount,
    "card": Card,
    "account": Account,
    "transaction": Transaction,
    "reference": Reference,
    "webhook": Webhook,
}
