"""Keep a dump of a SQLite file as this version of the program makes it: `python -m tests.storage.sql.keep_version`.

Until a step is released its file is written anew, after that never.
"""

import asyncio
import sqlite3
import tempfile
from pathlib import Path

from sidecall.storage.migrate import read_migrations
from sidecall.storage.sqlite.database import SqliteDatabase


async def keep() -> None:
    """Write a file with a server in it, under the number of the newest migration."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        database = SqliteDatabase(path)
        await database.open()
        await database.write("register_server", "kept", 1.0)
        await database.close()
        kept = Path(__file__).parents[1] / "versions" / f"{read_migrations('sqlite')[-1].number:04}.sql"
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(dump(path))


def dump(path: Path) -> str:
    """Return the statements that make a file like this one."""
    connection = sqlite3.connect(path)
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    lines = [f"PRAGMA application_id = {mark};", *connection.iterdump()]
    connection.close()
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    asyncio.run(keep())
