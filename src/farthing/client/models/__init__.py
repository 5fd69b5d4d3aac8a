# Written by `make client` from the operations of the service: do not edit.
"""What the service answers, and what is nested in what it takes."""

from farthing.client.models.access import AccessToken, Revocation
from farthing.client.models.accounts import Account, AccountPage, Entry
from farthing.client.models.bank_accounts import BankAccount, BankAccountPage
from farthing.client.models.cards import Card, CardPage
from farthing.client.models.clocks import Advance, Clock
from farthing.client.models.common import Address, PossibleStep, Step, Transitions
from farthing.client.models.customers import Customer, CustomerPage, PreferredInstruments
from farthing.client.models.deliveries import Delivery, DeliveryPage, Resend
from farthing.client.models.events import Event, EventPage
from farthing.client.models.faults import Fault, Faults
from farthing.client.models.objects import Object
from farthing.client.models.references import ReceivingDetails, Reference, ReferencePage
from farthing.client.models.sandbox import (
    ControlledBankAccount,
    ControlledCard,
    ControlledTransaction,
    Rail,
)
from farthing.client.models.service import (
    Component,
    EventType,
    EventTypes,
    Machine,
    Machines,
    ServiceStatus,
    StepDescription,
)
from farthing.client.models.statements import Statement, StatementEntry, Total
from farthing.client.models.tenants import Deleted, NewTenant, Snapshot, Tenant
from farthing.client.models.transactions import (
    Adjustment,
    AdjustmentOption,
    MoveOptions,
    Rehearsal,
    Transaction,
    TransactionDetail,
    TransactionPage,
)
from farthing.client.models.webhooks import Attempt, Webhook, WebhookPage, WebhookWithSecret
from farthing.client.models.words import (
    AccountState,
    AdjustmentType,
    BankAccountState,
    CardState,
    CardType,
    CustomerState,
    CustomerType,
    FaultKind,
    Flow,
    FromState,
    Health,
    Method,
    Mood,
    Purpose,
    ReferenceState,
    Scheme,
    Status,
    StorageType,
    ToState,
    TransactionState,
    WebhookState,
)

__all__ = [
    "AccessToken",
    "Account",
    "AccountPage",
    "AccountState",
    "Address",
    "Adjustment",
    "AdjustmentOption",
    "AdjustmentType",
    "Advance",
    "Attempt",
    "BankAccount",
    "BankAccountPage",
    "BankAccountState",
    "Card",
    "CardPage",
    "CardState",
    "CardType",
    "Clock",
    "Component",
    "ControlledBankAccount",
    "ControlledCard",
    "ControlledTransaction",
    "Customer",
    "CustomerPage",
    "CustomerState",
    "CustomerType",
    "Deleted",
    "Delivery",
    "DeliveryPage",
    "Entry",
    "Event",
    "EventPage",
    "EventType",
    "EventTypes",
    "Fault",
    "FaultKind",
    "Faults",
    "Flow",
    "FromState",
    "Health",
    "Machine",
    "Machines",
    "Method",
    "Mood",
    "MoveOptions",
    "NewTenant",
    "Object",
    "PossibleStep",
    "PreferredInstruments",
    "Purpose",
    "Rail",
    "ReceivingDetails",
    "Reference",
    "ReferencePage",
    "ReferenceState",
    "Rehearsal",
    "Resend",
    "Revocation",
    "Scheme",
    "ServiceStatus",
    "Snapshot",
    "Statement",
    "StatementEntry",
    "Status",
    "Step",
    "StepDescription",
    "StorageType",
    "Tenant",
    "ToState",
    "Total",
    "Transaction",
    "TransactionDetail",
    "TransactionPage",
    "TransactionState",
    "Transitions",
    "Webhook",
    "WebhookPage",
    "WebhookState",
    "WebhookWithSecret",
]
