"""A log never takes the room that its file needs to grow."""

import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecall.storage.sqlite.file import SqliteFile, find_lack
from sidecall.storage.sqlite.writer_connection import Unavailable, Usable, WriterConnection
from tests.storage.sql.disks import disk

__all__ = ["disk"]

ADD = "INSERT INTO servers (id, started_at, seen_at) VALUES (?1, 1, 1)"


def test_a_log_is_brought_into_its_file_before_the_disk_is_full(disk: Path) -> None:
    """So that a disk which becomes larger, or a new start, is of use."""
    path = disk / "ledger.db"
    pen = WriterConnection(SqliteFile(path, patience=1))
    pen.open()

    written = 0
    while not isinstance(pen.write([(ADD, (f"{written} {'x' * 3000}",), "row")]), Unavailable):
        written += 1
    log, file = Path(f"{path}-wal").stat().st_size, path.stat().st_size
    tried = pen.try_again()
    subprocess.run(["mount", "-o", "remount,size=9m", disk], check=True)
    mended = pen.try_again()
    pen.close()

    assert log == 0
    assert file > 1_500_000
    assert written > 190
    assert tried == Unavailable(f"{path}: there is no space left for it (database or disk is full).")
    assert isinstance(mended, Usable)


@pytest.mark.parametrize(("size", "expected"), [(0, True), (900_000, True), (1_100_000, False)])
def test_what_is_written_takes_room_twice(disk: Path, size: int, expected: bool) -> None:
    """In the log and in the file; of three megabytes one is left."""
    path = disk / "ledger.db"
    path.touch()
    Path(f"{path}-wal").touch()

    assert (find_lack(path, size) is None) is expected


@pytest.fixture
def limit() -> Iterator[int]:
    """Allow this process no file of more than 3 MB."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit = 3_000_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    yield limit
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_that_may_not_become_longer_is_out_of_use_until_it_may(tmp_path: Path, limit: int) -> None:
    """Not used again in between, in vain, each time that it is tried; what was written before is in the file."""
    path = tmp_path / "ledger.db"
    pen = WriterConnection(SqliteFile(path, patience=1))
    pen.open()

    written = 0
    while not isinstance(refused := pen.write([(ADD, (f"{written} {'x' * 3000}",), "row")]), Unavailable):
        written += 1
    tried = [pen.try_again() for _ in range(3)]
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 * limit, most))
    mended = pen.try_again()
    pen.close()

    full = Unavailable(
        f"{path}: there is no space left for it (no file may be longer than 3000000 bytes here; "
        "raise that: ulimit -f, LimitFSIZE, --ulimit fsize)."
    )
    assert written > 100
    assert [refused, *tried] == [full] * 4
    assert isinstance(mended, Usable)
