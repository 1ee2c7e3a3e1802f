"""One process writes a file for several who ask, and another takes its place when it ends."""

import asyncio
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sidecall.kernel.core.overload import StoreUnavailable, StoreUnfit
from sidecall.storage.sqlite.database import SqliteDatabase
from sidecall.storage.sqlite.messages import pack_message
from sidecall.storage.sqlite.shared_writer import SharedWriter
from sidecall.storage.sqlite.tables import FILES, HISTORY, LEDGER, DatabaseRole
from tests.kit.processes import find_writers, has_ended
from tests.kit.waiting import until

# A server whose one worker, as it were, goes on when it is killed.
SERVE = """
import sys, threading
from pathlib import Path
from sidecall.storage.sqlite.tables import LEDGER
from sidecall.storage.sqlite.shared_writer import SharedWriter
import socket
writer = SharedWriter(Path(sys.argv[1]), LEDGER)
writer.open()
with socket.socket(fileno=int(sys.argv[2])) as given:
    socket.send_fds(given, [b"link"], [writer.socket.fileno()])
threading.Event().wait()
"""


def ask(path: Path, link: socket.socket, purpose: DatabaseRole = LEDGER, hangs_after: float = 5.0) -> SqliteDatabase:
    """Make a database as each worker does."""
    return SqliteDatabase(path, purpose=replace(purpose, is_alone=True, writer=link), hangs_after=hangs_after)


@pytest.fixture
async def both(path: Path, writer: SharedWriter) -> AsyncIterator[list[SqliteDatabase]]:
    """Open it twice."""
    databases = [ask(path, writer.socket) for _ in range(2)]
    for database in databases:
        await database.open()
    yield databases
    for database in databases:
        await database.close()


async def list_servers(database: SqliteDatabase) -> list[str]:
    """List what tests write."""
    return sorted(row[0] for row in await database.read("find_servers"))


async def test_each_reads_what_the_others_write(both: list[SqliteDatabase]) -> None:
    """As soon as it was said to be written, and one process does it all."""
    seen = []
    for number in range(20):
        await both[number % 2].write("register_server", f"{number:02}", 1.0)
        seen.append(await list_servers(both[1 - number % 2]))

    assert seen == [[f"{number:02}" for number in range(last + 1)] for last in range(20)]
    assert len(find_writers()) == 1
    assert [database.is_shared for database in both] == [True, True]


async def test_what_is_taken_once_is_taken_by_one(both: list[SqliteDatabase]) -> None:
    """However many ask for it at the same time, each hears what became of its own."""
    await both[0].write_all("register_server", [(f"{number}", 1.0) for number in range(300)])

    taken = await asyncio.gather(
        *(database.write("forget_server", f"{number}") for number in range(300) for database in both)
    )

    assert [sum(one is not None for one in taken[start : start + 2]) for start in range(0, 600, 2)] == [1] * 300


async def kill_writer(databases: list[SqliteDatabase], sent: signal.Signals) -> int:
    """End the process that writes by a signal, and return its id once all have missed it and have the next one."""
    [killed] = find_writers()
    os.kill(killed, sent)
    for database in databases:
        await until(lambda database=database: database.trouble is not None)  # type: ignore[misc]
    for database in databases:
        await until(lambda database=database: database.trouble is None)  # type: ignore[misc]
    return killed


async def test_another_process_takes_the_place_of_one_that_is_killed(both: list[SqliteDatabase]) -> None:
    """All are told, and go on; what was confirmed is there."""
    await both[0].write("register_server", "before", 1.0)
    killed = await kill_writer(both, signal.SIGKILL)
    for name, database in zip(("first", "second"), both, strict=True):
        await database.write("register_server", name, 1.0)

    assert [await list_servers(database) for database in both] == [["before", "first", "second"]] * 2
    assert find_writers() not in ([], [killed])


async def test_the_log_says_once_how_one_ended_for_all_workers(
    path: Path, both: list[SqliteDatabase], caplog: pytest.LogCaptureFixture
) -> None:
    """By the supervisor, whose child it is; the workers only see that it is gone."""
    await kill_writer(both, signal.SIGSEGV)

    said = f"{path}: the process that wrote it was ended by SIGSEGV; another takes its place"
    assert caplog.messages.count(said) == 1


async def test_one_that_hangs_is_killed_by_who_waits_for_it(path: Path, writer: SharedWriter) -> None:
    """In a bounded time, and replaced for all."""
    databases = [ask(path, writer.socket, hangs_after=0.5) for _ in range(2)]
    for database in databases:
        await database.open()
    [stopped] = find_writers()
    os.kill(stopped, signal.SIGSTOP)
    with pytest.raises(StoreUnavailable):
        await databases[0].write("register_server", "meanwhile", 1.0)
    ended = await asyncio.to_thread(has_ended, stopped)
    for database in databases:
        await until(lambda database=database: database.trouble is None)  # type: ignore[misc]
    written = [await database.write("register_server", "after", 1.0) for database in databases]
    for database in databases:
        await database.close()

    assert ended
    assert written == [("after",)] * 2


