"""How bank accounts are kept."""

from typing import Final

from farthing.db.tables import ObjectTable
from farthing.resources.bank_accounts import model
from farthing.resources.bank_accounts.model import BankAccount

BANK_ACCOUNTS: Final = ObjectTable(
    "bank_accounts", BankAccount, rank=20, machine=model.MACHINE, view=model.view
)
