"""The writer of a file keeps its locks, so that no other process takes the log away under it."""

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.sqlite.database import SqliteDatabase
from sidecall.storage.sqlite.file import SqliteFile
from sidecall.storage.sqlite.tables import HISTORY
from sidecall.storage.sqlite.writer_connection import WriterConnection
from tests.kit.processes import bounding, find_writers

LARGE = b"x" * 400_000
# The last one that closes a file writes its log into it, and removes it.
LOOK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT count(*) FROM schema_version").fetchall()
connection.close()
"""


def look_from_elsewhere(path: Path) -> None:
    """Open a file in another process, read it, and close it."""
    subprocess.run([sys.executable, "-c", LOOK, str(path)], check=True)


async def test_a_file_that_could_not_be_written_is_locked_again(tmp_path: Path) -> None:
    """Its log stays where it is, and what is written to it is found."""
    path = tmp_path / "ledger.db"
    database = SqliteDatabase(path)
    await database.open()
    [writer] = find_writers()
    with bounding(writer, 300_000), pytest.raises(StoreUnavailable):
        await database.write("keep_content", "large", "acme", "ann", "text/plain", len(LARGE), 1.0, 2.0, LARGE)
    async with asyncio.timeout(30):
        while database.trouble is not None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    look_from_elsewhere(path)
    await database.write("register_server", "after", 1.0)
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT id FROM servers").fetchall()
    await database.close()

    assert found == [("after",)]


def test_a_file_that_is_read_in_the_same_process_is_locked_again(tmp_path: Path) -> None:
    """As the history is: what reads it has not been closed when it is opened anew."""
    path = tmp_path / "ledger.history.db"
    file = SqliteFile(path, 1.0, HISTORY)
    pen = WriterConnection(file)
    opened = pen.open()
    with closing(file.open_reader(opened.identity)) as reader:
        reader.execute("SELECT count(*) FROM history_blocks").fetchall()
        pen.try_again(is_damaged=True)
        look_from_elsewhere(path)
        left = sorted(one.name for one in tmp_path.iterdir())
    pen.close()

    assert left == [f"ledger.history.db{end}" for end in ("", "-shm", "-wal", ".lock")]
