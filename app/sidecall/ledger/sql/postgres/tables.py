"""The tables in a PostgreSQL database, brought up to date by one server at a time."""

import time

import asyncpg

from sidecall.core.overload import StoreUnfit
from sidecall.ledger.sql.migrate import Migration, list_missing

# The advisory lock of Sidecall's migrations: "sidecall" in ASCII.
_LOCK = 0x7369646563616C6C
_MAKE = """
CREATE TABLE IF NOT EXISTS schema_version (
    version bigint PRIMARY KEY,
    name text NOT NULL,
    applied_at double precision NOT NULL
)
"""


async def bring_up_to_date(connection: asyncpg.Connection, address: str) -> None:
    """Carry out the migrations that are missing, all or none; another server that starts meanwhile waits.

    Raises:
        StoreUnfit: The tables are of a newer program, or not ours.
    """
    try:
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
            await connection.execute(_MAKE)
            version = await connection.fetchval("SELECT coalesce(max(version), 0) FROM schema_version")
            for migration in list_missing("postgres", version, address):
                await _carry_out(connection, migration)
    except (asyncpg.DuplicateTableError, asyncpg.UndefinedColumnError, asyncpg.WrongObjectTypeError) as error:
        raise StoreUnfit(
            f"The database {address} has tables of another program: {error}. Give Sidecall a database of its own."
        ) from None


async def _carry_out(connection: asyncpg.Connection, migration: Migration) -> None:
    await connection.execute(migration.script)
    await connection.execute(
        "INSERT INTO schema_version VALUES ($1, $2, $3)", migration.number, migration.name, time.time()
    )
