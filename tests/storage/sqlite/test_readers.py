"""Reads that nobody waits for any more hold up no other."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from sidecall.storage.sqlite.database import SqliteDatabase
from sidecall.storage.sqlite.readers import Reading

STATEMENTS = {
    # It ends by itself, but long after each test has.
    "long": (
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000000) SELECT count(*) FROM n"
    ),
    "short": "SELECT $1",
}


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    """Open a file that is empty."""
    database = SqliteDatabase(tmp_path / "ledger.db", statements=STATEMENTS)
    await database.open()
    yield database
    await database.close()


@pytest.mark.parametrize("runs", [1, 4, 20])
async def test_a_read_that_is_given_up_ends(database: SqliteDatabase, runs: int) -> None:
    """Whether it runs or still waits for a thread, so that others are read and the server ends."""
    reads = [asyncio.create_task(database.read("long")) for _ in range(runs)]
    await asyncio.sleep(0.1)
    for read in reads:
        read.cancel()
    ended = await asyncio.gather(*reads, return_exceptions=True)

    found = await asyncio.gather(*(database.read("short", number) for number in range(20)))

    assert [type(it) for it in ended] == [asyncio.CancelledError] * runs
    assert found == [[(number,)] for number in range(20)]


def test_a_read_that_is_given_up_before_it_begins_ends() -> None:
    """An interrupt that comes while the statement is still being prepared is not lost."""
    reading = Reading()
    with closing(sqlite3.connect(":memory:")) as connection:
        with reading.begin_on(connection):
            reading.give_up()
            with pytest.raises(sqlite3.OperationalError, match="interrupted"):
                connection.execute(STATEMENTS["long"]).fetchall()

        assert connection.execute("SELECT 1").fetchall() == [(1,)]
