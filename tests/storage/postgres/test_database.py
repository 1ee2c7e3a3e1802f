"""PostgreSQL is lost and found again, or refused at the start."""

import asyncio
import re
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from typing import TypeVar

import asyncpg
import pytest

from sidecall.kernel.core.overload import StoreUnavailable, StoreUnfit
from sidecall.storage.postgres.database import PostgresDatabase
from sidecall.storage.postgres.link import Link, find_by_index
from sidecall.storage.statements import read_statements
from tests.kit.postgres import Cluster
from tests.storage.sql.wires import Wire, wire_to

T = TypeVar("T")
STATEMENTS = {
    "make": "CREATE TABLE IF NOT EXISTS things (id text PRIMARY KEY, n bigint NOT NULL)",
    "add": "INSERT INTO things VALUES ($1, $2) RETURNING id",
    "raise": "UPDATE things SET n = n + 1 WHERE id = $1 RETURNING id, n",
    "find": "SELECT id FROM things ORDER BY id",
    "is_durable": "SELECT $1::text, current_setting('synchronous_commit')",
    "sleep": "SELECT $1::text, pg_sleep(60)",
    "name_writer": "SELECT $1::text, pg_backend_pid()",
}
# Far more than what is promised, since the machine may be busy; far less than for ever.
LIMIT = 30.0


@pytest.fixture
def steady(cluster: Cluster) -> Iterator[Cluster]:
    """Give the server, and start it again afterwards."""
    yield cluster
    cluster.stop()
    cluster.start()


@pytest.fixture
async def database(postgres_url: str) -> AsyncIterator[PostgresDatabase]:
    """Give a database with a table for things."""
    database = PostgresDatabase(postgres_url, STATEMENTS)
    await database.open()
    await database.write("make")
    yield database
    await database.close()


async def wait_until(holds: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(LIMIT):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def once_usable(use: Callable[[], Awaitable[T]]) -> T:
    """Use a database as soon as that succeeds."""
    async with asyncio.timeout(LIMIT):
        while True:
            try:
                return await use()
            except StoreUnavailable:
                await asyncio.sleep(0.01)


async def open_soon(url: str, patience: float) -> PostgresDatabase:
    """Open a database for which nobody waits long, with a table for things, once the machine is quick enough for it."""
    async with asyncio.timeout(LIMIT):
        while True:
            with suppress(StoreUnfit):
                database = PostgresDatabase(url, STATEMENTS, patience=patience)
                await database.open()
                break
    await once_usable(lambda: database.write("make"))
    return database


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT, signal.SIGKILL])
async def test_what_was_confirmed_is_there_when_the_server_comes_back(
    database: PostgresDatabase, steady: Cluster, how: signal.Signals
) -> None:
    """While it is away all is refused at once, with a reason for the operator."""
    confirmed: list[str] = []

    async def write(writer: int) -> None:
        for number in range(100_000):
            try:
                await database.write("add", f"{writer}-{number}", number)
            except StoreUnavailable:
                return
            confirmed.append(f"{writer}-{number}")

    writers = [asyncio.create_task(write(writer)) for writer in range(20)]
    await wait_until(lambda: len(confirmed) > 200)
    await asyncio.to_thread(steady.stop, how)
    async with asyncio.timeout(LIMIT):
        await asyncio.gather(*writers)
    await wait_until(lambda: database.trouble is not None)
    assert database.trouble is not None
    assert database.trouble.startswith("PostgreSQL at 127.0.0.1:")
    for use in (database.write("add", "late", 1), database.write_all("add", [("late", 1)]), database.read("find")):
        with pytest.raises(StoreUnavailable):
            await use

    await asyncio.to_thread(steady.start)
    await wait_until(lambda: database.trouble is None)
    assert database.unavailable_since is None

    await database.write("add", "later", 1)
    assert {*confirmed, "later"} <= {row[0] for row in await database.read("find")}


