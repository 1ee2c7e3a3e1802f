"""Kill a process that writes, and look for what it said was kept: `python -m tests.storage.sql.killing 50`."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.sqlite.database import SqliteDatabase
from tests.kit.processes import find_writers

_WRITERS = 100


async def write(path: Path, begin: int) -> None:
    """Write until the file cannot be written any more, and print the name of each row once it is durable."""
    database = SqliteDatabase(path)
    await database.open()

    async def go_on(writer: int) -> None:
        number = 0
        while True:
            name = f"{begin}-{writer}-{number}"
            await database.write("register_server", name, 1.0)
            sys.stdout.write(f"{name}\n")
            number += 1

    asyncio.get_running_loop().call_later(0.05, _flush)
    with suppress(StoreUnavailable):
        await asyncio.gather(*(go_on(writer) for writer in range(_WRITERS)))


def _flush() -> None:
    sys.stdout.flush()
    asyncio.get_running_loop().call_later(0.005, _flush)


@dataclass(frozen=True)
class Written:
    """What was said to be durable, and how long that took."""

    said: set[str]
    seconds: float


def kill(path: Path, round_number: int, victims: str = "server") -> Written:
    """Let a process write, and kill it in the middle, or the `writer` that it has for the file, or `both`."""
    command = [sys.executable, "-m", "tests.storage.sql.killing", "write", str(path), str(round_number)]
    # Who loses what writes for it says so.
    errors = subprocess.DEVNULL if victims == "writer" else None
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
    assert process.stdout is not None
    told = [process.stdout.readline()]
    began = time.perf_counter()
    told += [process.stdout.readline() for _ in range(200 + 100 * round_number % 1700)]
    if victims != "server":
        for writer in find_writers(process.pid):
            os.kill(writer, signal.SIGKILL)
    if victims != "writer":
        process.kill()
    # The last line may be torn.
    rest = process.stdout.read().splitlines(keepends=True)
    seconds = time.perf_counter() - began
    process.stdout.close()
    process.wait()
    return Written({line.decode().strip() for line in [*told, *rest] if line.endswith(b"\n")}, seconds)


def find(path: Path) -> tuple[str, set[str]]:
    """Return whether a file is whole, `ok`, and the names in it."""
    connection = sqlite3.connect(path)
    (whole,) = connection.execute("PRAGMA integrity_check").fetchone()
    names = {name for (name,) in connection.execute("SELECT id FROM servers")}
    connection.close()
    return whole, names


def main() -> None:
    """Write, as the process that is killed, or kill such a process again and again."""
    if sys.argv[1] == "write":
        asyncio.run(write(Path(sys.argv[2]), int(sys.argv[3])))
        return
    with tempfile.TemporaryDirectory() as folder:
        file, said = Path(folder) / "ledger.db", set[str]()
        for number in range(int(sys.argv[1])):
            said |= kill(file, number).said
            whole, found = find(file)
            sys.stdout.write(f"round {number}: {whole}, {len(said)} said, {len(said - found)} lost\n")


if __name__ == "__main__":
    main()
