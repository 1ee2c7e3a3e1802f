"""What an administrator has set for connections does not cut off ours."""

import asyncio

import asyncpg
import pytest

from sidecall.kernel.core.overload import StoreUnfit
from sidecall.storage.postgres.database import PostgresDatabase
from sidecall.storage.postgres.link import open_connection
from sidecall.storage.statements import read_statements
from tests.kit.postgres import Estate

TIMES = ("statement_timeout", "lock_timeout", "idle_session_timeout", "idle_in_transaction_session_timeout")


def make_with(encoding: str) -> tuple[str, str]:
    """Write what makes the database anew with an encoding."""
    make = f"CREATE DATABASE {{database}} OWNER {{user}} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"
    return "DROP DATABASE {database}", make


async def test_times_that_are_set_for_a_user_are_overridden(estate: Estate) -> None:
    """No matter what the administrator has set; a short one would hold until it is overridden."""
    await estate.administer(*(f"ALTER ROLE {{user}} SET {name} = '1min'" for name in TIMES))

    connection = await open_connection(estate.url, 5.0, lock_patience=1.5)

    shown = [await connection.fetchval(f"SHOW {name}") for name in TIMES]
    await connection.close()
    assert shown == ["10s", "1500ms", "0", "0"]


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


async def test_an_encoding_that_lacks_characters_is_refused(estate: Estate) -> None:
    """At the start, and not in the middle of a call; no table is made."""
    await estate.administer(*make_with("LATIN1"), database="postgres")

    with pytest.raises(StoreUnfit) as refused:
        await PostgresDatabase(estate.url).open()

    assert str(refused.value) == (
        f"The database {estate.url.partition('@')[2]} (SIDECALL_STORE) cannot be used: its encoding is LATIN1, which "
        "lacks most characters: make another with "
        "CREATE DATABASE sidecall ENCODING 'UTF8' LOCALE 'C.UTF-8' TEMPLATE template0."
    )
    connection = await asyncpg.connect(estate.admin_url)
    assert await connection.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0
    await connection.close()


@pytest.mark.parametrize("encoding", ["UTF8", "SQL_ASCII"])
async def test_an_encoding_that_keeps_all_text_is_used(estate: Estate, encoding: str) -> None:
    """Also the one that takes bytes as they come."""
    await estate.administer(*make_with(encoding), database="postgres")
    database = PostgresDatabase(estate.url, {**read_statements("postgres"), "say": "SELECT $1::text"})

    await database.open()
    said = await database.read("say", "naïve 日本 🎉")
    await database.close()

    assert said == [("naïve 日本 🎉",)]
