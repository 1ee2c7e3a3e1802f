"""A log never takes the room that its file needs to grow."""

import subprocess
from pathlib import Path

import pytest

from sidecall.storage.sqlite.file import SqliteFile, has_room
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

    assert has_room(path, size) is expected
