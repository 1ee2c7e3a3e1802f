"""Only a file that is ours, that nobody else uses and that this program understands is opened."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sidecall.kernel.core.overload import StoreUnfit
from sidecall.storage.migrate import Migration, read_migrations
from sidecall.storage.sqlite.database import SqliteDatabase, try_file
from sidecall.storage.sqlite.tables import FILES, HISTORY, LEDGER, DatabaseRole, carry_out

VERSIONS = Path(__file__).parents[1] / "versions"
NEWEST = read_migrations("sqlite")[-1].number
# What a file of a development version says of its steps, by what it is; none of them made the tables of a release.
EARLIER = {
    "the first ledger": (LEDGER, {1: "begin"}),
    "the last ledger": (LEDGER, {1: "begin", 2: "items", 3: "calls", 11: "progress"}),
    "a ledger that has lost its first step": (LEDGER, {2: "items"}),
    "the first history": (HISTORY, {1: "begin"}),
    "the last history": (HISTORY, {1: "begin", 2: "counts"}),
    "the first files": (FILES, {1: "begin"}),
    "the last files": (FILES, {1: "begin", 2: "room"}),
}
HOLD = """
import asyncio, sys
from pathlib import Path
from sidecall.storage.sqlite.database import SqliteDatabase
async def hold():
    await SqliteDatabase(Path(sys.argv[1])).open()
    print("open", flush=True)
    await asyncio.sleep(60)
