"""What writes a file is ended where it gives no sign of life, and not because the disk takes its time."""

import asyncio
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest

from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.sqlite import writer as writing
from sidecall.storage.sqlite.database import SqliteDatabase
from sidecall.storage.sqlite.shared_writer import SharedWriter
from sidecall.storage.sqlite.tables import LEDGER
from tests.kit.processes import find_writers, has_ended
from tests.kit.waiting import until

# Seconds without a sign of life; three signs come in that time.
HANGS_AFTER = 3.0


@pytest.fixture(params=["alone", "shared"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    """Open a file, alone or as a worker, whose writer waits for another program as long as for a slow disk."""
    path = tmp_path / "ledger.db"
    purpose = replace(LEDGER, is_apart=True)
    async with AsyncExitStack() as stack:
        if request.param == "shared":
            writer = SharedWriter(path, LEDGER)
            writer.open()
            stack.callback(writer.close)
            purpose = replace(LEDGER, is_alone=True, writer=writer.socket)
        opened = SqliteDatabase(path, patience=60.0, purpose=purpose, hangs_after=HANGS_AFTER)
        await opened.open()
        stack.push_async_callback(opened.close)
        await opened.write("register_server", "before", 1.0)
        yield opened


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the shared process wait for others as long, too."""
    monkeypatch.setattr("sidecall.storage.sqlite.shared_writer._PATIENCE", 60.0)


@pytest.fixture
def disk(tmp_path: Path, database: SqliteDatabase) -> Iterator[sqlite3.Connection]:
    """Hold up what is written, until this is rolled back."""
    with closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other


async def _list_servers(database: SqliteDatabase) -> list[str]:
    return sorted(row[0] for row in await database.read("find_servers"))


async def test_a_slow_disk_is_waited_for(database: SqliteDatabase, disk: sqlite3.Connection) -> None:
    """Longer than for one that gives no sign of life; what was asked for is written once."""
    writers = find_writers()
    waiting = asyncio.ensure_future(database.write("register_server", "slow", 1.0))
    await asyncio.sleep(HANGS_AFTER + 2)
    seen = waiting.done(), database.trouble, find_writers()
    disk.execute("ROLLBACK")

    assert await waiting == ("slow",)
    assert seen == (False, None, writers)
    assert await _list_servers(database) == ["before", "slow"]


async def test_one_that_is_very_slow_is_not_waited_for_any_longer(
    database: SqliteDatabase, disk: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls are told to come again, the process goes on, and nothing that was acknowledged is lost."""
    monkeypatch.setattr(writing, "SLOW_AFTER", 1.0)
    writers = find_writers()
    waiting = asyncio.ensure_future(database.write("register_server", "slow", 1.0))
    with pytest.raises(StoreUnavailable) as refused:
        await waiting
    trouble = database.trouble or ""
    with pytest.raises(StoreUnavailable):
        await database.write("register_server", "meanwhile", 1.0)
    await asyncio.sleep(HANGS_AFTER + 2)
    seen = find_writers()
    disk.execute("ROLLBACK")
    await until(lambda: database.trouble is None)
    await database.write("register_server", "after", 1.0)

    assert refused.value.retry_after > 0
    assert "has waited for the disk for 1 s, and goes on" in trouble
    assert seen == writers == find_writers()
    assert await _list_servers(database) == ["after", "before", "slow"]


@pytest.mark.parametrize("moment", ["at once", "once nobody waits"])
async def test_one_that_is_stopped_meanwhile_is_ended(
    database: SqliteDatabase, disk: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Another takes its place."""
    monkeypatch.setattr(writing, "SLOW_AFTER", 60.0 if moment == "at once" else 1.0)
    stopped = find_writers()
    waiting = asyncio.ensure_future(database.write("register_server", "slow", 1.0))
    await (asyncio.sleep(1) if moment == "at once" else asyncio.wait([waiting]))
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    with pytest.raises(StoreUnavailable):
        await waiting
    disk.execute("ROLLBACK")
    await until(lambda: database.trouble is None)
    have_ended = [has_ended(pid) for pid in stopped]
    await database.write("register_server", "after", 1.0)

    assert all(have_ended)
    assert await _list_servers(database) == ["after", "before"]
