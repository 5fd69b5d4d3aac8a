"""The catalogue of the house: one line per resource."""

from typing import Any, Final

from farthing.core.machine import Machine
from farthing.core.operation import Operation
from farthing.db.tables import ObjectTable
from farthing.resources.access import api as access
from farthing.resources.accounts import api as accounts
from farthing.resources.accounts.store import ACCOUNTS
from farthing.resources.customers import api as customers
from farthing.resources.customers.store import CUSTOMERS

RESOURCES: Final = (
    (customers, CUSTOMERS),
    (access, None),
    (accounts, ACCOUNTS),
)

OPERATIONS: Final[tuple[Operation, ...]] = tuple(
    operation for api, _ in RESOURCES for operation in api.OPERATIONS
)
OBJECTS: Final[dict[str, ObjectTable[Any]]] = {
    table.noun: table for _, table in RESOURCES if table is not None
}
MACHINES: Final[tuple[Machine, ...]] = tuple(table.machine for table in OBJECTS.values())
