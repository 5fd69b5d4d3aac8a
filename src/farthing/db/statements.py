"""The statement that writes a batch, and the terms on which it does so."""

import functools
from typing import Any, Final
from uuid import UUID

from farthing.db.clocks import ClockMoved
from farthing.db.hearings import LogMoved, RulesChanged
from farthing.db.pool import Connection
from farthing.db.tables import APP_ROLE, AppendTable, Table

# What writes no event finds out otherwise whether the tenant's clock or rules have changed.
_STANDS: Final = """
CASE WHEN coalesce((SELECT ahead = {ahead} AND rules = coalesce({rules}, rules)
                           AND position = coalesce({position}, position)
                    FROM event_heads WHERE tenant_id = {tenant}), {ahead} = 0) THEN 0 END
"""
_NOW: Final = "SELECT ahead, rules, position FROM event_heads WHERE tenant_id = $1"
_KINDS: Final = {
    "tenant": "uuid",
    "ahead": "bigint",
    "rules": "bigint",
    "position": "bigint",
    "count": "bigint",
    "now": "timestamptz",
    "change": "bigint",
}


class Terms:
    """What a batch takes for granted about its tenant, and finds out at its end."""

    def __init__(self, tenant_id: UUID, ahead: int) -> None:
        self._tenant_id = tenant_id
        # By how many milliseconds the tenant's clock was taken to be ahead.
        self._ahead = ahead
        # The version of the rules by which the batch was judged, if it was.
        self.rules: int | None = None
        # Where the log ended, if the batch relies on nobody else's having written to it.
        self.position: int | None = None

    def values(self) -> list[Any]:
        """Return the terms as the statement takes them."""
        return [self._tenant_id, self._ahead, self.rules, self.position]

    async def check(self, connection: Connection) -> None:
        """Raise what has changed."""
        ahead, rules, position = await connection.fetchrow(_NOW, self._tenant_id) or (0, 0, 0)
        if ahead != self._ahead:
            raise ClockMoved
        if self.rules is not None and rules != self.rules:
            raise RulesChanged
        if self.position is not None and position != self.position:
            raise LogMoved


@functools.cache
def write_statement(
    added: tuple[AppendTable[Any], ...], changed: tuple[Table[Any], ...], role: str
) -> str:
    """Say in one statement what a batch adds and changes; its foreign keys look at its end.

    The last thing that it returns is null if the terms do not hold, and else where the log ended
    before it.
    """
    parts = [table.insert_sql for table in added] + [table.update_sql for table in changed]
    named = [f"w{n} AS ({part.format(f'${n}::json')})" for n, part in enumerate(parts, 1)]
    may_miss = [*(table.unless_known for table in added), *(True for _ in changed)]
    counts = [f"(SELECT count(*) FROM w{n})" for n, misses in enumerate(may_miss, 1) if misses]
    if role != APP_ROLE:
        return f"WITH {', '.join(named)} SELECT {', '.join(counts)}"
    places = {
        name: f"${place}::{kind}"
        for place, (name, kind) in enumerate(_KINDS.items(), len(parts) + 1)
    }
    stands = _STANDS.format(**places)
    for table in added:
        if table.heads:
            named.insert(0, f"head AS ({table.head_sql.format(**places)})")
            stands = "(SELECT base FROM head)"
    return f"WITH {', '.join(named)} SELECT {', '.join([*counts, stands])}"
