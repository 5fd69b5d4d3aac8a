"""The catalogue of the house: one line per resource."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from farthing.core.machine import Machine
from farthing.core.operation import Operation
from farthing.db.checks import LOG_CHECKS, Check, object_checks
from farthing.db.commands import Command
from farthing.db.pool import Pool
from farthing.db.tables import ObjectTable
from farthing.ledger.checks import LEDGER_CHECKS
from farthing.resources.access import api as access
from farthing.resources.accounts import api as accounts
from farthing.resources.accounts import store as accounts_store
from farthing.resources.alerts import api as alerts
from farthing.resources.alerts import store as alerts_store
from farthing.resources.approvals import api as approvals
from farthing.resources.approvals import store as approvals_store
from farthing.resources.arrivals import api as arrivals
from farthing.resources.arrivals import store as arrivals_store
from farthing.resources.bank_accounts import api as bank_accounts
from farthing.resources.bank_accounts import store as bank_accounts_store
from farthing.resources.cards import actions as cards_actions
from farthing.resources.cards import api as cards
from farthing.resources.cards import store as cards_store
from farthing.resources.clocks import api as clocks
from farthing.resources.customers import api as customers
from farthing.resources.customers import store as customers_store
from farthing.resources.deliveries import api as deliveries
from farthing.resources.deliveries import store as deliveries_store
from farthing.resources.events import api as events
from farthing.resources.faults import api as faults
from farthing.resources.moves import api as moves
from farthing.resources.orders import api as orders
from farthing.resources.orders import store as orders_store
from farthing.resources.payments import api as payments
from farthing.resources.references import api as references
from farthing.resources.references import store as references_store
from farthing.resources.rules import api as rules
from farthing.resources.rules import store as rules_store
from farthing.resources.sandbox import api as sandbox
from farthing.resources.settlements import actions as settlements_actions
from farthing.resources.settlements import api as settlements
from farthing.resources.settlements import store as settlements_store
from farthing.resources.statements import api as statements
from farthing.resources.tallies import api as tallies
from farthing.resources.tallies import store as tallies_store
from farthing.resources.tenants import api as tenants
from farthing.resources.transactions import api as transactions
from farthing.resources.transactions import store as transactions_store
from farthing.resources.trials import api as trials
from farthing.resources.trials import store as trials_store
from farthing.resources.webhooks import api as webhooks
from farthing.resources.webhooks import store as webhooks_store

# The operations of each noun, the table of its objects, and what must hold of them.
RESOURCES: Final[tuple[tuple[Any, ObjectTable[Any] | None, tuple[Check, ...]], ...]] = (
    (customers, customers_store.CUSTOMERS, customers_store.CHECKS),
    (access, None, ()),
    (bank_accounts, bank_accounts_store.BANK_ACCOUNTS, ()),
    (cards, cards_store.CARDS, ()),
    (accounts, accounts_store.ACCOUNTS, accounts_store.CHECKS),
    (payments, None, ()),
    (transactions, transactions_store.TRANSACTIONS, transactions_store.CHECKS),
    (moves, None, ()),
    (orders, None, orders_store.CHECKS),
    (arrivals, None, arrivals_store.CHECKS),
    (settlements, None, settlements_store.CHECKS),
    (references, references_store.REFERENCES, ()),
    (approvals, approvals_store.APPROVALS, approvals_store.CHECKS),
    (statements, None, ()),
    (events, None, ()),
    (clocks, None, ()),
    (sandbox, None, ()),
    (tenants, None, ()),
    (faults, None, ()),
    (webhooks, webhooks_store.WEBHOOKS, webhooks_store.CHECKS),
    (deliveries, None, deliveries_store.CHECKS),
    (rules, rules_store.RULES, ()),
    (trials, trials_store.BACKTESTS, trials_store.CHECKS),
    (alerts, alerts_store.ALERTS, ()),
    (tallies, None, tallies_store.CHECKS),
)

OPERATIONS: Final[tuple[Operation, ...]] = tuple(
    operation for api, _, _ in RESOURCES for operation in api.OPERATIONS
)
LIVE_OPERATIONS: Final = tuple(one for one in OPERATIONS if not one.sandbox_only)
OBJECTS: Final[dict[str, ObjectTable[Any]]] = {
    table.noun: table for _, table, _ in RESOURCES if table is not None
}
MACHINES: Final[tuple[Machine, ...]] = tuple(table.machine for table in OBJECTS.values())
CHECKS: Final[tuple[Check, ...]] = (
    *LEDGER_CHECKS,
    *LOG_CHECKS,
    *(check for _, _, checks in RESOURCES for check in checks),
    *(check for table in OBJECTS.values() for check in object_checks(table)),
)


@dataclass(frozen=True)
class Challenged:
    """A noun about which a cardholder can be asked: what the page shows, and what follows."""

    facts: Callable[[Pool, UUID, UUID], Awaitable[dict[str, str]]]
    resolve: Callable[..., Command]


CHALLENGED: Final = {
    "card": Challenged(cards_store.describe, cards_actions.resolve),
    "transaction": Challenged(settlements_store.describe, settlements_actions.resolve),
}
