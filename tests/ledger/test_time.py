"""Time in the ledger: what is numbered later is never dated earlier, whatever the clocks say."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from tests.http.stage import NOON, Clock
from tests.ledger.books import Books

from farthing.core.ids import new_id
from farthing.db.checks import run_checks
from farthing.db.committer import Committer
from farthing.http.service import Service
from farthing.ledger import effects
from farthing.ledger.checks import LEDGER_CHECKS

if TYPE_CHECKING:
    from uuid import UUID

    from tests.conftest import Database, Tenant

HOUR = timedelta(hours=1)


async def times_of(books: Books, account: "UUID") -> list[Any]:
    sql = "SELECT created_at FROM entries WHERE tenant_id = $1 AND account_id = $2 ORDER BY number"
    return [row["created_at"] for row in await books.pool.fetch(sql, books.tenant_id, account)]


async def test_two_clocks_that_disagree_do_not_take_an_account_back_in_time(
    service: Service, tenant: "Tenant", database: "Database"
) -> None:
    fast, slow = Clock(NOON), Clock(NOON - HOUR)
    by_fast, by_slow = (
        Books(service.pool, Committer(service.pool, clock=clock), tenant.id)
        for clock in (fast, slow)
    )
    busy, quiet = new_id(), new_id()
    await by_fast.open(busy)
    await by_fast.open(quiet)
    await by_fast.post(effects.move(by_fast.outside, busy, 100))
    await by_slow.post(effects.move(busy, quiet, 10))
    slow.now = NOON + HOUR
    await by_slow.post(effects.move(busy, quiet, 10))
    await by_fast.post(effects.reserve(busy, quiet, 10))
    assert await times_of(by_fast, busy) == [NOON, NOON, NOON + HOUR, NOON + HOUR]
    # The account that had no entry yet takes the time of the clock as it is.
    assert await times_of(by_fast, quiet) == [NOON - HOUR, NOON + HOUR, NOON + HOUR]
    balances = await by_fast.balances()
    assert balances[busy].moved_at == balances[quiet].moved_at == NOON + HOUR
    assert balances[by_fast.outside].moved_at == NOON
    assert await discrepancies(database, tenant) == []


async def test_an_account_to_which_nothing_happened_has_no_time(
    service: Service, tenant: "Tenant", database: "Database"
) -> None:
    books = Books(service.pool, service.committer, tenant.id)
    account = new_id()
    await books.open(account)
    assert (await books.balances())[account].moved_at is None
    assert await discrepancies(database, tenant) == []


async def discrepancies(database: "Database", tenant: "Tenant") -> list[Any]:
    """Return what the checks of the ledger find in the books of a tenant."""
    findings = [one async for one in run_checks(database.url, LEDGER_CHECKS, 1000)]
    found = [row for finding in findings for row in finding.discrepancies]
    return [row for row in found if row["tenant_id"] == tenant.id]
