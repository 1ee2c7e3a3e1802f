"""A PostgreSQL database that cannot be used is refused at the start, with the reason."""

import asyncio
import time

import asyncpg
import pytest

from sidecall.kernel.core.overload import StoreUnfit
from sidecall.storage.postgres.database import PostgresDatabase
from tests.kit.postgres import Cluster, Estate
from tests.storage.sql.wires import wire_to

# Far more than what is promised, since the machine may be busy.
LIMIT = 30.0
SECRET = "s3cret"
UNFIT = {
    "wrong password": ("postgresql://sidecall:s3cret@127.0.0.1:{port}/postgres", 'failed for user "sidecall"'),
    "unknown database": ("postgresql://sidecall:open%20sesame@127.0.0.1:{port}/nowhere", '"nowhere" does not exist'),
    "nothing there": ("postgresql://sidecall:s3cret@127.0.0.1:1/db", "Connect call failed"),
    "no such host": ("postgresql://sidecall:s3cret@no-such-host.invalid/db", "Name or service not known"),
    "a slash in the password": ("postgresql://sidecall:s3cret/1@127.0.0.1/db", "percent-encoded form"),
    "a hash in the password": ("postgresql://sidecall:s3cret#1@127.0.0.1/db", "percent-encoded form"),
    "a port and a slash": ("postgresql://sidecall:12/s3cret@127.0.0.1/db", "percent-encoded form"),
    "another scheme": ("mysql://sidecall:s3cret@127.0.0.1/db", "postgresql://user:password@host"),
}


@pytest.mark.parametrize(("url", "why"), UNFIT.values(), ids=UNFIT)
async def test_a_database_that_cannot_be_used_is_refused_at_the_start(cluster: Cluster, url: str, why: str) -> None:
    """With the reason, and never the password."""
    begin = time.monotonic()
    with pytest.raises(StoreUnfit) as refused:
        await PostgresDatabase(url.format(port=cluster.port)).open()

    assert why in str(refused.value)
    assert "SIDECALL_STORE" in str(refused.value)
    assert SECRET not in f"{refused.value!r} {refused.value.__cause__!r}"
    assert time.monotonic() - begin < LIMIT


async def test_a_wire_that_is_dead_at_the_start_is_refused(cluster: Cluster) -> None:
    """In a bounded time."""
    async with wire_to(cluster.port) as wire:
        wire.hold()

        with pytest.raises(StoreUnfit, match=r"cannot be used: it does not answer in time"):
            async with asyncio.timeout(LIMIT):
                await PostgresDatabase(f"postgresql://sidecall:x@127.0.0.1:{wire.port}/postgres").open()


TAKEN = {
    "a newer program's": ("INSERT INTO schema_version VALUES (9999, 'later', 0)", "was written by a newer Sidecall"),
    "a development version's": (
        "UPDATE schema_version SET name = 'begin'; INSERT INTO schema_version VALUES (99, 'items', 0)",
        "^The database .* was made by a development version of Sidecall, before 0.1.0, or by another program: its "
        "tables are not those of a release, and nothing converts them. Name an empty database in "
        "SIDECALL_STORE; new tables are made at the next start.$",
    ),
    "the first development version's": ("UPDATE schema_version SET name = 'begin'", "made by a development version"),
    "another program's, with versions": ("UPDATE schema_version SET name = 'init'", "or by another program"),
    "another program's": ("DROP TABLE servers; TRUNCATE schema_version", "tables of another program"),
    "another program's, with versions as texts": (
        "ALTER TABLE schema_version ALTER COLUMN version TYPE text",
        "tables of another program",
    ),
    "read-only": ("ALTER DATABASE {name} SET default_transaction_read_only = on", "read-only"),
}


@pytest.mark.parametrize(("change", "why"), TAKEN.values(), ids=TAKEN)
async def test_tables_that_are_not_for_this_program_are_refused(postgres_url: str, change: str, why: str) -> None:
    """Nothing is changed in them."""
    before = PostgresDatabase(postgres_url)
    await before.open()
    await before.close()
    connection = await asyncpg.connect(postgres_url)
    await connection.execute(change.format(name=postgres_url.rpartition("/")[2]))
    await connection.close()

    with pytest.raises(StoreUnfit, match=why):
        await PostgresDatabase(postgres_url).open()


INCOMPLETE = {
    "a table is missing": ("DROP TABLE calls CASCADE", "it lacks the tables calls and has others: restore a backup"),
    "a right is missing": (
        "ALTER TABLE calls OWNER TO sidecall; REVOKE ALL ON calls FROM {user}",
        "may not use the tables calls: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO user_",
    ),
    "all rights are missing": (
        "ALTER TABLE calls OWNER TO sidecall; ALTER TABLE schema_version OWNER TO sidecall",
        "may not use the tables schema_version: GRANT SELECT, INSERT, UPDATE, DELETE",
    ),
}


@pytest.mark.parametrize(("change", "why"), INCOMPLETE.values(), ids=INCOMPLETE)
async def test_tables_that_cannot_be_used_are_refused(estate: Estate, change: str, why: str) -> None:
    """With what to do about it, though they have the newest version."""
    before = PostgresDatabase(estate.url)
    await before.open()
    await before.close()
    await estate.administer(change)

    with pytest.raises(StoreUnfit, match=why) as refused:
        await PostgresDatabase(estate.url).open()

    assert "(SIDECALL_STORE) cannot be used: " in str(refused.value)


async def test_whoever_finds_all_tables_needs_no_right_to_make_some(estate: Estate) -> None:
    """An administrator may make them, and grant no more than is used."""
    before = PostgresDatabase(estate.admin_url)
    await before.open()
    await before.close()
    grant = "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {user}"
    await estate.administer("REVOKE CREATE ON SCHEMA public FROM {user}, pg_database_owner, PUBLIC", grant)

    database = PostgresDatabase(estate.url)
    await database.open()

    assert await database.write("register_server", "a", 1.0) == ("a",)
    await database.close()


UNGRANTED = {
    "a schema that is not theirs": (
        "REVOKE CREATE ON SCHEMA public FROM {user}, pg_database_owner, PUBLIC",
        "its tables are not made yet, and the user {user} may make none in the schema public: "
        "GRANT USAGE, CREATE ON SCHEMA public TO {user}, or CREATE SCHEMA {user} AUTHORIZATION {user}",
    ),
    "no schema": (
        "DROP SCHEMA public CASCADE",
        "its tables are not made yet, and the user {user} may make none in any schema: "
        "CREATE SCHEMA {user} AUTHORIZATION {user}",
    ),
}


@pytest.mark.parametrize(("change", "why"), UNGRANTED.values(), ids=UNGRANTED)
async def test_a_user_who_may_make_no_tables_is_told_what_to_grant(estate: Estate, change: str, why: str) -> None:
    """Done as it is said, the start succeeds."""
    await estate.administer(change)

    with pytest.raises(StoreUnfit) as refused:
        await PostgresDatabase(estate.url).open()

    said = why.format(user=estate.user)
    where = estate.url.partition("@")[2]
    assert str(refused.value) == f"The database {where} (SIDECALL_STORE) cannot be used: {said}."
    for statement in said.rpartition(": ")[2].split(", or "):
        await estate.administer(statement)
    database = PostgresDatabase(estate.url)
    await database.open()
    assert await database.write("register_server", "a", 1.0) == ("a",)
    await database.close()
