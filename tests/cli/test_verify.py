"""`farthing verify`: clean books pass, and every kind of tampering is found."""

import functools
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

import asyncpg
import httpx2
import pytest
import pytest_asyncio
from tests import payments
from tests.conftest import make_tenant
from tests.duties import duty
from tests.trials import new_alert, new_backtest
from tests.verdicts import new_approval

from farthing.catalog import CHECKS, MACHINES, OBJECTS
from farthing.core import ids
from farthing.core.ids import new_id
from farthing.db.migrate import migrate
from farthing.dispatch import Dispatcher
from farthing.http.app import build
from farthing.http.service import Service
from farthing.rails.base import Arrival, Rail
from farthing.resources.webhooks.actions import Courier

if TYPE_CHECKING:
    from tests.conftest import Database, Tenant

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
    "a state": "UPDATE customers SET state_id = 'LOCKED' "
    "WHERE $1::uuid IS NOT NULL AND approval_id IS NULL",
    "a step of history": "UPDATE history SET source = 'PENDING', target = 'ENABLED' "
    "WHERE object_id = $1",
    "a missing event": "DELETE FROM events WHERE $1::uuid IS NOT NULL",
    "a count of accounts": "UPDATE standings SET open_accounts = 3 WHERE $1::uuid IS NOT NULL",
}


