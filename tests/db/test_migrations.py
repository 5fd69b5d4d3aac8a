"""Migrations: applied once, in order, by whoever comes first."""

import asyncio
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg
import pytest

from farthing.catalog import MACHINES
from farthing.db import migrate as migrations
from farthing.db.embedded import binary
from farthing.db.migrate import MigrationError, migrate, require_current
from farthing.db.pool import open_pool

if TYPE_CHECKING:
    from tests.conftest import Database

SCHEMA_FILE = Path(migrations.__file__).parent / "schema.sql"


async def apply(database: "Database", sql: str) -> None:
    connection = await asyncpg.connect(database.url)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


def dump(database: "Database") -> str:
    """Return the schema as PostgreSQL itself describes it, less what varies from run to run."""
    command = [
        str(binary("pg_dump")),
        "--schema-only",
        "--no-owner",
        "--schema=farthing",
        "--schema=vault",
    ]
    done = subprocess.run(
        [*command, database.admin_url], check=True, capture_output=True, text=True
    )
    noise = ("--", "\\restrict", "\\unrestrict", "SET ", "SELECT pg_catalog.set_config")
    kept = [line for line in done.stdout.splitlines() if line and not line.startswith(noise)]
    return "\n".join(kept) + "\n"


async def test_all_migrations_together_are_the_schema_that_people_read(
    database: "Database",
) -> None:
    migrated, written = await database.create(), await database.create()
    await migrate(migrated.url, MACHINES)
    await apply(written, f"SET search_path = farthing; {SCHEMA_FILE.read_text('utf-8')}")
    assert dump(written) == dump(migrated)


async def test_a_second_migration_finds_nothing_to_do(database: "Database") -> None:
    said: list[str] = []
    fresh = await database.create()
    await migrate(fresh.url, MACHINES, said.append)
    assert said == [f"applied {one.name}" for one in migrations.all_migrations()]
    said.clear()
    await migrate(fresh.url, MACHINES, said.append)
    assert said == []


async def test_several_who_migrate_at_once_apply_everything_once(database: "Database") -> None:
    fresh = await database.create()
    said: list[str] = []
    await asyncio.gather(*(migrate(fresh.url, MACHINES, said.append) for _ in range(5)))
    assert said == [f"applied {one.name}" for one in migrations.all_migrations()]


