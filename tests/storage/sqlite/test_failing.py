"""A file that cannot be used for a while fails what has to be durable at once, and is used again when it can be."""

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import pytest

from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.sqlite.database import SqliteDatabase, try_file
from sidecall.storage.sqlite.errors import DELETED, REPAIR
from sidecall.storage.sqlite.file import SqliteFile, StoreWithoutRoom
from sidecall.storage.sqlite.tables import HISTORY
from sidecall.storage.sqlite.writer_connection import Unavailable, Usable, WriterConnection
from tests.kit.processes import bounding, find_writers
from tests.storage.sql.disks import fill_up

BODY = b"x" * 400_000


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    """Open a file that waits for others a fifth of a second."""
    database = SqliteDatabase(tmp_path / "ledger.db", patience=0.2)
    await database.open()
    await database.write("register_server", "before", 1.0)
    yield database
    await database.close()


async def keep(database: SqliteDatabase, name: str) -> None:
    """Write much."""
    await database.write("keep_content", name, "acme", "ann", "text/plain", len(BODY), 1.0, 2.0, BODY)


async def until(holds: Callable[[], bool]) -> None:
    """Wait until this holds."""
    for _ in range(1500):
        if holds():
            return
        await asyncio.sleep(0.02)
    raise TimeoutError


async def recover(database: SqliteDatabase) -> None:
    """Wait until the file can be used, and use it."""
    await until(lambda: database.trouble is None)
    assert await database.write("register_server", "after", 2.0) == ("after",)


async def fill(database: SqliteDatabase) -> None:
    """Write until there is no room."""
    for number in range(100):
        await keep(database, str(number))


async def test_a_file_that_may_not_grow_recovers(database: SqliteDatabase) -> None:
    """What was written before is there, and nothing of what was refused."""
    [writer] = find_writers()
    with bounding(writer, 300_000):
        with pytest.raises(StoreUnavailable):
            await keep(database, "large")
        found = await database.read("get_content", "large", 0.0, "acme", "ann")
    await recover(database)

    assert found == []
    assert [row[0] for row in await database.read("find_servers")] == ["before", "after"]


async def test_a_disk_that_is_full_recovers(disk: Path) -> None:
    """Once something is removed from it."""
    database = SqliteDatabase(disk / "ledger.db")
    await database.open()
    ballast = disk / "ballast"
    ballast.write_bytes(b"x" * 1_500_000)

    with pytest.raises(StoreUnavailable) as refused:
        await fill(database)
    ballast.unlink()
    await recover(database)
    await keep(database, "later")
    await database.close()

    assert refused.value.retry_after == 5
    assert _check(disk / "ledger.db") == "ok"


async def test_a_disk_that_is_full_at_the_start_is_named(disk: Path) -> None:
    """Also where the file was there before."""
    database = SqliteDatabase(disk / "ledger.db")
    await database.open()
    await database.close()
    fill_up(disk)

    with pytest.raises(StoreWithoutRoom) as refused:
        try_file(disk / "ledger.db")

    assert refused.value.message == (
        f"{disk / 'ledger.db'} cannot be opened: there is no space left for it (database or disk is full). "
        f"Make room on its disk, or name a file on another one in SIDECALL_STORE."
    )


@pytest.mark.parametrize("is_new", [True, False])
async def test_a_file_whose_disk_is_full_at_the_start_is_used_later(disk: Path, is_new: bool) -> None:
    """Until there is room it is neither written nor read."""
    if not is_new:
        before = SqliteDatabase(disk / "ledger.db")
        await before.open()
        await before.close()
    ballast = fill_up(disk)
    database = SqliteDatabase(disk / "ledger.db")

    await database.open()
    trouble, since = database.trouble, database.unavailable_since
    with pytest.raises(StoreUnavailable):
        await database.write("register_server", "early", 1.0)
    with pytest.raises(StoreUnavailable):
        await database.read("find_servers")
    ballast.unlink()
    await recover(database)
    found = await database.read("find_servers")
    await database.close()

    assert trouble is not None
    assert trouble.endswith("Make room on its disk, or name a file on another one in SIDECALL_STORE.")
    assert since is not None
    assert [row[0] for row in found] == ["after"]


