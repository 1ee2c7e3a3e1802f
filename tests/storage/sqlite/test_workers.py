"""Workers that share a file know by their processes which of them live."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest

from sidecall.storage.heartbeat import WorkerHeartbeat, is_living, name_worker
from sidecall.storage.sqlite.database import SqliteDatabase

NAME = "from sidecall.storage.heartbeat import name_worker; print(name_worker(), flush=True); input()"


@pytest.fixture
async def database() -> AsyncIterator[SqliteDatabase]:
    """Give a database in memory."""
    made = SqliteDatabase()
    await made.open()
    yield made
    await made.close()


def test_a_process_lives_by_its_name_until_it_has_ended() -> None:
    """Also as long as nobody has asked how it ended."""
    with subprocess.Popen([sys.executable, "-c", NAME], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        name = other.stdout.readline().decode().strip()
        before = is_living(name)
        other.kill()
        os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
        unreaped = is_living(name)
        other.wait()

    assert [before, unreaped, is_living(name)] == [True, False, False]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "8f14e45fceea167a5a36dedd4bea2543",
        f"{os.getpid()}",
        f"{os.getpid()}-1-8f14e45fceea167a5a36dedd4bea2543",
        f"{2**22 + 1}-1-8f14e45fceea167a5a36dedd4bea2543",
        "0-1-8f14e45fceea167a5a36dedd4bea2543",
        "-1-1",
    ],
)
def test_another_process_of_the_same_id_is_another(name: str) -> None:
    """Nor does a server live that was alone with the file before."""
    assert not is_living(name)


async def test_who_lives_is_spoken_for_and_who_has_ended_is_forgotten(database: SqliteDatabase) -> None:
    """However long ago each has said something."""
    own, slow, ended = name_worker(), name_worker(), f"{2**22 + 1}-1-8f14e45fceea167a5a36dedd4bea2543"
    heartbeat = WorkerHeartbeat(database, own)
    now = await heartbeat.tell_time()
    for owner, seen_at in ((own, now), (slow, now - 100), (ended, now)):
        await database.write("register_server", owner, seen_at)

    silent_since = await heartbeat.find_silence()
    found = {owner: seen_at for owner, _, seen_at in await database.read("find_servers")}

    assert silent_since is not None
    assert found.keys() == {own, slow}
    assert all(seen_at > silent_since for seen_at in found.values())


async def test_a_worker_that_is_not_registered_yet_is_before_it_judges(database: SqliteDatabase) -> None:
    """Else what it runs itself would count as lost."""
    own = name_worker()

    await WorkerHeartbeat(database, own).find_silence()

    assert [owner for owner, *_ in await database.read("find_servers")] == [own]
