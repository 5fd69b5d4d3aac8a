"""`farthing verify`: clean books pass, and every kind of tampering is found."""

import os
import subprocess
import sys
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from tests.ledger.books import Books

from farthing.catalog import CHECKS, MACHINES
from farthing.core.ids import new_id
from farthing.db.committer import Committer
from farthing.db.migrate import migrate
from farthing.db.pool import open_pool
from farthing.ledger import effects
from farthing.resources.access import actions

if TYPE_CHECKING:
    from tests.conftest import Database

TAMPERINGS = {
    "a balance": "UPDATE balances SET complete = complete + 1 WHERE id = $1",
    "a reserved amount": "UPDATE balances SET incomplete_debits = 301 WHERE id = $1",
    "an entry": "UPDATE entries SET complete = complete - 1 WHERE account_id = $1 AND number = 1",
    "a running balance": "UPDATE entries SET complete_after = 7 WHERE account_id = $1",
    "a deleted entry": "DELETE FROM entries WHERE account_id = $1 AND number = 2",
    "the time of an entry": "UPDATE entries SET created_at = created_at + interval '1 hour' "
    "WHERE account_id = $1 AND number = 1",
    "the time of a balance": "UPDATE balances SET moved_at = moved_at - interval '1 hour' "
    "WHERE id = $1",
    "both a balance and its entry": """
        WITH entry AS (
            UPDATE entries SET complete = complete + 5, complete_after = complete_after + 5
            WHERE account_id = $1 AND number = 1
        ) UPDATE balances SET complete = complete + 5 WHERE id = $1
    """,
    "a state": "UPDATE customers SET state_id = 'LOCKED' WHERE $1::uuid IS NOT NULL",
    "a step of history": "UPDATE history SET source = 'PENDING', target = 'ENABLED' "
    "WHERE $1::uuid IS NOT NULL",
    "a missing event": "DELETE FROM events WHERE $1::uuid IS NOT NULL",
    "a count of accounts": "UPDATE standings SET open_accounts = 3 WHERE $1::uuid IS NOT NULL",
}


def verify(database: "Database") -> subprocess.CompletedProcess[str]:
    """Run the command as an operator would."""
    return subprocess.run(
        [sys.executable, "-m", "farthing", "verify"],
        env={**os.environ, "FARTHING_DATABASE_URL": database.url, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


async def make_books(database: "Database") -> UUID:
    """Make a little of everything, and return an account with two entries."""
    await migrate(database.url, MACHINES)
    pool = await open_pool(database.url, 2)
    committer = Committer(pool)
    books = Books(pool, committer, await actions.found_tenant(committer, "Shop"))
    one, two = new_id(), new_id()
    await books.open(one)
    await books.open(two)
    await books.post(effects.move(books.outside, one, 1000))
    await books.post(effects.reserve(one, two, 300))
    # These accounts have no owner in this test, only balances.
    await pool.close()
    await database.execute(
        "INSERT INTO accounts SELECT b.tenant_id, b.id, 1, now(), now(), 'ENABLED', '[]', '{}', "
        "b.tenant_id, b.currency FROM balances AS b WHERE place = 'platform'"
    )
    await database.execute("UPDATE standings SET open_accounts = 2")
    await database.execute(
        "INSERT INTO history SELECT tenant_id, id, 1, 'account', NULL, 'ENABLED', 'PLATFORM', "
        "'platform', NULL, 'x', now() FROM accounts"
    )
    await database.execute(
        "INSERT INTO events SELECT tenant_id, gen_random_uuid(), 'account.created', 'account', id, "
        "1, now(), '{}' FROM accounts"
    )
    return one


@pytest.mark.slow
async def test_clean_books_pass(database: "Database") -> None:
    fresh = await database.create()
    await make_books(fresh)
    clean = verify(fresh)
    assert clean.returncode == 0, clean.stdout + clean.stderr
    assert f"All {len(CHECKS)} checks hold" in clean.stdout


@pytest.mark.slow
@pytest.mark.parametrize("sql", TAMPERINGS.values(), ids=TAMPERINGS.keys())
async def test_tampering_is_found(database: "Database", sql: str) -> None:
    fresh = await database.create()
    account = await make_books(fresh)
    await fresh.execute(sql, account)
    found = verify(fresh)
    assert found.returncode == 1, found.stdout
    assert "NOT TRUE" in found.stdout
    assert "The books do not hold" in found.stderr
    assert "Traceback" not in found.stderr
