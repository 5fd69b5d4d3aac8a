"""How accounts are kept."""

from typing import Final

from farthing.db.checks import Check
from farthing.db.tables import Beside, ObjectTable
from farthing.ledger.balances import BALANCES
from farthing.resources.accounts import model
from farthing.resources.accounts.model import Account

ACCOUNTS: Final = ObjectTable(
    "accounts", Account, rank=50, machine=model.MACHINE, view=model.view, beside=(Beside(BALANCES),)
)

CHECKS: Final = (
    Check(
        "Every account has its balance, in its currency, and every balance its account.",
        """
        SELECT coalesce(a.tenant_id, b.tenant_id) AS tenant_id, coalesce(a.id, b.id) AS account_id
        FROM accounts AS a
        FULL JOIN (SELECT * FROM balances WHERE place <> 'outside') AS b
            ON b.tenant_id = a.tenant_id AND b.id = a.id
        WHERE a.id IS NULL OR b.id IS NULL OR a.currency <> b.currency
        """,
    ),
    Check(
        "Every customer's standing counts the accounts that are open.",
        """
        SELECT s.tenant_id, s.id AS customer_id, s.open_accounts, count(a.id) AS found
        FROM standings AS s
        LEFT JOIN accounts AS a
            ON a.tenant_id = s.tenant_id AND a.owner_id = s.id AND a.state_id <> 'CLOSED'
        GROUP BY s.tenant_id, s.id
        HAVING count(a.id) <> s.open_accounts
        """,
    ),
)
