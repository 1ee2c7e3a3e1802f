"""A file that is changed under its server is not used again: nothing is written to it, and nothing answered is lost."""

import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.sqlite.database import SqliteDatabase
from sidecall.storage.sqlite.errors import DELETED, OVERWRITTEN, REPAIR
from sidecall.storage.sqlite.file import SqliteFile
from sidecall.storage.sqlite.shared_writer import SharedWriter
from sidecall.storage.sqlite.tables import FILES, HISTORY, LEDGER, DatabaseRole
from sidecall.storage.sqlite.writer_connection import Order, Unavailable, WriterConnection
from tests.kit.processes import find_writers
from tests.kit.waiting import until

LOG_DELETED = "the -wal or -shm beside it was deleted or replaced"
TOLD = {DELETED: f"{DELETED}.", OVERWRITTEN: f"{OVERWRITTEN}. {REPAIR}", LOG_DELETED: f"{LOG_DELETED}."}

Change = Callable[[Path], None]


@dataclass
class Opened:
    """A database that is open, and what it has told of changes."""

    database: SqliteDatabase
    path: Path
    changes: list[str] = field(default_factory=list)

    async def write(self, name: str) -> None:
        """Write a row."""
        await self.database.write("register_server", name, 1.0)

    async def refuses(self) -> bool:
        """Return whether it neither writes nor reads."""
        for asked in (self.write("refused"), self.database.read("find_servers")):
            try:
                await asked
            except StoreUnavailable:
                continue
            return False
        return True


async def open_one(path: Path, stack: AsyncExitStack, *, is_shared: bool) -> Opened:
    """Open a file alone, or as a worker does, with a row in it that is read."""
    purpose = LEDGER
    if is_shared:
        writer = SharedWriter(path, LEDGER)
        writer.open()
        stack.callback(writer.close)
        purpose = replace(LEDGER, is_alone=True, writer=writer.socket)
    opened = Opened(SqliteDatabase(path, patience=0.2, purpose=purpose), path)
    opened.database.on_change = opened.changes.append
    await opened.database.open()
    stack.push_async_callback(opened.database.close)
    await opened.write("before")
    await opened.database.read("find_servers")
    return opened


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Opened]:
    """Open a file alone."""
    async with AsyncExitStack() as stack:
        yield await open_one(tmp_path / "ledger.db", stack, is_shared=False)


def make_other(path: Path) -> Path:
    """Make the database of another program, larger than ours is, and changed more often."""
    other = path.with_name("other.db")
    with closing(sqlite3.connect(other, isolation_level=None)) as connection:
        connection.executescript("PRAGMA journal_mode = WAL; CREATE TABLE notes (text)")
        for _ in range(200):
            connection.execute("INSERT INTO notes VALUES (?)", ("a note" * 1000,))
    return other


def settle(path: Path) -> None:
    """Bring the log into the file, as happens now and then."""
    program = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()"
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)


