"""What an administrator has set for connections does not cut off ours."""

import asyncio

import asyncpg

from sidecall.ledger.sql.postgres.connecting import open_connection
from sidecall.ledger.sql.postgres.database import PostgresDatabase
from tests.kit.postgres import Estate

TIMES = ("statement_timeout", "lock_timeout", "idle_session_timeout", "idle_in_transaction_session_timeout")


async def test_times_that_are_set_for_a_user_are_overridden(estate: Estate) -> None:
    """Also one that is hardly long enough to override it."""
    await estate.administer(*(f"ALTER ROLE {{user}} SET {name} = '1ms'" for name in TIMES))

    connection = await open_connection(estate.url, 5.0, lock_patience=1.5)

    shown = [await connection.fetchval(f"SHOW {name}") for name in TIMES]
    await connection.close()
    assert shown == ["0", "1500ms", "0", "0"]


async def test_a_server_that_starts_waits_for_another_whatever_is_set_for_locks(estate: Estate) -> None:
    """Which makes the tables meanwhile."""
    await estate.administer("ALTER ROLE {user} SET lock_timeout = '1ms'")
    other = await asyncpg.connect(estate.url)
    transaction = other.transaction()
    await transaction.start()
    await other.execute("SELECT pg_advisory_xact_lock($1)", 0x7369646563616C6C)
    database = PostgresDatabase(estate.url)

    starting = asyncio.create_task(database.open())
    done, _ = await asyncio.wait([starting], timeout=0.5)
    await transaction.rollback()
    await starting
    await other.close()

    assert not done
    assert await database.read("count_queued_calls") == [(0,)]
    await database.close()