async def test_trouble_of_one_is_told_to_all(path: Path, both: list[SqliteDatabase]) -> None:
    """Each tries for itself whether it is over; what it is refused is not written."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreUnavailable):
            await both[0].write("register_server", "refused", 1.0)
        await until(lambda: both[1].trouble is not None)
        with pytest.raises(StoreUnavailable):
            await both[1].write("register_server", "refused, too", 1.0)
        other.execute("ROLLBACK")
    for database in both:
        await until(lambda database=database: database.trouble is None)  # type: ignore[misc]
    await both[1].write("register_server", "after", 1.0)

    assert await list_servers(both[0]) == ["after"]


async def test_what_was_sent_before_trouble_was_heard_of_is_not_written(path: Path, writer: SharedWriter) -> None:
    """Though another one has found out meanwhile that it is over: who sent it is told that it was not."""
    database = ask(path, writer.socket, hangs_after=60)
    await database.open()
    deaf, theirs = socket.socketpair()
    with theirs:
        socket.send_fds(writer.socket, [b"%d" % os.getpid()], [theirs.fileno()])
    order = ("INSERT INTO servers (id, started_at, seen_at) VALUES ('deaf', 1, 1)", (), "key")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        await database.write("register_server", "before", 1.0)  # The other one was let in by then.
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreUnavailable):
            await database.write("register_server", "refused", 1.0)
        other.execute("ROLLBACK")
    await until(lambda: database.trouble is None)
    deaf.sendall(b"".join(pack_message([order])))
    await database.write("register_server", "after", 1.0)
    deaf.close()
    found = await list_servers(database)
    await database.close()

    assert found == ["after", "before"]


async def test_who_does_not_read_its_answers_holds_up_nobody(path: Path, writer: SharedWriter) -> None:
    """It is not heard until it has read them."""
    database = ask(path, writer.socket)
    await database.open()
    deaf, theirs = socket.socketpair()
    with theirs:
        socket.send_fds(writer.socket, [b"%d" % os.getpid()], [theirs.fileno()])
    deaf.setblocking(False)
    question = b"".join(pack_message([("SELECT zeroblob(4000000)", (), "rows")]))
    for _ in range(20):
        deaf.send(question)
    written = [await database.write("register_server", f"{number}", 1.0) for number in range(100)]
    deaf.close()
    await database.close()

    assert written == [(f"{number}",) for number in range(100)]


async def test_it_goes_on_for_the_others_when_one_ends(path: Path, writer: SharedWriter) -> None:
    """What that has asked for is written; at the end the file is free."""
    first, second = (ask(path, writer.socket) for _ in range(2))
    await first.open()
    await second.open()
    late = asyncio.gather(*(first.write("register_server", f"{number}", 1.0) for number in range(100)))
    await asyncio.sleep(0)
    await first.close()
    await late
    found = await list_servers(second)
    still = await second.write("register_server", "second", 1.0)
    [process] = find_writers()
    await second.close()
    writer.close()
    alone = SqliteDatabase(path)
    await alone.open()
    await alone.close()

    assert (len(found), still) == (100, ("second",))
    assert has_ended(process)


@pytest.fixture
def text(path: Path) -> Path:
    """Have a text where the file is to be."""
    path.write_text("a text" * 1000)
    return path


async def test_who_opens_a_file_that_cannot_be_used_is_told_why(text: Path, writer: SharedWriter) -> None:
    """Each that tries; and it can be used once that is over."""
    for _ in range(2):
        with pytest.raises(StoreUnfit, match="it is not a SQLite database"):
            await ask(text, writer.socket).open()
    os.unlink(text)
    database = ask(text, writer.socket)
    await database.open()
    written = await database.write("register_server", "after", 1.0)
    await database.close()

    assert written == ("after",)


@pytest.mark.parametrize("purpose", [LEDGER, HISTORY, FILES], ids=lambda purpose: purpose.name)
async def test_files_of_each_kind_can_be_shared(path: Path, purpose: DatabaseRole) -> None:
    """Their tables are made by the process that writes them."""
    writer = SharedWriter(path, purpose)
    writer.open()
    database = ask(path, writer.socket, purpose)
    await database.open()
    with closing(sqlite3.connect(path)) as other:
        tables = {name for (name,) in other.execute("SELECT name FROM sqlite_master")}
    await database.close()
    writer.close()

    assert purpose.sign in tables


def test_it_ends_with_the_last_worker_of_a_server_that_is_killed(path: Path) -> None:
    """Until then it goes on, since they drain."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [sys.executable, "-c", SERVE, str(path), str(theirs.fileno())]
        server = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        _, [descriptor], *_ = socket.recv_fds(ours, 16, 1)
    process, drained = asyncio.run(_outlive(server, path, descriptor))

    assert drained == [("drained",)] * 3
    assert has_ended(process)


def test_it_ends_when_a_server_is_killed_with_all_its_workers(path: Path) -> None:
    """Nobody says so, and the file is free."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [sys.executable, "-c", SERVE, str(path), str(theirs.fileno())]
        server = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        _, [descriptor], *_ = socket.recv_fds(ours, 16, 1)
    os.close(descriptor)
    try:
        while not (found := find_writers(server.pid)):
            time.sleep(0.01)
    finally:
        server.kill()
        server.wait()

    assert has_ended(found[0])


async def _outlive(
    server: "subprocess.Popen[bytes]", path: Path, descriptor: int
) -> tuple[int, list[tuple[str] | None]]:
    with socket.socket(fileno=descriptor) as link:
        database = ask(path, link)
        await database.open()
        [process] = find_writers(server.pid)
        server.kill()
        server.wait()
        drained = []
        for _ in range(3):
            drained.append(await database.write("register_server", "drained", 1.0))
            await asyncio.sleep(0.6)  # It looks once a second.
        await database.close()
    return process, drained  # type: ignore[return-value]