def back_up(path: Path) -> Path:
    """Make a backup as docs/durability.md has it."""
    backup = path.with_name("backup.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("VACUUM INTO ?", (str(backup),))
    return backup


def _replace(path: Path) -> None:
    make_other(path).replace(path)


def _put_backup(path: Path) -> None:
    back_up(path).replace(path)


def _copy_backup_over(path: Path) -> None:
    shutil.copyfile(back_up(path), path)


def _copy_over(path: Path) -> None:
    shutil.copyfile(make_other(path), path)


def _move_away(path: Path) -> None:
    path.rename(path.with_name("aside.db"))


def _delete_all(path: Path) -> None:
    for found in path.parent.glob("ledger.db*"):
        found.unlink()


def _put_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _cut_off(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _write_over(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"a text" * 10)


def _delete_log(path: Path) -> None:
    Path(f"{path}-wal").unlink()


def _delete_memory(path: Path) -> None:
    Path(f"{path}-shm").unlink()


def _delete_both(path: Path) -> None:
    _delete_log(path)
    _delete_memory(path)


def _replace_log(path: Path) -> None:
    old = path.with_name("old")
    shutil.copyfile(f"{path}-wal", old)
    old.replace(f"{path}-wal")


CHANGES = [
    (_replace, DELETED),
    (_put_backup, DELETED),
    (Path.unlink, DELETED),
    (_delete_all, DELETED),
    (_move_away, DELETED),
    (_put_folder, DELETED),
    (_empty, OVERWRITTEN),
    (_cut_off, OVERWRITTEN),
    (_write_over, OVERWRITTEN),
    (_copy_over, OVERWRITTEN),
    (_copy_backup_over, OVERWRITTEN),
    (_delete_log, LOG_DELETED),
    (_delete_memory, LOG_DELETED),
    (_delete_both, LOG_DELETED),
    (_replace_log, LOG_DELETED),
]


def read_all(folder: Path) -> dict[str, bytes]:
    """Read the files of a folder, but for what SQLite keeps in memory and the lock."""
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.is_file() and not path.name.endswith(("-shm", ".lock"))
    }


@pytest.mark.parametrize("is_asked", [False, True], ids=["idle", "asked"])
@pytest.mark.parametrize(("change", "what"), CHANGES)
async def test_a_file_that_is_changed_is_not_used_again(
    opened: Opened, change: Change, what: str, is_asked: bool
) -> None:
    """Though nobody writes; it is told once, and stays so, no matter what stands there later."""
    settle(opened.path)
    await opened.write("since")
    change(opened.path)
    if is_asked:
        with suppress(StoreUnavailable):
            await opened.write("refused")
    await until(lambda: bool(opened.changes))

    told = f"{opened.path}: {TOLD[what]}"
    assert (opened.changes, opened.database.trouble) == ([told], told)
    assert await opened.refuses()
    await asyncio.sleep(0.7)  # What can be mended is tried again meanwhile.
    assert await opened.refuses()
    assert opened.changes == [told]
    assert opened.database.unavailable_since is not None


@pytest.mark.parametrize("is_shared", [False, True], ids=["alone", "shared"])
@pytest.mark.parametrize(("change", "what"), [one for one in CHANGES if one[1] != LOG_DELETED])
async def test_nothing_is_written_to_what_stands_there_then(
    tmp_path: Path, change: Change, what: str, is_shared: bool
) -> None:
    """Not at the end either, when SQLite would bring the log into the file, and remove the log."""
    path = tmp_path / "ledger.db"
    async with AsyncExitStack() as stack:
        opened = await open_one(path, stack, is_shared=is_shared)
        settle(path)
        await opened.write("in the log")
        change(path)
        found = read_all(tmp_path)
        await until(lambda: bool(opened.changes))
        await opened.refuses()
    left = read_all(tmp_path)

    assert opened.changes == [f"{path}: {TOLD[what]}"]
    assert left == found


@pytest.mark.parametrize("is_shared", [False, True], ids=["alone", "shared"])
@pytest.mark.parametrize("change", [Path.unlink, _replace, _put_backup])
async def test_another_process_that_writes_takes_no_other_file(tmp_path: Path, change: Change, is_shared: bool) -> None:
    """Where the one before was killed as the file was replaced."""
    path = tmp_path / "ledger.db"
    async with AsyncExitStack() as stack:
        opened = await open_one(path, stack, is_shared=is_shared)
        [writer] = find_writers()
        os.kill(writer, signal.SIGSTOP)
        change(path)
        found = read_all(tmp_path)
        os.kill(writer, signal.SIGKILL)
        await until(lambda: bool(opened.changes))
        refused = await opened.refuses()
    left = read_all(tmp_path)

    assert (opened.changes, refused) == ([f"{path} cannot be opened: {TOLD[DELETED]}"], True)
    assert left == found


def _find_after_a_kill(path: Path) -> list[str]:
    """Return what is found in a file where all that have it open are killed now."""
    copy = path.parent / "copy"
    copy.mkdir()
    for end in ("", "-wal"):
        if Path(f"{path}{end}").exists():
            shutil.copy(f"{path}{end}", f"{copy / path.name}{end}")
    with closing(sqlite3.connect(copy / path.name)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return [name for (name,) in connection.execute("SELECT id FROM servers ORDER BY rowid")]


@pytest.mark.parametrize("is_asked", [False, True], ids=["idle", "asked"])
@pytest.mark.parametrize("change", [_delete_log, _delete_memory, _delete_both, _replace_log])
async def test_what_was_answered_outlives_a_log_that_is_deleted(opened: Opened, change: Change, is_asked: bool) -> None:
    """It is brought into the file at once, and what was refused is not there."""
    change(opened.path)
    if is_asked:
        with pytest.raises(StoreUnavailable):
            await opened.write("refused")
    await until(lambda: bool(opened.changes))

    assert _find_after_a_kill(opened.path) == ["before"]
    assert ("ledger.db-wal.aside" in os.listdir(opened.path.parent)) is (change is _replace_log)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[WriterConnection]:
    """Open a file in this process."""
    made = WriterConnection(SqliteFile(tmp_path / "ledger.db", patience=0.1))
    made.open()
    yield made
    made.close()


def _insert(name: str) -> list[Order]:
    return [("INSERT INTO servers (id, started_at, seen_at) VALUES (?1, 1, 1)", (name,), "row")]


@pytest.mark.parametrize("is_at_the_end", [False, True])
def test_a_log_that_others_read_is_saved_once_they_have(
    connection: WriterConnection, tmp_path: Path, is_at_the_end: bool
) -> None:
    """At the next look, or at the end."""
    path = tmp_path / "ledger.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        connection.write(_insert("before"))
        reader.execute("BEGIN")
        reader.execute("SELECT id FROM servers").fetchall()
        connection.write(_insert("meanwhile"))
        Path(f"{path}-wal").unlink()
        refused = [connection.write(_insert("refused")), connection.try_again()]
        reader.execute("ROLLBACK")
    (connection.close if is_at_the_end else connection.look)()

    assert refused == [Unavailable(f"{path}: {LOG_DELETED}.", is_final=True)] * 2
    assert _find_after_a_kill(path) == ["before", "meanwhile"]


def test_a_log_that_cannot_be_saved_is_told_of(
    connection: WriterConnection, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Since what stood in it was answered."""
    path = tmp_path / "ledger.db"
    connection.write(_insert("before"))
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT id FROM servers").fetchall()
        connection.write(_insert("meanwhile"))
        Path(f"{path}-wal").unlink()
        connection.look()
        connection.close()

    assert caplog.messages == [f"{path}: what stood in the -wal that was deleted or replaced is lost."]


def test_a_log_of_yesterday_is_not_used(connection: WriterConnection, tmp_path: Path) -> None:
    """It would put its pages among those of today; it is moved away, for it is somebody's."""
    path, log = tmp_path / "ledger.db", tmp_path / "ledger.db-wal"
    connection.write(_insert("before"))
    old = log.read_bytes()
    connection.write(_insert("since"))
    _delete_both(path)
    log.write_bytes(old)
    connection.look()

    assert _find_after_a_kill(path) == ["before", "since"]
    assert Path(f"{log}.aside").read_bytes() == old


@pytest.mark.parametrize("purpose", [HISTORY, FILES], ids=lambda purpose: purpose.series)
@pytest.mark.parametrize(("change", "what"), [(Path.unlink, DELETED), (_copy_over, OVERWRITTEN)])
async def test_files_of_each_kind_are_looked_at(
    tmp_path: Path, purpose: DatabaseRole, change: Change, what: str
) -> None:
    """Also what the server itself writes, and though nothing was written yet."""
    path, changes = tmp_path / "ledger.db", list[str]()
    database = SqliteDatabase(path, purpose=purpose)
    database.on_change = changes.append
    await database.open()
    change(path)
    await until(lambda: bool(changes))
    await database.close()

    assert changes == [f"{path}: {TOLD[what]}"]


async def test_what_other_programs_may_do_changes_nothing(opened: Opened) -> None:
    """They read it, write it, make it smaller, and bring the log into it, by SQLite."""
    await opened.database.write_all("register_server", [(f"{number:04}{'x' * 2000}", 1.0) for number in range(500)])
    settle(opened.path)
    size = opened.path.stat().st_size
    with closing(sqlite3.connect(opened.path, isolation_level=None, timeout=10)) as other:
        other.execute("DELETE FROM servers")
        other.execute("VACUUM")
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    back_up(opened.path)
    opened.path.chmod(0o640)
    os.utime(opened.path)
    os.unlink(f"{opened.path}.lock")
    await asyncio.sleep(1.5)  # It looks once a second.
    await opened.write("after")

    assert opened.path.stat().st_size < size
    assert [row[0] for row in await opened.database.read("find_servers")] == ["after"]
    assert opened.changes == []
