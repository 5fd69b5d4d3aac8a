"""How approvals are kept, and what must hold between them and what waits for them."""

from typing import Final

from farthing.db.checks import Check
from farthing.db.due import Due
from farthing.db.tables import ObjectTable
from farthing.resources.approvals import model
from farthing.resources.approvals.model import Approval

# Before everything that can wait, which follows from it.
APPROVALS: Final = ObjectTable(
    "approvals", Approval, rank=6, machine=model.MACHINE, view=model.view
)

EXPIRING: Final = Due(APPROVALS, "expires_at", "state_id = 'PENDING'")

_WAITING: Final = """
SELECT tenant_id, 'transaction' AS noun, id, requirements ->> 'approval' AS approval
FROM transactions WHERE requirements ? 'approval'
UNION ALL
SELECT tenant_id, 'card', id, requirements ->> 'approval'
FROM cards WHERE requirements ? 'approval'
UNION ALL
SELECT tenant_id, 'bank_account', id, 'approval/' || approval_id
FROM bank_accounts WHERE approval_id IS NOT NULL
UNION ALL
SELECT tenant_id, 'customer', id, 'approval/' || approval_id
FROM customers WHERE approval_id IS NOT NULL
"""
# What can end by itself while it waits: an approval of it is over once its time has passed.
_ENDED: Final = """
SELECT tenant_id, id FROM transactions WHERE state_id IN ('CANCELLED', 'FAILED')
UNION ALL
SELECT tenant_id, id FROM cards WHERE state_id IN ('FAILED', 'CLOSED')
"""
_SAME: Final = """
a.tenant_id = w.tenant_id AND a.noun = w.noun AND a.object_id = w.id
AND 'approval/' || a.id = w.approval
"""

CHECKS: Final = (
    Check(
        "Whatever waits for an approval has one that is still to be decided.",
        f"""
        SELECT w.tenant_id, w.noun, w.id, w.approval FROM ({_WAITING}) AS w
        WHERE NOT EXISTS (
            SELECT 1 FROM approvals AS a WHERE {_SAME} AND a.state_id = 'PENDING'
        )
        """,  # noqa: S608 - our own names
    ),
    Check(
        "Whatever is still to be approved waits for that, unless it has ended by itself.",
        f"""
        SELECT a.tenant_id, a.id AS approval_id, a.noun, a.object_id FROM approvals AS a
        WHERE a.state_id = 'PENDING'
          AND NOT EXISTS (SELECT 1 FROM ({_WAITING}) AS w WHERE {_SAME})
          AND NOT EXISTS (SELECT 1 FROM ({_ENDED}) AS e
                          WHERE e.tenant_id = a.tenant_id AND e.id = a.object_id)
        """,  # noqa: S608 - our own names
    ),
)