@pytest.mark.parametrize("statement", ["finish_call", "claim_call"])
async def test_calls_are_found_by_their_ids_in_a_table_that_was_empty(postgres_url: str, statement: str) -> None:
    """The plan is kept while the table grows, and would have all of it read."""
    ledger = PostgresDatabase(postgres_url)
    await ledger.open()
    await ledger.close()
    link = Link(postgres_url, 5.0, is_kept=True, begin=find_by_index)
    await link.open()
    assert link.connection is not None
    sql = read_statements("postgres")[statement]
    nothing = ", ".join(["NULL"] * len({*re.findall(r"\$(\d+)", sql)}))

    await link.connection.execute(f"SET plan_cache_mode = force_generic_plan; PREPARE kept AS {sql}")
    plan = [row[0] for row in await link.connection.fetch(f"EXPLAIN (COSTS OFF) EXECUTE kept ({nothing})")]
    await link.close()

    scans = [line.strip(" ->") for line in plan if "Scan" in line]
    assert [scan.partition(" on ")[0] for scan in scans] == ["Function Scan", "Index Scan using calls_pkey"]


@pytest.mark.parametrize(("count", "writers"), [(16, 1), (40, 2)])
async def test_idle_connections_share_what_waits(database: PostgresDatabase, count: int, writers: int) -> None:
    """Where it is much; few are quicker in one message."""
    rows = await asyncio.gather(*(database.write("name_writer", str(number)) for number in range(count)))

    assert [row[0] for row in rows if row] == [str(number) for number in range(count)]
    assert len({row[1] for row in rows if row}) == writers


async def test_a_server_that_goes_away_while_nothing_is_written_is_noticed(
    database: PostgresDatabase, steady: Cluster
) -> None:
    """So that the probes say so before a call comes."""
    assert (database.trouble, database.unavailable_since) == (None, None)
    before = time.time()

    await asyncio.to_thread(steady.stop)

    await wait_until(lambda: database.trouble is not None)
    assert before <= (database.unavailable_since or 0.0) <= time.time()


@pytest.fixture
async def wire(cluster: Cluster) -> AsyncIterator[Wire]:
    """Lay a wire to the server."""
    async with wire_to(cluster.port) as wire:
        yield wire


@pytest.fixture
async def distant(cluster: Cluster, wire: Wire) -> AsyncIterator[PostgresDatabase]:
    """Give a database at the end of a wire, for which nobody waits long."""
    url = cluster.address(cluster.make_database()).replace(f":{cluster.port}/", f":{wire.port}/")
    # If it asks for TLS, an attempt that is given up may fail the test (findings/asyncpg-cancelled-connect.sh).
    database = await open_soon(f"{url}?sslmode=disable", 0.5)
    yield database
    await database.close()


async def test_a_wire_that_goes_dead_holds_nobody_up(distant: PostgresDatabase, wire: Wire) -> None:
    """Not even for reading; and what comes afterwards is refused at once."""
    wire.hold()
    async with asyncio.timeout(LIMIT):
        results = await asyncio.gather(
            distant.read("find"),
            *(distant.write("add", f"a{number}", number) for number in range(100)),
            return_exceptions=True,
        )

    assert [type(result) for result in results] == [StoreUnavailable] * 101
    assert "does not answer in time" in (distant.trouble or "")

    wire.release()
    assert await once_usable(lambda: distant.write("add", "b", 1)) == ("b",)
    assert distant.trouble is None


async def test_closing_does_not_wait_for_a_dead_wire(distant: PostgresDatabase, wire: Wire) -> None:
    """What still waits is refused."""
    wire.hold()
    writes = [asyncio.ensure_future(distant.write("add", f"a{number}", number)) for number in range(10)]
    await asyncio.sleep(0)

    async with asyncio.timeout(LIMIT):
        await distant.close()
        results = await asyncio.gather(*writes, return_exceptions=True)

    assert [type(result) for result in results] == [StoreUnavailable] * 10


