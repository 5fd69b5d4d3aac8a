"""What can be done with statements: they can be read."""

from typing import Any

from farthing.core.clock import whole
from farthing.core.errors import Fault, ValidationFailed
from farthing.db import objects
from farthing.db.calls import Call
from farthing.resources.accounts.store import ACCOUNTS
from farthing.resources.statements import model, store
from farthing.resources.statements.model import MOST_ENTRIES, StatementView


async def read(call: Call[Any]) -> StatementView:
    """Read the statement of an account that the caller may see."""
    account, _ = await objects.fetch(call, ACCOUNTS)
    begin, end = whole(call.body.from_), whole(call.body.to)
    period = await store.fetch_period(call.pool, account.tenant_id, account.id, begin, end)
    if len(period.entries) > MOST_ENTRIES:
        detail = f"The period has more than {MOST_ENTRIES:,} entries. Choose a shorter one."
        raise ValidationFailed([Fault("?to", "too_many", detail)])
    return model.view(account, begin, end, period)
