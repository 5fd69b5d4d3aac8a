"""How customers are kept."""

from typing import Final

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
