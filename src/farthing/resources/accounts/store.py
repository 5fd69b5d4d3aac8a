"""How accounts are kept."""

from typing import Final

from farthing.db.tables import ObjectTable
from farthing.ledger.balances import BALANCES
from farthing.resources.accounts import model
from farthing.resources.accounts.model import Account

ACCOUNTS: Final = ObjectTable(
    "accounts", Account, rank=50, machine=model.MACHINE, view=model.view, beside=(BALANCES,)
)
