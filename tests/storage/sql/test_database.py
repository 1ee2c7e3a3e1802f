"""What every database of the ledger promises, tried on each."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sidecall.storage.database import Database
from sidecall.storage.postgres.database import PostgresDatabase
from sidecall.storage.sqlite.database import SqliteDatabase

STATEMENTS = {
    "make": (
        "CREATE TABLE IF NOT EXISTS things"
        " (id TEXT PRIMARY KEY, n BIGINT CHECK (n >= 0), log TEXT NOT NULL, body BYTEA)"
    ),
    "add": "INSERT INTO things VALUES ($1, $2, '+', $3) RETURNING id, n",
    "add_new": "INSERT INTO things VALUES ($1, $2, '+', NULL) ON CONFLICT (id) DO NOTHING RETURNING id",
    "append": "UPDATE things SET log = log || $2, n = n + 1 WHERE id = $1 RETURNING id, n, log",
    "remove": "DELETE FROM things WHERE id = $1",
    "find": "SELECT id, n, log FROM things {where} ORDER BY id",
    "body": "SELECT body FROM things WHERE id = $1",
}
# Those of PostgreSQL that take all rows of a message at once, a column each.
IN_COLUMNS = {
    "add": (
        "INSERT INTO things SELECT id, n, '+', body"
        " FROM unnest($1::text[], $2::bigint[], $3::bytea[]) AS new (id, n, body) RETURNING id, n"
    ),
    "add_new": (
        "INSERT INTO things SELECT id, n, '+', NULL FROM unnest($1::text[], $2::bigint[]) AS new (id, n)"
        " ON CONFLICT (id) DO NOTHING RETURNING id"
    ),
    "append": (
        "UPDATE things SET log = log || letter, n = n + 1 FROM unnest($1::text[], $2::text[]) AS new (id, letter)"
        " WHERE things.id = new.id RETURNING things.id, n, log"
    ),
    "remove": "DELETE FROM things USING unnest($1::text[]) AS old (id) WHERE things.id = old.id",
}


@dataclass
class Place:
    """Somewhere a database is kept, which outlives those that open it."""

    make: Callable[[], Database]

    async def open(self) -> Database:
        """Open it."""
        database = self.make()
        await database.open()
        return database


@pytest.fixture(params=["sqlite", "postgres", "postgres, in columns"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Give an empty database of each kind."""
    if request.param == "sqlite":
        return Place(lambda: SqliteDatabase(tmp_path / "ledger.db", statements=STATEMENTS))
    url = request.getfixturevalue("emptied_url")
    statements = STATEMENTS if request.param == "postgres" else STATEMENTS | IN_COLUMNS
    return Place(lambda: PostgresDatabase(url, statements))


@pytest.fixture
async def database(place: Place) -> AsyncIterator[Database]:
    """Give one that is open, and has a table for things."""
    database = await place.open()
    await database.write("make")
    yield database
    await database.close()


async def test_a_write_returns_its_row(database: Database) -> None:
    """None where there is no row to return."""
    assert await database.write("add", "a", 1, None) == ("a", 1)
    assert await database.write("add_new", "a", 2) is None
    assert await database.write("add_new", "b", 2) == ("b",)
    assert await database.write("remove", "b") is None


async def test_what_was_written_is_read(database: Database) -> None:
    """At once, with and without a condition."""
    await database.write("add", "a", 1, None)
    await database.write("add", "b", 2, None)

    assert await database.read("find") == [("a", 1, "+"), ("b", 2, "+")]
    assert await database.read("find", 1, where="WHERE n > $1") == [("b", 2, "+")]


@pytest.mark.parametrize("body", [b"", bytes(range(256)), b"x" * 3_000_000])
async def test_bytes_come_back_as_they_were(database: Database, body: bytes) -> None:
    """Also large ones."""
    await database.write("add", "a", 1, body)

    assert await database.read("body", "a") == [(body,)]


async def test_a_hundred_writers_each_get_their_own_row(database: Database) -> None:
    """However they are put together."""

    async def write(number: int) -> Any:
        added = await database.write("add", f"a{number}", number, None)
        appended = await database.write("append", f"a{number}", "!")
        return added, appended

    written = await asyncio.gather(*map(write, range(100)))

    assert written == [((f"a{n}", n), (f"a{n}", n + 1, "+!")) for n in range(100)]


async def test_statements_of_one_key_come_one_after_the_other(database: Database) -> None:
    """In the order in which they were asked for, also among others and of several kinds."""
    await database.write("add", "b", 0, None)
    letters = "abcdefghijklmnopqrstuvwxyz"

    results = await asyncio.gather(
        database.write("add", "a", 0, None),
        *(database.write("append", key, letter) for letter in letters for key in ("a", "b")),
        database.write("remove", "b"),
        database.write("add_new", "b", 7),
    )

    assert await database.read("find") == [("a", 26, "+" + letters), ("b", 7, "+")]
    assert results[1] == ("a", 1, "+a")
    assert results[52] == ("b", 26, "+" + letters)
    assert results[54] == ("b",)


async def test_a_failing_statement_fails_alone(database: Database) -> None:
    """What was put together with it is carried out."""
    await database.write("add", "twice", 0, None)
    numbers = [1, 2, -3, 4, 5]

    results = await asyncio.gather(
        *(database.write("add", f"a{n}", n, None) for n in numbers),
        database.write("add", "twice", 1, None),
        database.write("append", "twice", "!"),
        database.write_all("add", [("b1", 1, None), ("b2", -1, None)]),
        database.write_all("add", [("c1", 1, None), ("c2", 1, None)]),
        return_exceptions=True,
    )

    assert [isinstance(result, Exception) for result in results] == [
        False, False, True, False, False, True, False, True, False
    ]  # fmt: skip
    found = [row[0] for row in await database.read("find")]
    assert found == ["a1", "a2", "a4", "a5", "c1", "c2", "twice"]
    assert database.trouble is None


async def test_a_value_of_a_wrong_type_fails_alone(database: Database) -> None:
    """The connection can be used as before."""
    results = await asyncio.gather(
        database.write("add", "a", 1, None),
        database.write("add", "b", 2, object()),
        database.write("add", "c", 3, None),
        return_exceptions=True,
    )

    assert [isinstance(result, Exception) for result in results] == [False, True, False]
    assert [row[0] for row in await database.read("find")] == ["a", "c"]


async def test_many_rows_are_written_at_once(database: Database) -> None:
    """More than one commit takes otherwise; none is no error."""
    await database.write_all("add", [])
    await database.write_all("add", [(f"a{n:04}", n, None) for n in range(2500)])

    assert len(await database.read("find")) == 2500


async def test_a_caller_who_leaves_does_not_disturb_others(database: Database) -> None:
    """What they asked for is carried out or not."""
    leaving = [asyncio.ensure_future(database.write("add", f"a{n}", n, None)) for n in range(10)]
    staying = [asyncio.ensure_future(database.write("add", f"b{n}", n, None)) for n in range(10)]
    await asyncio.sleep(0)
    for task in leaving:
        task.cancel()

    assert await asyncio.gather(*staying) == [(f"b{n}", n) for n in range(10)]


async def test_closing_finishes_what_was_begun(place: Place) -> None:
    """And another process finds it."""
    database = await place.open()
    await database.write("make")
    writes = [asyncio.ensure_future(database.write("add", f"a{n}", n, None)) for n in range(50)]
    await asyncio.sleep(0)
    await database.close()
    await asyncio.gather(*writes)

    again = await place.open()
    found = await again.read("find")
    await again.close()

    assert len(found) == 50