asyncio.run(hold())
"""


def run(statements: str) -> Callable[[Path], None]:
    """Make a file by statements."""

    def make(path: Path) -> None:
        connection = sqlite3.connect(path)
        connection.executescript(statements)
        connection.close()

    return make


def newer(path: Path) -> None:
    """Make a file of a version that does not exist yet."""
    run(max(VERSIONS.glob("*.sql")).read_text())(path)
    run("INSERT INTO schema_version VALUES (9999, 'later', 0)")(path)


def lacking(path: Path) -> None:
    """Make a file in which a table is missing."""
    run((VERSIONS / "0001.sql").read_text())(path)
    run("DROP TABLE calls")(path)


@contextmanager
def by_plain_user() -> Iterator[None]:
    """Do something with the rights of a user who is not root."""
    user = os.geteuid()
    os.seteuid(user or 65534)
    try:
        yield
    finally:
        os.seteuid(user)


def of(purpose: DatabaseRole) -> Callable[[Path], None]:
    """Make a file for another purpose."""
    return run("".join(step.script for step in read_migrations(purpose.series)))


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (newer, "was written by a newer Sidecall: its tables have version 9999"),
        (run("CREATE TABLE schema_version (version)"), "is the database of another program"),
        (run("PRAGMA application_id = 7"), "is the database of another program"),
        (lambda path: path.write_text("a text" * 1000), "it is not a SQLite database"),
        (lambda path: path.mkdir(), "cannot be opened"),
        (of(HISTORY), "is a file of the history, not of the ledger. SIDECALL_STORE names the file of the ledger; "),
        (of(FILES), "is a file of the files, not of the ledger. SIDECALL_STORE names the file of the ledger; "),
        (lacking, "lacks tables that another program must have removed: calls. Put a backup in its place "),
    ],
)
async def test_what_is_not_ours_is_refused(tmp_path: Path, make: Callable[[Path], None], told: str) -> None:
    """And left as it is, for its owner."""
    path = tmp_path / "ledger.db"
    make(path)
    before = path.read_bytes() if path.is_file() else None

    with pytest.raises(StoreUnfit) as refused:
        await SqliteDatabase(path).open()

    assert told in refused.value.message
    assert str(path) in refused.value.message
    assert before == (path.read_bytes() if path.is_file() else None)
    assert os.listdir(tmp_path) == [path.name]


async def test_what_was_beside_a_file_that_is_refused_stays(tmp_path: Path) -> None:
    """Somebody may be about to lock it."""
    path, lock = tmp_path / "ledger.db", tmp_path / "ledger.db.lock"
    of(HISTORY)(path)
    lock.touch()

    with pytest.raises(StoreUnfit):
        await SqliteDatabase(path).open()

    assert lock.exists()


def test_a_lock_that_may_not_be_written_is_named() -> None:
    """Rather than the file beside it, which may be."""
    with tempfile.TemporaryDirectory() as folder:  # Of pytest's folders others see nothing.
        path, lock = Path(folder) / "ledger.db", Path(folder) / "ledger.db.lock"
        lock.touch(mode=0o400)
        Path(folder).chmod(0o777)
        with by_plain_user(), pytest.raises(StoreUnfit) as refused:
            try_file(path)

    assert refused.value.message == (
        f"{lock} cannot be opened: Permission denied. It says which server has the file beside it: let this process "
        "write it, or remove it while no server runs."
    )


@pytest.mark.parametrize(("purpose", "steps"), EARLIER.values(), ids=EARLIER)
async def test_what_a_development_version_made_is_refused(
    tmp_path: Path, purpose: DatabaseRole, steps: dict[int, str]
) -> None:
    """With what to do about it, and it is left as it is for that version."""
    path = tmp_path / "ledger.db"
    of(purpose)(path)
    run("".join(f"INSERT INTO schema_version VALUES ({number}, '{name}', 0);" for number, name in steps.items()))(path)
    before = path.read_bytes()

    with pytest.raises(StoreUnfit) as refused:
        await SqliteDatabase(path, purpose=purpose).open()

    assert refused.value.message == (
        f"{path} was made by a development version of Sidecall, before 0.1.0, or by another program: its tables "
        "are not those of a release, and nothing converts them. Move the file away, with the -wal and "
        "-shm beside it, or name another one in SIDECALL_STORE; new tables are made at the next start."
    )
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


async def test_all_steps_are_taken_or_none(tmp_path: Path) -> None:
    """Where the last one fails, the program that wrote the file can go on with it."""
    path = tmp_path / "ledger.db"
    run((VERSIONS / "0001.sql").read_text())(path)
    before = _tables(path)
    steps = [
        Migration(2, "more", "CREATE TABLE more (id TEXT);"),
        Migration(3, "calls", "CREATE TABLE calls (id TEXT);"),
    ]
    connection = sqlite3.connect(path, isolation_level=None)

    with pytest.raises(sqlite3.OperationalError, match="table calls already exists"):
        carry_out(steps, connection)
    connection.close()

    assert _tables(path) == before


async def test_a_folder_is_made_but_not_the_ones_above(tmp_path: Path) -> None:
    """A path that begins with too few slashes leads to nowhere."""
    database = SqliteDatabase(tmp_path / "new" / "ledger.db")
    await database.open()
    await database.close()

    with pytest.raises(StoreUnfit) as refused:
        await SqliteDatabase(tmp_path / "var" / "lib" / "ledger.db").open()

    assert f"Make the folder {tmp_path / 'var' / 'lib'}; an absolute path has four slashes" in refused.value.message


async def test_one_process_uses_a_file(tmp_path: Path) -> None:
    """However the other one ends, the next may."""
    path = tmp_path / "ledger.db"
    other = await asyncio.create_subprocess_exec(sys.executable, "-c", HOLD, str(path), stdout=subprocess.PIPE)
    assert other.stdout is not None
    assert await other.stdout.readline() == b"open\n"
    with pytest.raises(StoreUnfit) as refused:
        await SqliteDatabase(path).open()
    other.kill()
    await other.wait()

    database = SqliteDatabase(path)
    await database.open()
    await database.close()

    assert refused.value.message == (
        f"{path} is used by another process ({other.pid}). Name another file in SIDECALL_STORE, or a PostgreSQL, "
        f"postgresql://..., which several servers can share."
    )


@pytest.mark.parametrize(
    ("link", "told"),
    [
        (lambda path, other: other.symlink_to(path), "ledger.db is used by another process ({pid}). "),
        (lambda path, other: other.hardlink_to(path), "other.db is used by another process (which has it under "),
    ],
)
async def test_one_process_uses_a_file_whatever_it_is_called(
    tmp_path: Path, link: Callable[[Path, Path], None], told: str
) -> None:
    """Two would take each other's calls, or write two logs for one file."""
    path, other = tmp_path / "ledger.db", tmp_path / "other.db"
    holder = await asyncio.create_subprocess_exec(sys.executable, "-c", HOLD, str(path), stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"open\n"
    link(path, other)

    with pytest.raises(StoreUnfit) as refused:
        await SqliteDatabase(other).open()
    with pytest.raises(StoreUnfit):
        try_file(other)
    holder.kill()
    await holder.wait()
    database = SqliteDatabase(other)
    await database.open()
    await database.close()

    assert refused.value.message.startswith(str(tmp_path / told.format(pid=holder.pid)))


@pytest.mark.parametrize("version", [path.stem for path in sorted(VERSIONS.glob("*.sql"))])
async def test_a_file_of_each_version_is_brought_up_to_date(tmp_path: Path, version: str) -> None:
    """With what is in it; `python -m tests.storage.sql.keep_version` keeps one of the newest."""
    path = tmp_path / "ledger.db"
    run((VERSIONS / f"{version}.sql").read_text())(path)
    database = SqliteDatabase(path)
    await database.open()
    servers = await database.read("find_servers")
    await database.close()
    fresh = SqliteDatabase(tmp_path / "fresh.db")
    await fresh.open()
    await fresh.close()

    assert servers == [("kept", 1.0, 1.0)]
    assert _tables(path) == _tables(tmp_path / "fresh.db")


def test_a_file_of_the_newest_version_is_kept() -> None:
    """Anyone who adds a migration keeps one with `python -m tests.storage.sql.keep_version`."""
    kept = {int(path.stem) for path in VERSIONS.glob("*.sql")}

    assert NEWEST in kept
    assert kept <= {step.number for step in read_migrations("sqlite")}


def _tables(path: Path) -> list[tuple[str, ...]]:
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
    found += connection.execute("SELECT version, name FROM schema_version ORDER BY version").fetchall()
    connection.close()
    return found


def test_a_link_into_a_folder_that_is_not_there_is_not_followed(tmp_path: Path) -> None:
    """Its disk may not be mounted, and a new file in its place knows nothing of what has been done."""
    path, disk = tmp_path / "ledger.db", tmp_path / "disk"
    path.symlink_to(disk / "ledger.db")

    with pytest.raises(StoreUnfit, match="its folder does not exist"):
        try_file(path)
    made = disk.exists()
    disk.mkdir()
    try_file(path)

    assert not made
