"""A file that becomes another one under the server is out of use until it is put right."""

import asyncio
import logging
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.sqlite.database import SqliteDatabase
from sidecall.storage.sqlite.faults import REPAIR
from tests.kit.processes import find_writers

LIMIT = 30.0


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    """Open a file with a row in it."""
    database = SqliteDatabase(tmp_path / "ledger.db", patience=0.2)
    await database.open()
    await database.write("register_server", "before", 1.0)
    yield database
    await database.close()


def _put_back(backup: Path, path: Path) -> None:
    for beside in ("-wal", "-shm"):
        Path(f"{path}{beside}").unlink(missing_ok=True)
    backup.replace(path)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _write_over(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"a text" * 10)


def _cut_off(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


@pytest.mark.parametrize("spoil", [_empty, _write_over, _cut_off])
@pytest.mark.parametrize("is_read", [False, True])
async def test_a_file_that_another_program_writes_to_is_out_of_use(
    database: SqliteDatabase, tmp_path: Path, spoil: Callable[[Path], None], is_read: bool
) -> None:
    """At once, since what SQLite has of it elsewhere does for a while; what has happened is named, and what to do."""
    path, backup = tmp_path / "ledger.db", tmp_path / "backup.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("VACUUM INTO ?", (str(backup),))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    await database.write("register_server", "again", 1.0)
    spoil(path)

    if is_read:  # That is of no avail, and does no harm: some of it may still be found.
        with suppress(StoreUnavailable):
            await database.read("find_servers")
    with pytest.raises(StoreUnavailable):
        await database.write("register_server", "refused", 1.0)
    found = [database.trouble or ""]
    await asyncio.sleep(0.7)  # It is tried again meanwhile.
    found.append(database.trouble or "")
    _put_back(backup, path)
    async with asyncio.timeout(LIMIT):
        while database.trouble is not None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    assert all(text.startswith(str(path)) and text.endswith(REPAIR) for text in found)
    assert found[0] == f"{path}: another program has emptied it, cut it off or written over it. {REPAIR}" or is_read
    assert await database.write("register_server", "after", 2.0) == ("after",)
    assert [row[0] for row in await database.read("find_servers")] == ["before", "after"]


async def _until(database: SqliteDatabase, trouble: str | None) -> None:
    async with asyncio.timeout(LIMIT):
        while database.trouble != trouble:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_file_of_another_program_in_its_place_is_not_read(
    database: SqliteDatabase, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Not before it was judged, nor after; the log says once what is wrong with it, and it is left as it is."""
    path, aside, other = tmp_path / "ledger.db", tmp_path / "aside.db", tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.executescript("CREATE TABLE notes (id); INSERT INTO notes VALUES (1)")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = other.read_bytes()
    foreign = f"{path} is the database of another program, with tables that Sidecall did not make."
    with caplog.at_level(logging.ERROR, "sidecall"):
        path.rename(aside)
        other.rename(path)
        with pytest.raises(StoreUnavailable):
            await database.read("find_servers")
        await _until(database, foreign)
        with pytest.raises(StoreUnavailable):
            await database.read("find_servers")
        await asyncio.sleep(1.2)  # It is tried again meanwhile.
    after = path.read_bytes()
    aside.replace(path)
    await _until(database, None)

    assert [record.getMessage() for record in caplog.records] == [
        "the ledger cannot be written, so calls that have to be remembered get 503: "
        f"{path}: it was deleted or replaced.",
        f"the ledger still cannot be written: {foreign}",
        f"the ledger can be written again: {path}",
    ]
    assert after == before
    assert await database.read("find_servers") == [("before", 1.0, 1.0)]


@pytest.mark.parametrize("is_killed", [False, True])
async def test_a_file_of_another_program_that_goes_again_leaves_nothing_behind(
    database: SqliteDatabase, tmp_path: Path, is_killed: bool
) -> None:
    """Though connections that read hold what stood beside the file before it, and another process writes by then."""
    path = tmp_path / "ledger.db"
    foreign = f"{path} is the database of another program, with tables that Sidecall did not make."
    await database.read("find_servers")
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (id)")
    if is_killed:
        os.kill(find_writers()[0], signal.SIGKILL)
    with pytest.raises(StoreUnavailable):
        await database.write("register_server", "refused", 1.0)
    await _until(database, foreign)
    path.unlink()
    await _until(database, None)

    assert await database.write("register_server", "after", 2.0) == ("after",)
    assert await database.read("find_servers") == [("after", 2.0, 2.0)]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT id FROM servers").fetchall() == [("after",)]
