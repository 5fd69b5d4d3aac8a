"""The pool of database connections, each with the rights of the application and no more."""

import asyncio
from typing import TYPE_CHECKING, Any, Final

import asyncpg
import msgspec

from farthing.db.tables import APP_ROLE, SCHEMA

# The driver's classes take a parameter in their type stubs only.
if TYPE_CHECKING:
    Pool = asyncpg.Pool[asyncpg.Record]
    PlainConnection = asyncpg.Connection[asyncpg.Record]
    Connection = asyncpg.pool.PoolConnectionProxy[asyncpg.Record] | PlainConnection
else:
    Pool, PlainConnection, Connection = asyncpg.Pool, asyncpg.Connection, asyncpg.Connection

# The database cannot be reached, or went away in the middle.
AWAY: Final = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    OSError,
    asyncio.TimeoutError,
)


def is_away(error: Exception) -> bool:
    """Tell a database that is away from a value that the driver cannot send.

    The driver counts the latter among its interface errors too, and calls it a ValueError.
    """
    return isinstance(error, AWAY) and not isinstance(error, ValueError)


_SETTINGS: Final = {
    "application_name": "farthing",
    "search_path": SCHEMA,
    "role": APP_ROLE,
    "timezone": "UTC",
    "jit": "off",
    "statement_timeout": "15s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "30s",
}


_EMPTY: Final[dict[bytes, type[list[Any]] | type[dict[str, Any]]]] = {
    b"\x01[]": list,
    b"\x01{}": dict,
}


class _Connection(PlainConnection):
    def get_reset_query(self) -> str:
        """Reset nothing between uses: no code of ours changes a session."""
        return ""


def _read_document(data: bytes) -> Any:
    # Most objects have no labels, and nothing is read faster than what is not read.
    empty = _EMPTY.get(data)
    return msgspec.json.decode(memoryview(data)[1:]) if empty is None else empty()


async def _teach_json(connection: Any) -> None:
    # Binary, because COPY is; the first byte is the version of the format.
    await connection.set_type_codec(
        "jsonb",
        schema="pg_catalog",
        format="binary",
        encoder=lambda value: b"\x01" + msgspec.json.encode(value),
        decoder=_read_document,
    )
    # Documents are sent as they are written.
    await connection.set_type_codec(
        "json", schema="pg_catalog", format="binary", encoder=bytes, decoder=bytes
    )


async def open_pool(url: str, size: int = 8) -> Pool:
    """Open the application's connections."""
    return await asyncpg.create_pool(
        url,
        min_size=min(2, size),
        max_size=size,
        connection_class=_Connection,
        init=_teach_json,
        server_settings=_SETTINGS,
        command_timeout=20,
        timeout=10,
    )