# A rule that counts, and lets everything pass.
COUNTING = {
    "name": "Not too many transfers",
    "on": "transaction.create",
    "when": 'history.count("internal", duration("24h")) > 100',
    "then": [{"action": "refuse", "message": "Too many."}],
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
    """Let a little of everything happen, and return an account with many entries."""
    await migrate(database.url, MACHINES)
    service = await Service.start(database.settings(webhook_private=True))
    transport = httpx2.ASGITransport(app=build(service))
    async with httpx2.AsyncClient(transport=transport, base_url="http://books.test") as client:
        tenant = await make_tenant(service, client)
        with_key = functools.partial(tenant.call, token=tenant.key)
        await payments.create(with_key, "/v1/rules", COUNTING)
        account = await _traffic(service, tenant)
        await _deliver(service, tenant)
        await new_approval(service, tenant.id)
        await new_alert(tenant.call, with_key)
        await new_backtest(with_key)
    await service.stop()
    return ids.take(account)


async def _deliver(service: Service, tenant: "Tenant") -> None:
    """Plan a delivery, which nobody takes."""
    hook = {"url": "http://127.0.0.1:9/hook", "events": ["webhook.*"]}
    made = await tenant.call("POST", "/v1/webhooks", hook, token=tenant.key)
    assert made.status_code == 201, made.text
    path = f"/v1/webhooks/{made.json()['id']}"
    await tenant.call("PATCH", path, {"description": "nobody"}, token=tenant.key)
    dispatcher = Dispatcher(service.pool, service.committer, service.parts[Courier])
    await dispatcher.dispatch()
    await dispatcher.idle()
    await dispatcher.close()


async def _traffic(service: Service, tenant: "Tenant") -> str:
    """Take money in, keep it, move it, send it out, give it back, and argue about it."""
    send, owner = tenant.call, await tenant.new_customer()
    account, other = await tenant.new_account(owner), await tenant.new_account(owner)
    bank = {"ownerId": owner, **payments.BANK_ACCOUNT, "sortCode": "108804"}
    await payments.create(send, "/v1/bank-accounts", bank)
    await payments.charge(service, send, account)
    adjusted = await payments.charge(service, send, account, storageType="ONE_TIME_USE")
    adjusting = {"toStateId": "ADJUSTED", "options": {"adjustment": {"adjustmentAmount": "100"}}}
    path = f"/v1/tx/{payments.in_path(adjusted['id'])}/state"
    assert (await send("PATCH", path, adjusting)).status_code == 200
    disputed = await payments.charge(service, send, account)
    await payments.dispute(service, tenant.id, disputed["id"], 300)
    within = {"fromAccountId": account, "toAccountId": other, "purpose": "TRANSFER"}
    for target in ("HELD", "EFFECTED"):
        body = {**within, "amount": "300", "targetStateId": target}
        await payments.create(send, "/v1/tx/internal", body)
    out = {"accountId": account, "amount": "50", "method": "bankAccount", "purpose": "WITHDRAWAL"}
    await payments.create(send, "/v1/tx/outbound", out)
    await payments.idle(service)
    reference = (await payments.create(send, "/v1/references", {"toId": account}))["reference"]
    for text in (reference, "nobody knows"):
        arrival = Arrival(tenant.id, new_id(), 700, "GBP", text, "Bob")
        await service.parts[Rail].tell(arrival)
    await duty(service, "hear the news of rails").run()
    return account


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


# What the database lets nobody change apart from the state.
TOGETHER = {"approval": ", decided_by = 'CLIENT'", "customer": ", approval_id = NULL"}


def of_objects() -> dict[str, str]:
    """Return what can be wrong with every object, by the sentence that finds it."""
    tamperings: dict[str, str] = {}
    for noun, table in OBJECTS.items():
        one, two = (*table.machine.states, "")[:2]
        moved = f"""
            UPDATE {table.name} SET state_id =
            CASE state_id WHEN '{one}' THEN '{two}' ELSE '{one}' END {TOGETHER.get(noun, "")}
        """  # noqa: S608 - our own names
        # What has but one state can only have lost its history.
        lost = f"DELETE FROM history WHERE machine = '{noun}'"  # noqa: S608 - our own names
        tamperings |= {
            f"Every {noun} is in the state to which its history leads.": moved if two else lost,
            f"Every step of a {noun} begins where the one before it ended.": f"""
                INSERT INTO history SELECT o.tenant_id, o.id, 0, '{noun}', m.source,
                    coalesce(m.target, o.state_id), 'PLATFORM', 'platform', NULL, 'x', now()
                FROM {table.name} AS o LEFT JOIN machine_steps AS m ON m.machine = '{noun}' LIMIT 1
            """,  # noqa: S608 - our own names
            f"Every version of every {noun} has its event.": f"""
                DELETE FROM events WHERE noun = '{noun}'
            """,  # noqa: S608 - our own names
        }
    return tamperings


# The sentence that must be found untrue, and ways to make it so.
UNTRUE: dict[str, list[str]] = {
    "No webhook has come further than the log of its tenant.": [
        "UPDATE webhook_cursors SET position = 1000000",
    ],
    "Every tally counts the webhooks that were not deleted.": [
        "UPDATE webhook_tallies SET webhooks = webhooks + 1",
    ],
    "Every delivery is of an event, and was numbered by its webhook.": [
        "UPDATE deliveries SET position = 1000000",
        "UPDATE deliveries SET number = 1000000",
    ],
    "Every counter of every balance is the sum of its entries.": [
        "UPDATE balances SET complete = complete + 1",
        "UPDATE balances SET incomplete_debits = incomplete_debits + 1",
        "UPDATE balances SET disputed_credits = disputed_credits + 1",
    ],
    "The entries of every account are numbered without a gap, up to its version.": [
        "DELETE FROM entries WHERE number = 2",
        "UPDATE balances SET version = version + 1",
    ],
    "Every entry carries the balance that all entries up to it come to.": [
        "UPDATE entries SET complete_after = complete_after + 1 WHERE number = 1",
    ],
    "The entries of one account never go back in time.": [
        "UPDATE entries SET created_at = created_at + interval '1 hour' WHERE number = 1",
    ],
    "Every balance knows the time of its last entry.": [
        "UPDATE balances SET moved_at = moved_at - interval '1 hour'",
    ],
    "The legs of every posting balance.": [
        "UPDATE entries SET complete = complete + 1 WHERE number = 1",
        "UPDATE entries SET incomplete_debits = incomplete_debits + 1 WHERE number = 1",
    ],
    "All balances of a tenant and a currency add up to zero.": [
        "UPDATE balances SET complete = complete + 1",
        "UPDATE balances SET disputed_debits = disputed_debits + 1",
    ],
    "Nothing but what the outside decides takes what is available below zero.": [
        "UPDATE balances SET withheld = 10 ^ 9 WHERE place = 'platform'",
    ],
    "Every log is numbered without a gap, up to its head.": [
        "DELETE FROM events WHERE position = 2",
        "DELETE FROM event_heads",
        "UPDATE event_heads SET position = position + 1",
        "UPDATE events SET position = 10 ^ 9 WHERE position = 1",
        "UPDATE events SET position = -1 WHERE position = 1",
    ],
    "No event is dated before the one that it follows, nor its log before it.": [
        "UPDATE events SET created_at = created_at + interval '1 hour' WHERE position = 1",
        "UPDATE event_heads SET moved_at = moved_at - interval '1 hour'",
    ],
    "Every customer's standing says whether its money may move.": [
        "UPDATE standings SET active = NOT active",
    ],
    "Every account has its balance, in its currency, and every balance its account.": [
        "UPDATE balances SET currency = 'EUR' WHERE place = 'platform'",
    ],
    "Every customer's standing counts the accounts that are open.": [
        "UPDATE standings SET open_accounts = open_accounts + 1",
    ],
    "Whatever is paid, reserved, withheld or disputed belongs to a transaction.": [
        "UPDATE transactions SET money = 'withheld' WHERE state_id = 'HELD'",
        "UPDATE transactions SET disputed = disputed + 1 WHERE state_id = 'DISPUTED'",
        "UPDATE transactions SET amount = amount + 1 WHERE state_id = 'PROCESSING'",
        "UPDATE balances SET incomplete_credits = incomplete_credits + 1",
    ],
    "A transaction's adjustments add up, and never exceed its amount with what is disputed.": [
        "UPDATE transactions SET adjusted = adjusted + 1",
        "UPDATE transactions SET adjustments = '[]' WHERE state_id = 'ADJUSTED'",
    ],
    "A transaction that has ended holds nothing back, and what was paid is in the books.": [
        "UPDATE transactions SET money = 'reserved' WHERE state_id = 'EFFECTED'",
        "UPDATE transactions SET state_id = 'CANCELLED' WHERE state_id = 'HELD'",
        "UPDATE transactions SET state_id = 'EFFECTED' WHERE state_id = 'DISPUTED'",
    ],
    "Every order has its transaction, and none that is in flight is forgotten.": [
        "UPDATE orders SET due_at = NULL WHERE status = 'pending'",
        "UPDATE orders SET due_at = now() WHERE status = 'done'",
    ],
    "Every arrival is in the books: its transaction has its amount and currency.": [
        "UPDATE arrivals SET amount = amount + 1",
        "UPDATE arrivals SET currency = 'EUR'",
    ],
    "Every card that may be charged has its number, and one that is used up has none.": [
        "DELETE FROM vault.numbers",
        "UPDATE cards SET state_id = 'CLOSED'",
        "UPDATE cards SET used = NOT used",
    ],
    "Whatever waits for an approval has one that is still to be decided.": [
        "UPDATE approvals SET state_id = 'EXPIRED'",
        "UPDATE approvals SET object_id = rule_id",
        "UPDATE approvals SET noun = 'card'",
        "UPDATE cards SET requirements = '{\"approval\": \"none\"}', state_id = 'PROCESSING'",
    ],
    "Whatever is still to be approved waits for that, unless it has ended by itself.": [
        "UPDATE customers SET approval_id = NULL",
        "UPDATE customers SET approval_id = id WHERE approval_id IS NOT NULL",
        "UPDATE approvals SET noun = 'card'",
    ],
    "Every tally counts one more with each mark, and adds its amount.": [
        "UPDATE tally_marks SET count = count + 1 WHERE count = 2",
        "UPDATE tally_marks SET amount = amount + 1 WHERE count = 2",
    ],
    "Every backtest that is running falls due, and no other does.": [
        "UPDATE backtests SET due_at = NULL",
        "UPDATE backtests SET state_id = 'FAILED'",
    ],
    "No backtest has found more than it has gone through.": [
        "UPDATE backtests SET matched = 1",
        "UPDATE backtests SET processed = 2, total = 1",
        "UPDATE backtests SET state_id = 'DONE'",
    ],
    **{sentence: [sql] for sentence, sql in of_objects().items()},
}


@dataclass(frozen=True)
class Auditor:
    """Somebody with all rights, who undoes what he has tried."""

    connection: "asyncpg.Connection[asyncpg.Record]"

    async def untrue_after(self, *tamperings: str) -> set[str]:
        """Return the sentences that do not hold any more."""
        trial = self.connection.transaction()
        await trial.start()
        try:
            for sql in tamperings:
                done = await self.connection.execute(sql)
                assert not done.endswith(" 0"), f"{sql} has changed nothing"
            return {one.sentence for one in CHECKS if await self.connection.fetch(one.sql)}
        finally:
            await trial.rollback()


@pytest_asyncio.fixture(scope="module")
async def auditor(database: "Database") -> AsyncIterator[Auditor]:
    fresh = await database.create()
    await make_books(fresh)
    connection = await asyncpg.connect(fresh.admin_url)
    await connection.execute("SET search_path = farthing")
    yield Auditor(connection)
    await connection.close()


def test_every_check_has_something_that_it_finds() -> None:
    assert sorted(UNTRUE) == sorted(one.sentence for one in CHECKS)


async def test_after_real_traffic_every_check_holds(auditor: Auditor) -> None:
    assert await auditor.untrue_after() == set()


@pytest.mark.parametrize("sentence", UNTRUE)
async def test_what_is_not_true_any_more_is_found(auditor: Auditor, sentence: str) -> None:
    for sql in UNTRUE[sentence]:
        assert sentence in await auditor.untrue_after(sql), sql
