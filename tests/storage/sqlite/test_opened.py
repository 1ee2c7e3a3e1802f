"""Statements are carried out durably in a file, many at once, and each for itself."""

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from sidecall.kernel.core.overload import StoreUnavailable, StoreUnfit
from sidecall.storage.sqlite.database import SqliteDatabase


@pytest.fixture(params=["file", "memory"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    """Open a database that is empty."""
    database = SqliteDatabase(tmp_path / "ledger.db" if request.param == "file" else None)
    await database.open()
    yield database
    await database.close()


async def names(database: SqliteDatabase, where: str = "", *values: object) -> list[str]:
    """List what is there."""
    return [row[0] for row in await database.read("find_servers", *values, where=where)]


async def test_what_was_written_is_read(database: SqliteDatabase) -> None:
    """The first row that comes back is told, and None where there is none."""
    told = [
        await database.write("register_server", "a", 1.0),
        await database.write("register_server", "b", 2.0),
        await database.write("forget_server", "a"),
        await database.write("forget_server", "a"),
    ]

    assert told == [("a",), ("b",), ("a",), None]
    assert await database.read("find_servers") == [("b", 2.0, 2.0)]
    assert database.trouble is None


async def test_a_condition_takes_its_place(database: SqliteDatabase) -> None:
    """With placeholders of its own."""
    for number, name in enumerate("abc"):
        await database.write("register_server", name, float(number))

    assert await names(database, "WHERE seen_at >= $1 AND id <> $2", 1.0, "c") == ["b"]


async def test_statements_of_one_key_come_one_after_the_other(database: SqliteDatabase) -> None:
    """In the order in which they were asked for."""
    await asyncio.gather(
        *(database.write(name, "a", *rest) for _ in range(50) for name, rest in _TURNS),
    )

    assert await database.read("find_servers") == [("a", 2.0, 2.0)]


_TURNS = [("register_server", (1.0,)), ("forget_server", ()), ("register_server", (2.0,))]


@pytest.mark.parametrize("wrong", [None, "\ud800", 2**70])
async def test_a_statement_that_fails_fails_alone(database: SqliteDatabase, wrong: object) -> None:
    """Those that share its commit are carried out."""
    writes = [database.write("register_server", name, 1.0) for name in ("a", wrong, "b")]

    first, second, third = await asyncio.gather(*writes, return_exceptions=True)

    assert (first, third) == (("a",), ("b",))
    assert isinstance(second, Exception)
    assert not isinstance(second, StoreUnavailable)
    assert await names(database) == ["a", "b"]


async def test_many_rows_are_written_all_or_none(database: SqliteDatabase) -> None:
    """A row that does not fit takes the others with it, and not what shares their commit."""
    results = await asyncio.gather(
        database.write_all("register_server", [("a", 1.0), ("b", 2.0)]),
        database.write_all("register_server", [("c", 3.0), (None, 4.0)]),
        database.write("register_server", "d", 5.0),
        return_exceptions=True,
    )

    assert isinstance(results[1], sqlite3.IntegrityError)
    assert await names(database) == ["a", "b", "d"]


async def test_thousands_at_once_are_all_carried_out(database: SqliteDatabase) -> None:
    """In more than one group."""
    await asyncio.gather(*(database.write("register_server", f"{number:04}", 1.0) for number in range(3500)))

    assert await names(database) == [f"{number:04}" for number in range(3500)]


async def test_who_gives_up_waiting_disturbs_nobody(database: SqliteDatabase) -> None:
    """The statement may be carried out all the same."""
    leaving = asyncio.ensure_future(database.write("register_server", "a", 1.0))
    staying = asyncio.ensure_future(database.write("register_server", "b", 1.0))
    await asyncio.sleep(0)
    leaving.cancel()

    assert await staying == ("b",)
    assert "b" in await names(database)


async def test_no_more_waits_than_there_is_room_for(tmp_path: Path) -> None:
    """Counted in bytes; the first is always let in."""
    database = SqliteDatabase(tmp_path / "ledger.db", most_waiting=10_000)
    await database.open()

    results = await asyncio.gather(
        *(database.write("register_server", f"{number}{'x' * 4000}", 1.0) for number in range(4)),
        return_exceptions=True,
    )
    later = await database.write("register_server", "y" * 20_000, 1.0)
    await database.close()

    assert [isinstance(result, StoreUnavailable) for result in results] == [False, False, True, True]
    assert later == ("y" * 20_000,)


async def test_what_was_written_outlives_the_connection(tmp_path: Path) -> None:
    """Also what still waited when it was closed."""
    database = SqliteDatabase(tmp_path / "ledger.db")
    await database.open()
    waiting = [asyncio.ensure_future(database.write("register_server", str(number), 1.0)) for number in range(100)]
    await asyncio.sleep(0)
    await database.close()
    await asyncio.gather(*waiting)

    again = SqliteDatabase(tmp_path / "ledger.db")
    await again.open()
    found = await names(again)
    await again.close()

    assert len(found) == 100
    assert (tmp_path / "ledger.db").stat().st_mode & 0o777 == 0o600


async def test_a_backup_is_read_by_nobody_else_once_it_is_opened(tmp_path: Path) -> None:
    """Nor what is written beside it; the operator who makes one gives it the rights of any file."""
    path = tmp_path / "ledger.db"
    before = SqliteDatabase(path)
    await before.open()
    await before.close()
    path.chmod(0o644)

    database = SqliteDatabase(path)
    await database.open()
    modes = {end: os.stat(f"{path}{end}").st_mode & 0o777 for end in ("", "-wal", "-shm")}
    await database.close()

    assert modes == {"": 0o600, "-wal": 0o600, "-shm": 0o600}


async def test_the_file_of_another_program_keeps_its_rights(tmp_path: Path) -> None:
    """It is refused, and left as it is."""
    path = tmp_path / "ledger.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (id)")
    path.chmod(0o644)

    with pytest.raises(StoreUnfit):
        await SqliteDatabase(path).open()

    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("is_opened", [True, False])
async def test_a_database_that_is_not_open_is_unavailable(tmp_path: Path, is_opened: bool) -> None:
    """Before as after."""
    database = SqliteDatabase(tmp_path / "ledger.db")
    if is_opened:
        await database.open()
        await database.close()

    with pytest.raises(StoreUnavailable):
        await database.write("register_server", "a", 1.0)
    with pytest.raises(StoreUnavailable):
        await database.read("find_servers")
