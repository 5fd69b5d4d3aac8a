# Written by `make client` from the operations of the service: do not edit.
"""What an event can have happened to, by noun."""

from typing import Final

from farthing.client.models.accounts import Account
from farthing.client.models.alerts import Alert
from farthing.client.models.approvals import Approval
from farthing.client.models.bank_accounts import BankAccount
from farthing.client.models.cards import Card
from farthing.client.models.customers import Customer
from farthing.client.models.references import Reference
from farthing.client.models.rules import Rule
from farthing.client.models.transactions import Transaction
from farthing.client.models.trials import Backtest
from farthing.client.models.webhooks import Webhook

Object = (
    Customer
    | BankAccount
    | Card
    | Account
    | Transaction
    | Reference
    | Approval
    | Webhook
    | Rule
    | Backtest
    | Alert
)

OBJECTS: Final[dict[str, type[Object]]] = {
    "customer": Customer,
    "bank_account": BankAccount,
    "card": Card,
    "account": Account,
    "transaction": Transaction,
    "reference": Reference,
    "approval": Approval,
    "webhook": Webhook,
    "rule": Rule,
    "backtest": Backtest,
    "alert": Alert,
}
