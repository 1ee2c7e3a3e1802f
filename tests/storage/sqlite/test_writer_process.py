"""A file is written by a process of its own, which ends with its server and is started again when it ends before."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path

import pytest

from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.sqlite.database import SqliteDatabase
from sidecall.storage.sqlite.tables import LEDGER
from tests.kit.processes import find_writers, has_ended
from tests.kit.waiting import until
from tests.storage.sql.disks import freezing

SERVE = """
import asyncio, sys
from pathlib import Path
from sidecall.storage.sqlite.database import SqliteDatabase
async def serve():
    database = SqliteDatabase(Path(sys.argv[1]))
    await database.open()
    print("open", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    print(await database.write("register_server", "later", 1.0), flush=True)
    await database.close()
asyncio.run(serve())
"""

READ = """
import asyncio, sys
from dataclasses import replace
from pathlib import Path
from sidecall.storage.sqlite.database import SqliteDatabase
from sidecall.storage.sqlite.tables import LEDGER
async def serve():
    database = SqliteDatabase(Path(sys.argv[1]), purpose=replace(LEDGER, is_alone=True))
    await database.open()
    await database.read("find_servers")
    await database.write("register_server", "a", 1.0)
    print("open", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    print(await database.read("find_servers"), flush=True)
    await database.close()
asyncio.run(serve())
"""

# In another process, since to close a file frees the locks that a process has on it.
TEAR = """
import sys
with open(sys.argv[1], "r+b") as memory:
    memory.write(bytes(8))
"""

_REQUEST = ContextVar("request", default="none")


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    """Open a file."""
    database = SqliteDatabase(tmp_path / "ledger.db", purpose=replace(LEDGER, is_alone=True))
    await database.open()
    yield database
    await database.close()


def serve(path: Path, program: str = SERVE) -> "subprocess.Popen[str]":
    """Start a server that writes or reads when its input ends, and then ends itself."""
    command = [sys.executable, "-c", program, str(path)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    return process


async def turn() -> None:
    """Let the event loop send what was asked for."""
    for _ in range(8):
        await asyncio.sleep(0)


async def test_another_process_takes_the_place_of_one_that_is_killed(database: SqliteDatabase) -> None:
    """What is to be written meanwhile waits for it; what was confirmed is there."""
    await database.write("register_server", "before", 1.0)
    [writer] = find_writers()

    os.kill(writer, signal.SIGKILL)
    await until(lambda: database.trouble is not None)
    meanwhile = await database.write("register_server", "meanwhile", 1.0)

    assert (meanwhile, database.trouble) == (("meanwhile",), None)
    assert await database.write("register_server", "after", 1.0) == ("after",)
    assert {row[0] for row in await database.read("find_servers")} == {"before", "meanwhile", "after"}
    assert find_writers() != [writer]


@pytest.mark.parametrize(
    ("sent", "end"),
    [(signal.SIGKILL, "was ended by SIGKILL, as by a limit of memory"), (signal.SIGSEGV, "was ended by SIGSEGV")],
)
async def test_the_log_says_once_how_it_ended(
    database: SqliteDatabase, tmp_path: Path, caplog: pytest.LogCaptureFixture, sent: signal.Signals, end: str
) -> None:
    """Who runs the server learns what to look for."""
    [writer] = find_writers()
    os.kill(writer, sent)
    await until(lambda: database.trouble is not None)
    await database.write("register_server", "after", 1.0)

    said = f"{tmp_path / 'ledger.db'}: the process that wrote it {end}; another takes its place"
    assert caplog.messages.count(said) == 1


async def test_what_a_process_that_is_killed_has_not_read_is_written_by_the_next(database: SqliteDatabase) -> None:
    """Once, though it was sent to it; of what it may have read nobody knows whether it was written."""
    [writer] = find_writers()
    os.kill(writer, signal.SIGSTOP)
    read = asyncio.ensure_future(database.write("register_server", "read", 1.0))
    await turn()
    unread = [asyncio.ensure_future(database.write("register_server", f"{number}", 1.0)) for number in range(3)]
    await turn()
    os.kill(writer, signal.SIGKILL)

    with pytest.raises(StoreUnavailable):
        await read
    assert await asyncio.gather(*unread) == [("0",), ("1",), ("2",)]
    assert [row[0] for row in await database.read("find_servers")] == ["0", "1", "2"]


async def test_who_reads_waits_where_a_change_was_cut_short(database: SqliteDatabase, tmp_path: Path) -> None:
    """Until another process is there, which mends the memory that they share."""
    await database.write("register_server", "before", 1.0)
    await database.read("find_servers")
    [writer] = find_writers()
    os.kill(writer, signal.SIGKILL)
    ended = has_ended(writer)
    await (await asyncio.create_subprocess_exec(sys.executable, "-c", TEAR, tmp_path / "ledger.db-shm")).wait()

    assert ended
    assert await database.read("find_servers") == [("before", 1.0, 1.0)]


async def test_a_process_that_is_started_while_the_file_is_closed_ends(tmp_path: Path) -> None:
    """It would keep the file from the next server."""
    database = SqliteDatabase(tmp_path / "ledger.db", purpose=replace(LEDGER, is_alone=True))
    await database.open()
    [writer] = find_writers()

    os.kill(writer, signal.SIGKILL)
    await until(lambda: bool(set(find_writers()) - {writer}))
    await database.close()
    del database
    gc.collect()  # Which tells of a socket that was left open.

    assert find_writers() == []


async def test_who_waits_for_a_process_that_hangs_is_told(tmp_path: Path) -> None:
    """In a bounded time; then others are refused at once, until another process has taken its place."""
    database = SqliteDatabase(tmp_path / "ledger.db", hangs_after=0.5)
    await database.open()
    await database.write("register_server", "before", 1.0)
    [writer] = find_writers()
    os.kill(writer, signal.SIGSTOP)
    waiting = asyncio.ensure_future(database.write("register_server", "meanwhile", 1.0))
    with pytest.raises(StoreUnavailable):
        await asyncio.wait_for(waiting, 30)
    trouble = database.trouble
    with pytest.raises(StoreUnavailable):
        await database.write("register_server", "after that", 1.0)
    read = await database.read("find_servers")
    await until(lambda: database.trouble is None)
    written = await database.write("register_server", "after", 1.0)
    await until(lambda: has_ended(writer))
    await database.close()

    assert trouble == f"{tmp_path / 'ledger.db'}: what writes it does not answer; it was stopped, or the disk is stuck."
    assert (read, written) == ([("before", 1.0, 1.0)], ("after",))


async def test_trouble_is_no_matter_of_the_request_that_finds_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither when it begins nor when it ends: lines of the log have what their context has."""
    found: list[str] = []
    caplog.handler.addFilter(lambda _: not found.append(_REQUEST.get()))
    database = SqliteDatabase(tmp_path / "ledger.db", hangs_after=0.2)
    await database.open()
    [writer] = find_writers()
    os.kill(writer, signal.SIGSTOP)
    reset = _REQUEST.set("a request")
    with pytest.raises(StoreUnavailable):
        await database.write("register_server", "meanwhile", 1.0)
    _REQUEST.reset(reset)
    await until(lambda: database.trouble is None)
    await database.close()

    assert found == ["none", "none"]


async def test_a_process_that_hangs_when_its_server_ends_does_not_keep_the_file(tmp_path: Path) -> None:
    """The next server takes it."""
    for _ in range(2):
        database = SqliteDatabase(tmp_path / "ledger.db")
        await database.open()
        [writer] = find_writers()
        os.kill(writer, signal.SIGSTOP)
        await database.close()

        assert has_ended(writer)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_signals_leave_it_to_the_server_to_end(database: SqliteDatabase, sent: signal.Signals) -> None:
    """A supervisor may send them to every process of a service."""
    [writer] = find_writers()
    os.kill(writer, sent)

    assert await database.write("register_server", "a", 1.0) == ("a",)
    assert find_writers() == [writer]


def test_it_ends_with_a_server_that_is_killed(tmp_path: Path) -> None:
    """And then the file is free."""
    killed = serve(tmp_path / "ledger.db")
    [writer] = find_writers(killed.pid)
    killed.kill()
    killed.communicate()
    following = serve(tmp_path / "ledger.db")

    assert has_ended(writer)
    assert following.communicate()[0] == "('later',)\n"


def test_it_ends_with_a_server_that_closes_the_file(tmp_path: Path) -> None:
    """After what was asked for was written."""
    server = serve(tmp_path / "ledger.db")
    [writer] = find_writers(server.pid)
    told, _ = server.communicate()

    assert (told, server.returncode) == ("('later',)\n", 0)
    assert has_ended(writer)


def test_who_reads_changes_nothing_that_is_shared_with_it(tmp_path: Path) -> None:
    """It would be ended by the system where that cannot be changed any more."""
    server = serve(tmp_path / "ledger.db", READ)
    with freezing(list(tmp_path.iterdir())):
        told, _ = server.communicate()

    assert (told, server.returncode) == ("[('a', 1.0, 1.0)]\n", 0)


def test_it_loads_little() -> None:
    """Each server and worker starts one: what validates and serves stays out of it."""
    heavy = ("asyncio", "pydantic", "sidecall.kernel.ports.call_entry", "sidecall.kernel.core.call_record")
    module = "sidecall.storage.sqlite.writer_process"
    program = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"

    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"