async def test_a_migration_that_fails_leaves_nothing(
    database: "Database", monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = await database.create()
    broken = [
        *migrations.all_migrations(),
        migrations.Migration("9999_broken.sql", "CREATE TABLE halfway (); SELECT 1 / 0;"),
    ]
    monkeypatch.setattr(migrations, "all_migrations", lambda: broken)
    with pytest.raises(asyncpg.DivisionByZeroError):
        await migrate(fresh.url, MACHINES)
    assert await fresh.fetch("SELECT * FROM migrations") == []


async def test_a_file_that_changed_after_it_was_applied_is_noticed(
    database: "Database", monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = await database.create()
    await migrate(fresh.url, MACHINES)
    changed = [
        migrations.Migration(one.name, one.sql + "-- a thought")
        for one in migrations.all_migrations()
    ]
    monkeypatch.setattr(migrations, "all_migrations", lambda: changed)
    with pytest.raises(MigrationError, match="was changed after it had been applied"):
        await migrate(fresh.url, MACHINES)


async def test_entries_that_went_back_in_time_are_mended(
    database: "Database", monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = await database.create()
    everything = migrations.all_migrations()
    older = [one for one in everything if not one.name.endswith("_statements.sql")]
    monkeypatch.setattr(migrations, "all_migrations", lambda: older)
    await migrate(fresh.url, MACHINES)
    zero = "'00000000-0000-0000-0000-000000000000'"
    times = (3, 1, 2, 4, 1)
    await fresh.execute(
        f"INSERT INTO balances VALUES ({zero}, {zero}, 5, 'GBP', 'platform', 5, 0, 0, 0, 0, 0)"  # noqa: S608 - our own values
    )
    for number, hour in enumerate(times, 1):
        await fresh.execute(
            f"INSERT INTO entries VALUES ({zero}, {zero}, {number}, {zero}, {zero}, 'move', "  # noqa: S608 - our own values
            f"1, 0, 0, 0, 0, 0, {number}, '2026-01-31 0{hour}:00Z')"
        )
    monkeypatch.setattr(migrations, "all_migrations", lambda: everything)
    await migrate(fresh.url, MACHINES)
    kept = await fresh.fetch("SELECT created_at FROM entries ORDER BY number")
    assert [row["created_at"].hour for row in kept] == [3, 3, 3, 4, 4]
    (balance,) = await fresh.fetch("SELECT moved_at FROM balances")
    assert balance["moved_at"] == kept[-1]["created_at"]


async def test_events_that_went_back_in_time_are_mended(
    database: "Database", monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = await database.create()
    everything = migrations.all_migrations()
    older = [one for one in everything if one.name < "0008"]
    monkeypatch.setattr(migrations, "all_migrations", lambda: older)
    await migrate(fresh.url, MACHINES)
    for tenant, times in ((1, (3, 1, 2, 4, 1)), (2, (1, 2))):
        log = f"'00000000-0000-0000-0000-00000000000{tenant}'"
        await fresh.execute(f"INSERT INTO event_heads VALUES ({log}, {len(times)})")  # noqa: S608 - our own values
        for position, hour in enumerate(times, 1):
            await fresh.execute(
                f"INSERT INTO events VALUES ({log}, 'customer.updated', 'customer', {log}, "  # noqa: S608 - our own values
                f"{position}, '2026-01-31 0{hour}:00Z', '{{}}', {position})"
            )
    monkeypatch.setattr(migrations, "all_migrations", lambda: everything)
    await migrate(fresh.url, MACHINES)
    kept = await fresh.fetch("SELECT created_at FROM events ORDER BY tenant_id, position")
    assert [row["created_at"].hour for row in kept] == [3, 3, 3, 4, 4, 1, 2]
    heads = await fresh.fetch("SELECT moved_at FROM event_heads ORDER BY tenant_id")
    assert [row["moved_at"].hour for row in heads] == [4, 2]


async def test_a_database_from_the_future_is_refused(database: "Database") -> None:
    fresh = await database.create()
    await migrate(fresh.url, MACHINES)
    await fresh.execute("INSERT INTO migrations (name, digest) VALUES ('9999_flying_cars.sql', '')")
    with pytest.raises(MigrationError, match=r"9999_flying_cars\.sql"):
        await migrate(fresh.url, MACHINES)


async def test_nothing_starts_on_a_database_that_is_not_migrated(database: "Database") -> None:
    fresh = await database.create()
    pool = await open_pool(fresh.url, 2)
    try:
        with pytest.raises(MigrationError, match="farthing migrate"):
            await require_current(pool)
    finally:
        await pool.close()


async def test_whoever_may_not_make_roles_is_told_what_to_ask_for(database: "Database") -> None:
    fresh = await database.create()
    await fresh.execute("CREATE ROLE farthing_modest LOGIN PASSWORD 'x'")
    try:
        url = fresh.url.replace("farthing_test_owner:only-for-tests", "farthing_modest:x")
        with pytest.raises(MigrationError, match=r"GRANT farthing_app TO farthing_modest"):
            await migrate(url, MACHINES)
    finally:
        await fresh.execute("DROP ROLE farthing_modest")


async def test_history_may_refer_to_every_step_of_every_machine(database: "Database") -> None:
    rows = await database.fetch("SELECT machine, source, target FROM machine_steps")
    published = {(row["machine"], row["source"], row["target"]) for row in rows}
    known = {(one.noun, row.source, row.target) for one in MACHINES for row in one.table}
    assert published == known
