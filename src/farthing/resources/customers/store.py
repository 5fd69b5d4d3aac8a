"""How customers are kept."""

from typing import Final

from farthing.db.checks import Check
from farthing.db.tables import Beside, ObjectTable, Table
from farthing.resources.customers import model
from farthing.resources.customers.model import Customer, Standing

STANDINGS: Final = Table("standings", Standing, rank=60)

CUSTOMERS: Final = ObjectTable(
    "customers",
    Customer,
    rank=61,
    machine=model.MACHINE,
    view=model.view,
    beside=(Beside(STANDINGS),),
)

CHECKS: Final = (
    Check(
        "Every customer's standing says whether its money may move.",
        """
        SELECT c.tenant_id, c.id AS customer_id, c.state_id, s.active
        FROM customers AS c LEFT JOIN standings AS s ON s.tenant_id = c.tenant_id AND s.id = c.id
        WHERE s.active IS DISTINCT FROM (c.state_id = 'ENABLED')
        """,
    ),
)
