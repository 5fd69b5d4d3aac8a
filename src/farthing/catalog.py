"""The catalogue of the house: one line per resource."""

from typing import Any, Final

from farthing.core.machine import Machine
from farthing.core.operation import Operation
from farthing.db.checks import Check, object_checks
from farthing.db.tables import ObjectTable
from farthing.ledger.checks import LEDGER_CHECKS
from farthing.resources.access import api as access
from farthing.resources.accounts import api as accounts
from farthing.resources.accounts import store as accounts_store
from farthing.resources.customers import api as customers
from farthing.resources.customers import store as customers_store

# The operations of each noun, the table of its objects, and what must hold of them.
RESOURCES: Final[tuple[tuple[Any, ObjectTable[Any] | None, tuple[Check, ...]], ...]] = (
    (customers, customers_store.CUSTOMERS, ()),
    (access, None, ()),
    (accounts, accounts_store.ACCOUNTS, accounts_store.CHECKS),
)

OPERATIONS: Final[tuple[Operation, ...]] = tuple(
    operation for api, _, _ in RESOURCES for operation in api.OPERATIONS
)
OBJECTS: Final[dict[str, ObjectTable[Any]]] = {
    table.noun: table for _, table, _ in RESOURCES if table is not None
}
MACHINES: Final[tuple[Machine, ...]] = tuple(table.machine for table in OBJECTS.values())
CHECKS: Final[tuple[Check, ...]] = (
    *LEDGER_CHECKS,
    *(check for _, _, checks in RESOURCES for check in checks),
    *(check for table in OBJECTS.values() for check in object_checks(table)),
)
