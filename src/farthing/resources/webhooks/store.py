"""How webhooks are kept."""

from typing import Final

from farthing.db.checks import Check
from farthing.db.tables import ObjectTable, Table
from farthing.resources.webhooks import model
from farthing.resources.webhooks.model import Cursor, Tally, Webhook

CURSORS: Final = Table("webhook_cursors", Cursor, rank=2)
WEBHOOKS: Final = ObjectTable(
    "webhooks",
    Webhook,
    rank=3,
    machine=model.MACHINE,
    view=model.view,
    happenings={"rotated": "The webhook has a new secret, and the old one signs on for a day."},
)
TALLIES: Final = Table("webhook_tallies", Tally, rank=4)

CHECKS: Final = (
    Check(
        "No webhook has come further than the log of its tenant.",
        """
        SELECT c.tenant_id, c.id, c.position, h.position AS head
        FROM webhook_cursors AS c LEFT JOIN event_heads AS h USING (tenant_id)
        WHERE c.position > coalesce(h.position, 0)
        """,
    ),
    Check(
        "Every tally counts the webhooks that were not deleted.",
        """
        SELECT t.tenant_id, t.webhooks, count(w.id) AS found
        FROM webhook_tallies AS t
        LEFT JOIN webhooks AS w ON w.tenant_id = t.tenant_id AND w.state_id <> 'DELETED'
        GROUP BY t.tenant_id, t.webhooks HAVING t.webhooks <> count(w.id)
        """,
    ),
)
