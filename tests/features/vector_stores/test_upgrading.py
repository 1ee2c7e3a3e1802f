"""Files that an earlier version has kept."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sidecall.features.vector_stores.kept import VectorStoreBounds
from sidecall.features.vector_stores.stores import VectorStores
from sidecall.kernel.ports.file_errors import TooManyFiles
from sidecall.storage.migrate import read_migrations
from sidecall.storage.sqlite.database import SqliteDatabase
from sidecall.storage.sqlite.roles import FILES


async def test_files_that_were_kept_before_they_were_counted_take_room(tmp_path: Path) -> None:
    """They give it back when they are deleted."""
    path = tmp_path / "files.db"
    first = read_migrations("sqlite_files")[0]
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            f"{first.script} INSERT INTO schema_version VALUES (1, 'begin', 0);"
            "INSERT INTO files VALUES ('file-1', 'one', 'a.txt', 'assistants', 900, 0, x'61');"
            "INSERT INTO vector_stores VALUES ('vs_1', 'one', '', '{}', 0);"
            "INSERT INTO vector_store_files VALUES"
            " ('vs_1/file-1', 1, 'one', 'vs_1', 'file-1', 0, 'completed', '', '{}', 3200, 1600, 50);"
        )
    stores = VectorStores(SqliteDatabase(path, purpose=FILES), VectorStoreBounds(files=9, bytes=1000))
    await stores.open()
    try:
        with pytest.raises(TooManyFiles):
            await stores.files.put("one", "b.txt", "assistants", bytes(51))
        await stores.files.put("one", "b.txt", "assistants", bytes(50))
        await stores.files.delete("one", "file-1")
        await stores.files.put("one", "c.txt", "assistants", bytes(950))
        with pytest.raises(TooManyFiles):
            await stores.files.put("one", "d.txt", "assistants", bytes(1))
    finally:
        await stores.close()
