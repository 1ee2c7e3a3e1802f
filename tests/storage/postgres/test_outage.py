"""A PostgreSQL database that is reachable and cannot be used is out of use for all, until it can be used again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import asyncpg
import pytest

from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.postgres.database import PostgresDatabase
from sidecall.storage.statements import read_statements
from tests.kit.postgres import Cluster, Estate
from tests.storage.postgres.test_database import LIMIT, once_usable, wait_until


@pytest.fixture
async def database(estate: Estate) -> AsyncIterator[PostgresDatabase]:
    """Give an open database, whose user owns it."""
    database = PostgresDatabase(estate.url)
    await database.open()
    yield database
    await database.close()


async def find_out(database: PostgresDatabase) -> str:
    """Use the database in three ways, all of which fail, and return what it says then."""
    with pytest.raises(StoreUnavailable):
        await database.read("count_queued_calls")
    said = database.trouble
    with pytest.raises(StoreUnavailable):
        await database.write("register_server", "a", 1.0)
    with pytest.raises(StoreUnavailable):
        await database.read("tell_time")
    assert said is not None
    assert database.unavailable_since is not None
    return said


async def test_one_that_takes_its_rights_away_is_out_of_use_until_they_are_granted(
    estate: Estate, database: PostgresDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    """It says which right is missing, and the log says when it began and ended."""
    name = f"PostgreSQL at {estate.url.partition('@')[2]}"
    await estate.administer("ALTER TABLE calls OWNER TO sidecall", "REVOKE ALL ON calls FROM {user}")

    assert await find_out(database) == f"{name}: permission denied for table calls; its user lacks a right"
    grant = f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {estate.user}"
    await wait_until(
        lambda: database.trouble == f"{name}: the user {estate.user} may not use the tables calls: {grant}"
    )
    await estate.administer(grant)
    await wait_until(lambda: database.trouble is None)

    assert await database.read("count_queued_calls") == [(0,)]
    assert database.unavailable_since is None
    assert [(record.levelname, record.message) for record in caplog.records] == [
        (
            "ERROR",
            f"the ledger cannot be used, so calls that have to be remembered get 503: {name}: "
            "permission denied for table calls; its user lacks a right",
        ),
        (
            "ERROR",
            f"the ledger still cannot be used: {name}: the user {estate.user} may not use the tables calls: {grant}",
        ),
        ("WARNING", f"the ledger can be used again: {name}"),
    ]


async def test_the_log_says_why_a_connection_that_was_lost_is_not_made_again(
    estate: Estate, database: PostgresDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    """Each reason once, however often it is found."""
    name = f"PostgreSQL at {estate.url.partition('@')[2]}"
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{user}'"
    denied = f'{name}: password authentication failed for user "{estate.user}"'

    await estate.administer("ALTER ROLE {user} PASSWORD 'y'", end)
    await wait_until(lambda: database.trouble == denied)
    await asyncio.sleep(1.0)  # Until it was found a few times.
    await estate.administer("ALTER ROLE {user} PASSWORD 'x'")
    await wait_until(lambda: database.trouble is None)

    assert [record.message for record in caplog.records] == [
        f"the ledger cannot be used, so calls that have to be remembered get 503: {name}: the connection to it is lost",
        f"the ledger still cannot be used: {denied}",
        f"the ledger can be used again: {name}",
    ]


async def test_rights_that_only_writing_needs_are_missed_too(estate: Estate, database: PostgresDatabase) -> None:
    """Reading goes on, but a call is more than that."""
    await estate.administer("ALTER TABLE servers OWNER TO sidecall", "GRANT SELECT ON servers TO {user}")

    with pytest.raises(StoreUnavailable):
        await database.write("register_server", "a", 1.0)

    await wait_until(lambda: "may not use the tables servers" in (database.trouble or ""))


EMPTIED = {
    "schema": (("DROP SCHEMA public CASCADE", "CREATE SCHEMA public AUTHORIZATION {user}"), None),
    "database": (("DROP DATABASE {database} WITH (FORCE)", "CREATE DATABASE {database} OWNER {user}"), "postgres"),
}


@pytest.mark.parametrize(("statements", "where"), EMPTIED.values(), ids=EMPTIED)
async def test_one_that_was_emptied_gets_its_tables_again(
    estate: Estate, database: PostgresDatabase, statements: tuple[str, ...], where: str | None
) -> None:
    """By several servers at once, and without a restart."""
    other = PostgresDatabase(estate.url)
    await other.open()
    await estate.administer(*statements, database=where)

    assert await once_usable(lambda: database.write("register_server", "a", 1.0)) is not None
    assert await once_usable(lambda: other.read("count_queued_calls")) == [(0,)]
    await other.close()


async def test_one_that_lacks_a_table_stays_out_of_use(estate: Estate, database: PostgresDatabase) -> None:
    """Nobody knows what else is lost, so that is for the operator."""
    await estate.administer("DROP TABLE calls CASCADE")

    assert 'relation "calls" does not exist' in await find_out(database)

    await wait_until(lambda: "it lacks the tables calls and has others: restore a backup" in (database.trouble or ""))


async def test_a_fault_that_no_trial_finds_does_not_fill_the_log(
    estate: Estate, caplog: pytest.LogCaptureFixture
) -> None:
    """Of a disk that is full what a trial changes needs no room, and what a call adds does."""
    full = "DO $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$"
    database = PostgresDatabase(estate.url, {**read_statements("postgres"), "fill": full})
    await database.open()

    def errors() -> list[float]:
        return [record.created for record in caplog.records if record.levelname == "ERROR"]

    async with asyncio.timeout(LIMIT):
        while len(errors()) < 3:
            with pytest.raises(StoreUnavailable):
                await database.write("fill")
            await asyncio.sleep(0.01)
    await database.close()

    _, second, third = errors()
    assert third - second >= 1.0


async def test_a_table_that_others_have_locked_is_waited_for_once(
    estate: Estate, database: PostgresDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    """However many wait to read it; what comes afterwards is refused at once, until it is free."""
    other = await asyncpg.connect(estate.admin_url)
    transaction = other.transaction()
    await transaction.start()
    await other.execute("SET application_name = 'reports'")
    await other.execute("LOCK TABLE calls IN ACCESS EXCLUSIVE MODE")

    reads = (database.read("get_call_record", str(number)) for number in range(40))
    writes = (database.write("release_call", str(number), 1) for number in range(40))
    answers = await asyncio.gather(*reads, *writes, return_exceptions=True)
    said = database.trouble or ""
    process = other.get_server_pid()
    await transaction.rollback()
    await other.close()
    await wait_until(lambda: database.trouble is None)

    assert [type(answer) for answer in answers] == [StoreUnavailable] * 80
    assert f"its table calls is locked by reports of the user sidecall (process {process})" in said
    told = [record.levelname for record in caplog.records]
    assert (told[0], {*told[1:-1]} <= {"ERROR"}, told[-1]) == ("ERROR", True, "WARNING")
    assert await database.read("count_queued_calls") == [(0,)]


async def test_a_trial_waits_until_postgresql_itself_lets_go_of_a_table(
    estate: Estate, database: PostgresDatabase
) -> None:
    """As it does when it gives back the room of what was forgotten: nobody is to be told of another program."""
    trials = 0
    go_on = asyncio.Event()

    async def forget_much() -> None:
        other = await asyncpg.connect(estate.admin_url)
        filled = "SELECT 'i' || i, 't', 'n', 'k', repeat('x', 500), 0, 0 FROM generate_series(1, 5000) AS i"
        columns = "id, tenant, namespace, key, value, created_at, updated_at"
        for _ in range(20):
            await other.execute(f"INSERT INTO items ({columns}) {filled}")
            await other.execute("DELETE FROM items")
            await other.execute("VACUUM items")
        await other.close()
        go_on.set()

    forgetting = asyncio.ensure_future(forget_much())
    while not go_on.is_set():
        assert await database._find_fault() is None
        trials += 1
        await asyncio.sleep(0)
    await forgetting

    assert trials > 20


async def test_trials_of_many_servers_at_once_do_not_wait_for_each_other(
    estate: Estate, database: PostgresDatabase
) -> None:
    """One whose trial is slow to commit holds up none of the others."""
    other = await asyncpg.connect(estate.admin_url)
    transaction = other.transaction()
    await transaction.start()
    await other.execute("UPDATE schema_version SET name = name WHERE version = 1")

    fault = await database._find_fault()
    await transaction.rollback()
    await other.close()

    assert fault is None


@pytest.mark.parametrize("use", ["write", "read"])
async def test_whoever_has_waited_for_a_locked_table_does_not_wait_again(
    estate: Estate, database: PostgresDatabase, use: str
) -> None:
    """A call takes several steps, each of which would be a second."""
    other = await asyncpg.connect(estate.admin_url)
    transaction = other.transaction()
    await transaction.start()
    await other.execute("LOCK TABLE calls IN ACCESS EXCLUSIVE MODE")

    with pytest.raises(StoreUnavailable):
        await (database.write("release_call", "a", 1) if use == "write" else database.read("get_call_record", "a"))
    is_out_of_use = database.trouble is not None
    await transaction.rollback()
    await other.close()

    assert is_out_of_use


async def test_one_that_is_made_read_only_while_connections_stay_open_is_out_of_use(
    cluster: Cluster, estate: Estate, database: PostgresDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    """Reading still goes, so only a write finds out."""
    try:
        await estate.administer("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")
        async with asyncio.timeout(30.0):
            while database.trouble is None:
                with suppress(StoreUnavailable):
                    await database.write("register_server", "a", 1.0)
        said = database.trouble
    finally:
        change = "ALTER SYSTEM RESET default_transaction_read_only"
        await estate.administer("SET default_transaction_read_only = off", change, "SELECT pg_reload_conf()")
    await wait_until(lambda: database.trouble is None)

    assert said.endswith(": it cannot be written: it is a standby, or was made read-only")
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]
    assert await database.write("register_server", "a", 1.0) == ("a",)