async def test_no_more_waits_than_there_is_room_for(distant: PostgresDatabase, wire: Wire) -> None:
    """The rest is refused at once."""
    wire.hold()
    text = "x" * 30_000_000

    writes = [asyncio.ensure_future(distant.write("add", f"{number}{text}", 1)) for number in range(4)]
    done, _ = await asyncio.wait(writes, return_when=asyncio.FIRST_COMPLETED, timeout=LIMIT)
    refused = sum(task.done() for task in writes)
    for task in writes:
        task.cancel()
    await asyncio.gather(*writes, return_exceptions=True)

    assert [type(task.exception()) for task in done] == [StoreUnavailable] * len(done)
    assert 1 <= refused < 4


async def test_a_cut_wire_is_mended(distant: PostgresDatabase, wire: Wire) -> None:
    """Without a restart, and perhaps before anybody notices."""
    wire.cut()
    written = None
    async with asyncio.timeout(LIMIT):
        while written is None:
            with suppress(StoreUnavailable):
                written = await distant.write("add", "a", 1)
            await asyncio.sleep(0.01)

    assert written == ("a",)
    assert distant.trouble is None
    assert await distant.read("find") == [("a",)]


@pytest.mark.parametrize("turns", range(12))
async def test_a_write_that_comes_as_the_connections_break_is_answered(
    distant: PostgresDatabase, wire: Wire, turns: int
) -> None:
    """At any turn of the loop: it may be let in before they break, and be looked at afterwards."""
    wire.cut()
    for _ in range(turns):
        await asyncio.sleep(0)

    async with asyncio.timeout(LIMIT):
        answers = await asyncio.gather(distant.write("add", "a", 1), return_exceptions=True)

    assert answers == [("a",)] or [type(answer) for answer in answers] == [StoreUnavailable]


async def test_a_row_that_others_hold_fails_alone(database: PostgresDatabase, postgres_url: str) -> None:
    """Others that write at the same time are not told off for it."""
    await database.write_all("add", [("held", 0), ("free", 0)])
    other = await asyncpg.connect(postgres_url)
    transaction = other.transaction()
    await transaction.start()
    await other.execute("UPDATE things SET n = 100 WHERE id = 'held'")

    results = await asyncio.gather(
        database.write("raise", "held"), database.write("raise", "free"), return_exceptions=True
    )
    await transaction.commit()
    await other.close()

    assert (type(results[0]), results[1]) == (StoreUnavailable, ("free", 1))
    assert await database.write("raise", "held") == ("held", 101)


async def test_a_statement_that_takes_too_long_is_given_up(postgres_url: str) -> None:
    """The next one is answered with its own rows."""
    database = await open_soon(postgres_url, 0.5)

    with pytest.raises(StoreUnavailable):
        await database.write("sleep", "a")
    with pytest.raises(StoreUnavailable):
        await database.read("sleep", "a")

    assert await once_usable(lambda: database.write("add", "b", 1)) == ("b",)
    await database.close()


@pytest.mark.parametrize(("chosen", "used"), [("off", "on"), ("local", "local"), ("remote_apply", "remote_apply")])
async def test_a_commit_is_durable_however_the_database_is_set_up(postgres_url: str, chosen: str, used: str) -> None:
    """What an operator has chosen for standbys is kept."""
    connection = await asyncpg.connect(postgres_url)
    name = await connection.fetchval("SELECT current_database()")
    await connection.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = {chosen}')
    await connection.close()
    database = PostgresDatabase(postgres_url, STATEMENTS)
    await database.open()

    read, written = await database.read("is_durable", "a"), await database.write("is_durable", "a")
    await database.close()

    assert (read, written) == ([("a", used)], ("a", used))


async def test_servers_that_start_at_the_same_time_take_turns(postgres_url: str) -> None:
    """Each finds the tables made."""
    servers = [PostgresDatabase(postgres_url, STATEMENTS) for _ in range(6)]

    await asyncio.gather(*(server.open() for server in servers))
    await asyncio.gather(*(server.close() for server in servers))

    connection = await asyncpg.connect(postgres_url)
    assert (
        await connection.fetchval("SELECT array_agg(version ORDER BY version)::text FROM schema_version") == "{1,2,3,4}"
    )
    await connection.close()