async def test_a_disk_that_is_nearly_full_at_the_start_is_noticed_before_anything_is_written(disk: Path) -> None:
    """Though the file can be opened: nobody takes the history for usable because no call has ended yet."""
    history = SqliteDatabase(disk / "ledger.history.db", purpose=HISTORY)
    await history.open()
    await history.close()
    ballast = fill_up(disk)
    os.truncate(ballast, ballast.stat().st_size - 400_000)

    await history.open()
    await until(lambda: history.trouble is not None)
    trouble, found = history.trouble, await history.read("list_oldest_history", 1)
    ballast.unlink()
    await until(lambda: history.trouble is None)
    await history.close()

    assert trouble == (f"{disk / 'ledger.history.db'}: there is no space left for it (database or disk is full).")
    assert found == []


def test_a_disk_is_full_until_there_is_room_again(disk: Path) -> None:
    """Not only for the trial: where that fits and what comes does not, the file is no use."""
    pen = WriterConnection(SqliteFile(disk / "ledger.db", patience=1))
    pen.open()
    ballast = fill_up(disk)
    large = ("INSERT INTO schema_version (version, name, applied_at) VALUES (99, ?1, 1)", ("x" * 400_000,), "row")

    refused = pen.write([large])
    tried = [pen.try_again() for _ in range(3)]
    ballast.unlink()
    mended, written, left = pen.try_again(), pen.write([large]), sorted(path.name for path in disk.iterdir())
    pen.close()

    full = Unavailable(f"{disk / 'ledger.db'}: there is no space left for it (database or disk is full).")
    assert [refused, *tried] == [full] * 4
    assert isinstance(mended, Usable)
    assert written == [None]
    assert left == ["ledger.db", "ledger.db-shm", "ledger.db-wal", "ledger.db.lock"]


def test_a_file_that_may_not_grow_is_no_use_until_it_may(tmp_path: Path) -> None:
    """The trial is written like any other: it would find nothing where SQLite had nothing to write."""
    pen = WriterConnection(SqliteFile(tmp_path / "ledger.db", patience=1))
    pen.open()
    small = ("INSERT INTO servers (id, started_at, seen_at) VALUES ('a', 1, 1)", (), "key")

    with bounding(os.getpid(), 1):
        refused = pen.write([small])
        tried = [pen.try_again() for _ in range(3)]
    mended, written = pen.try_again(), pen.write([small])
    pen.close()

    assert {type(one) for one in (refused, *tried)} == {Unavailable}
    assert isinstance(mended, Usable)
    assert written == [()]


async def test_a_lock_of_another_program_is_waited_for_and_then_told(database: SqliteDatabase, tmp_path: Path) -> None:
    """At most so long; while it lasts, others are refused without waiting, and reads go on."""
    other = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreUnavailable):
        await database.write("register_server", "a", 1.0)
    trouble = database.trouble
    refused = await asyncio.gather(*(keep(database, str(n)) for n in range(100)), return_exceptions=True)
    found = await database.read("find_servers")
    other.execute("ROLLBACK")
    other.close()
    await recover(database)

    assert trouble == f"{tmp_path / 'ledger.db'}: another program has locked it (database is locked)."
    assert {type(error) for error in refused} == {StoreUnavailable}
    assert found == [("before", 1.0, 1.0)]


async def test_a_short_lock_of_another_program_is_not_noticed(tmp_path: Path) -> None:
    """A backup takes one for a moment."""
    database = SqliteDatabase(tmp_path / "ledger.db", patience=30)
    await database.open()
    other = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    waiting = asyncio.ensure_future(database.write("register_server", "a", 1.0))
    await asyncio.sleep(0.05)
    other.execute("ROLLBACK")
    other.close()

    assert await waiting == ("a",)
    await database.close()


async def test_a_file_that_is_found_damaged_by_reading_is_out_of_use(database: SqliteDatabase, tmp_path: Path) -> None:
    """Though it could be written; another one in its place takes a server that is started again."""
    path, backup = tmp_path / "ledger.db", tmp_path / "backup.db"
    await keep(database, "large")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("VACUUM INTO ?", (str(backup),))
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'contents'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)

    with pytest.raises(StoreUnavailable):
        await database.read("get_content", "large", 0.0, "acme", "ann")
    told = f"{path}: it is damaged (database disk image is malformed). {REPAIR}"
    found = [database.trouble]
    await asyncio.sleep(0.7)  # It is tried again meanwhile.
    found.append(database.trouble)
    backup.replace(path)
    await until(lambda: database.trouble == f"{path}: {DELETED}.")

    assert found == [told, told]


def _check(path: Path) -> str:
    connection = sqlite3.connect(path)
    (found,) = connection.execute("PRAGMA integrity_check").fetchone()
    connection.close()
    return str(found)
