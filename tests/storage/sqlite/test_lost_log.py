"""A log that is deleted under the server takes nothing with it that was acknowledged."""

import asyncio
import os
import shutil
import signal
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.sqlite.database import SqliteDatabase
from sidecall.storage.sqlite.file import SqliteFile
from sidecall.storage.sqlite.roles import HISTORY
from sidecall.storage.sqlite.writer_connection import Order, Unavailable, Usable, WriterConnection
from tests.kit.processes import find_writers

LIMIT = 30.0
BESIDE = [("-wal",), ("-shm",), ("-wal", "-shm")]


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    """Open a file with a row in it, which is read as well."""
    database = SqliteDatabase(tmp_path / "ledger.db", patience=0.2)
    await database.open()
    await database.write("register_server", "before", 1.0)
    await database.read("find_servers")
    yield database
    await database.close()


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[WriterConnection]:
    """Open a file in this process."""
    connection = WriterConnection(SqliteFile(tmp_path / "ledger.db", patience=0.1))
    connection.open()
    yield connection
    connection.close()


def _insert(name: str) -> list[Order]:
    return [("INSERT INTO servers (id, started_at, seen_at) VALUES (?1, 1, 1)", (name,), "row")]


def _remove(path: Path, beside: tuple[str, ...]) -> None:
    for end in beside:
        Path(f"{path}{end}").unlink()


def _find_after_a_kill(path: Path) -> list[str]:
    """Return what whoever opens the file finds where all that have it open are killed now."""
    copy = path.parent / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for end in ("", "-wal"):
        if Path(f"{path}{end}").exists():
            shutil.copy(f"{path}{end}", f"{copy / path.name}{end}")
    with closing(sqlite3.connect(copy / path.name)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return [name for (name,) in connection.execute("SELECT id FROM servers ORDER BY rowid")]


async def _recover(database: SqliteDatabase) -> None:
    async with asyncio.timeout(LIMIT):
        while database.trouble is not None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("beside", BESIDE)
async def test_what_is_acknowledged_after_its_log_was_deleted_outlives_a_kill(
    database: SqliteDatabase, tmp_path: Path, beside: tuple[str, ...]
) -> None:
    """So does what was before; one write at most is refused, and both reading and writing go on."""
    path = tmp_path / "ledger.db"
    _remove(path, beside)

    assert await database.write("register_server", "first", 2.0) == ("first",)
    assert _find_after_a_kill(path) == ["before", "first"]
    with pytest.raises(StoreUnavailable):
        await database.write("register_server", "refused", 3.0)
    assert database.trouble == f"{path}: the -wal or -shm beside it was deleted or replaced."
    await _recover(database)
    assert await database.write("register_server", "second", 4.0) == ("second",)
    assert _find_after_a_kill(path) == ["before", "first", "second"]
    assert [row[0] for row in await database.read("find_servers")] == ["before", "first", "second"]
    os.kill(find_writers()[0], signal.SIGKILL)
    with pytest.raises(StoreUnavailable):
        await database.write("register_server", "killed", 5.0)
    await _recover(database)
    assert [row[0] for row in await database.read("find_servers")] == ["before", "first", "second"]


async def test_a_log_that_is_deleted_while_nothing_is_written_is_made_anew(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    """Within a moment, and no call is refused for it."""
    path, log = tmp_path / "ledger.db", tmp_path / "ledger.db-wal"
    log.unlink()

    async with asyncio.timeout(LIMIT):
        while not log.exists():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await _recover(database)

    assert _find_after_a_kill(path) == ["before"]
    assert await database.write("register_server", "after", 2.0) == ("after",)
    assert _find_after_a_kill(path) == ["before", "after"]


async def test_the_log_of_the_history_is_made_anew_as_well(tmp_path: Path) -> None:
    """Though the server itself writes it."""
    log = tmp_path / "ledger.history.db-wal"
    history = SqliteDatabase(tmp_path / "ledger.history.db", purpose=HISTORY)
    await history.open()
    log.unlink()

    async with asyncio.timeout(LIMIT):
        while not log.exists():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await _recover(history)

    assert await history.read("list_oldest_history", 1) == []
    await history.close()


async def test_whoever_reads_notices_as_well(database: SqliteDatabase, tmp_path: Path) -> None:
    """Where another connection is made for it, which would find an empty log."""
    path = tmp_path / "ledger.db"
    _remove(path, ("-wal",))

    found = await asyncio.gather(*(database.read("find_servers") for _ in range(20)), return_exceptions=True)
    await _recover(database)

    assert all(isinstance(one, StoreUnavailable) or one == [("before", 1.0, 1.0)] for one in found)
    assert await database.read("find_servers") == [("before", 1.0, 1.0)]


def test_a_log_that_others_read_is_saved_once_they_have(connection: WriterConnection, tmp_path: Path) -> None:
    """What was written into it is not acknowledged before."""
    path = tmp_path / "ledger.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        connection.write(_insert("before"))
        reader.execute("BEGIN")
        reader.execute("SELECT id FROM servers").fetchall()
        connection.write(_insert("meanwhile"))
        _remove(path, ("-wal",))
        refused = [connection.write(_insert("refused")), connection.try_again(), connection.write(_insert("refused"))]
        reader.execute("ROLLBACK")
    mended = connection.try_again()

    assert refused == [Unavailable(f"{path}: another program has locked it (database is locked).")] * 3
    assert isinstance(mended, Usable)
    assert connection.write(_insert("after")) == [None]
    assert _find_after_a_kill(path)[:2] == ["before", "meanwhile"]
    assert _find_after_a_kill(path)[-1] == "after"


def test_another_log_in_the_place_of_the_one_that_was_lost_is_not_used(
    connection: WriterConnection, tmp_path: Path
) -> None:
    """It would put pages of yesterday among those of today."""
    path, log = tmp_path / "ledger.db", tmp_path / "ledger.db-wal"
    connection.write(_insert("before"))
    old = log.read_bytes()
    connection.write(_insert("since"))
    _remove(path, ("-wal", "-shm"))
    log.write_bytes(old)

    assert connection.write(_insert("acknowledged")) == [None]
    assert connection.write(_insert("refused")) == Unavailable(
        f"{path}: the -wal or -shm beside it was deleted or replaced."
    )
    assert isinstance(connection.try_again(), Usable)
    assert connection.write(_insert("after")) == [None]
    assert _find_after_a_kill(path) == ["before", "since", "acknowledged", "after"]
