"""Migrations: numbered SQL files, each applied once, in one transaction."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable
from importlib import resources
from typing import Any, Final

import asyncpg
from msgspec import Struct

from farthing.core.machine import Machine
from farthing.db.pool import PlainConnection
from farthing.db.tables import APP_ROLE, KEEPER_ROLE, SCHEMA

OLDEST_SERVER: Final = 15

# The role for everything, the one for card numbers alone, and the one that throws tenants away.
ROLES: Final = (APP_ROLE, "farthing_vault", KEEPER_ROLE)

_SCHEMA: Final = f"""
CREATE SCHEMA IF NOT EXISTS {SCHEMA};
CREATE TABLE IF NOT EXISTS {SCHEMA}.migrations (
    name text PRIMARY KEY,
    digest text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);
"""
_GRANT: Final = f"""
GRANT USAGE ON SCHEMA {SCHEMA} TO {APP_ROLE};
GRANT SELECT ON {SCHEMA}.migrations TO {APP_ROLE};
"""

# What PostgreSQL says when somebody else makes the same thing at this moment.
_NEIGHBOUR: Final = (
    asyncpg.UniqueViolationError,
    asyncpg.DuplicateObjectError,
    asyncpg.DuplicateSchemaError,
    asyncpg.InternalServerError,
)
_TRIES: Final = 10


class MigrationError(Exception):
    """The database cannot be brought up to date; the sentence says what to do."""


class Migration(Struct, frozen=True):
    """One file."""

    name: str
    sql: str

    @property
    def digest(self) -> str:
        """The digest by which a later change of an applied file is noticed."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def all_migrations() -> list[Migration]:
    """Return the files in their order."""
    folder = resources.files("farthing.db") / "migrations"
    files = [file for file in folder.iterdir() if file.name.endswith(".sql")]
    return [Migration(file.name, file.read_text("utf-8")) for file in sorted(files, key=_by_name)]


def _by_name(file: Any) -> str:
    return str(file.name)


async def migrate(
    url: str, machines: Iterable[Machine], say: Callable[[str], None] = lambda _: None
) -> None:
    """Bring the database up to date: role, files, and the steps of the machines."""
    connection = await asyncpg.connect(url, timeout=10)
    try:
        _check_server(connection)
        await _patiently(_make_roles, connection)
        await _patiently(_make_schema, connection)
        async with connection.transaction():
            # Others who migrate at this moment wait here, and then find nothing to do.
            await connection.execute(f"LOCK TABLE {SCHEMA}.migrations IN EXCLUSIVE MODE")
            await connection.execute(_GRANT)
            await _apply_missing(connection, say)
            await _publish_steps(connection, machines)
    finally:
        await connection.close()


async def require_current(connection: Any) -> None:
    """Refuse to work on a database that is behind or ahead of this code."""
    try:
        names = {r["name"] for r in await connection.fetch(f"SELECT name FROM {SCHEMA}.migrations")}
    except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError):
        names = set()
    if missing := [one.name for one in all_migrations() if one.name not in names]:
        raise MigrationError(f"The database lacks {missing[0]}. Run `farthing migrate` first.")


def _check_server(connection: PlainConnection) -> None:
    major = connection.get_server_version().major
    if major < OLDEST_SERVER:
        raise MigrationError(
            f"This is PostgreSQL {major}; Farthing needs {OLDEST_SERVER} or later."
        )


async def _patiently(
    make: Callable[[PlainConnection], Awaitable[None]], connection: PlainConnection
) -> None:
    """Make what may be there already; a neighbour who makes the same is waited for.

    PostgreSQL's IF NOT EXISTS does not protect against one who does the same at this moment.
    """
    for attempt in range(_TRIES):
        try:
            return await make(connection)
        except _NEIGHBOUR:
            await asyncio.sleep(0.05 * attempt)
    return await make(connection)


async def _make_roles(connection: PlainConnection) -> None:
    """Make the roles of the application, and let whoever migrates act as them."""
    # PostgreSQL 16 told membership and the right to act as a role apart.
    right = "SET" if connection.get_server_version().major > OLDEST_SERVER else "MEMBER"
    try:
        for role in ROLES:
            if not await connection.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", role):
                await connection.execute(f"CREATE ROLE {role} NOLOGIN")
            if not await connection.fetchval("SELECT pg_has_role($1, $2)", role, right):
                await connection.execute(f"GRANT {role} TO CURRENT_USER")
    except asyncpg.InsufficientPrivilegeError:
        user = await connection.fetchval("SELECT current_user")
        make = " ".join(f"CREATE ROLE {role} NOLOGIN; GRANT {role} TO {user};" for role in ROLES)
        raise MigrationError(
            f"{user} may not make the roles of the application. Let an administrator run: {make}"
        ) from None


async def _make_schema(connection: PlainConnection) -> None:
    await connection.execute(_SCHEMA)


async def _apply_missing(connection: PlainConnection, say: Callable[[str], None]) -> None:
    applied = {
        record["name"]: record["digest"]
        for record in await connection.fetch(f"SELECT name, digest FROM {SCHEMA}.migrations")
    }
    known = all_migrations()
    if ahead := sorted(applied.keys() - {one.name for one in known}):
        raise MigrationError(
            f"The database has {ahead[-1]}, which this version of Farthing does not know. "
            "Install the version that wrote it, or a later one."
        )
    for one in known:
        if one.name not in applied:
            await _apply(connection, one)
            say(f"applied {one.name}")
        elif applied[one.name] != one.digest:
            raise MigrationError(
                f"{one.name} was changed after it had been applied. Restore the file; "
                "what must change goes into a new migration."
            )


async def _apply(connection: PlainConnection, migration: Migration) -> None:
    await connection.execute(
        f"SET LOCAL search_path = {SCHEMA}; SET LOCAL lock_timeout = '10s';"
        "SET LOCAL statement_timeout = '10min';"
    )
    await connection.execute(migration.sql)
    await connection.execute(
        f"INSERT INTO {SCHEMA}.migrations (name, digest) VALUES ($1, $2)",
        migration.name,
        migration.digest,
    )


async def _publish_steps(connection: PlainConnection, machines: Iterable[Machine]) -> None:
    """Let history refer to every step that the machines know; old steps stay for old history."""
    steps = {
        (machine.noun, row.source, row.target) for machine in machines for row in machine.table
    }
    await connection.executemany(
        f"INSERT INTO {SCHEMA}.machine_steps VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        sorted(steps),
    )
