"""The start of a fork server may take a while, and nobody else waits for it."""

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence

import pytest

from sidecall.features.processes.child import pack
from sidecall.features.processes.fork_server_process import launch_plainly
from sidecall.features.processes.pool import ProcessPool
from sidecall.kernel.core.errors import SidecallError
from sidecall.loading.collect import TOOLS_OF
from tests.features.processes.test_pool import GREETING
from tests.kit.processes import has_ended
from tests.kit.waiting import until


class SlowLaunch:
    """Start it once it may; where the event loop waited for that, it never could."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.begun = 0
        self.made: list[subprocess.Popen[bytes]] = []

    def __call__(
        self, command: Sequence[str], handed: int, out: int, env: Mapping[str, str] | None
    ) -> subprocess.Popen[bytes]:
        """Start it as a child like any other."""
        self.begun += 1
        if not self.go.wait(30):
            raise OSError("nobody came to let it start")
        self.made.append(launch_plainly(command, handed, out, env))
        return self.made[-1]


@pytest.fixture
def launch() -> Iterator[SlowLaunch]:
    """Give one that lets go at the end."""
    made = SlowLaunch()
    yield made
    made.go.set()


def _make_pool(launch: SlowLaunch, size: int = 2) -> ProcessPool:
    return ProcessPool(size, lambda: pack("greet", None, GREETING), TOOLS_OF, launch=launch)


async def test_calls_wait_for_it_together_and_the_event_loop_goes_on(launch: SlowLaunch) -> None:
    """It is started once."""
    pool = _make_pool(launch)
    calls = [asyncio.ensure_future(pool.acquire()) for _ in range(2)]
    await until(lambda: launch.begun == 1)
    for _ in range(3):
        pool.renew()  # Neither do those wait that have loaded tools.
    was_done = [call.done() for call in calls]
    launch.go.set()
    children = await asyncio.gather(*calls)
    for child in children:
        pool.release(child)
    await pool.close()

    assert was_done == [False, False]
    assert len({child.number for child in children}) == 2
    assert launch.begun == 1


@pytest.mark.parametrize("way", ["call", "replace", "renew"])
async def test_nor_does_anybody_wait_for_its_successor(launch: SlowLaunch, way: str) -> None:
    """No matter what finds that it has ended: a call, or one that ends a process or replaces all."""
    pool = _make_pool(launch, 1)
    launch.go.set()
    child = await pool.acquire()
    assert pool.fork_server_pid is not None
    launch.go.clear()
    os.kill(pool.fork_server_pid, signal.SIGKILL)
    await until(child.has_ended)
    if way == "replace":
        pool.replace(child)
    else:
        pool.release(child)
    if way == "renew":
        pool.renew()
    call = asyncio.ensure_future(pool.acquire())
    await until(lambda: launch.begun == 2)
    was_done = call.done()
    launch.go.set()
    pool.release(await call)
    await pool.close()

    assert not was_done
    assert all(has_ended(process.pid) for process in launch.made)


async def test_one_that_is_not_wanted_any_more_is_ended(launch: SlowLaunch) -> None:
    """The pool was closed meanwhile; those who waited for it are refused."""
    pool = _make_pool(launch)
    call = asyncio.ensure_future(pool.acquire())
    await until(lambda: launch.begun == 1)
    await pool.close()
    launch.go.set()
    await until(lambda: bool(launch.made) and launch.made[0].poll() is not None)

    with pytest.raises(RuntimeError, match="the server is stopping"):
        await call


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (OSError("no more processes"), "no process can be started for tools with executor='process'"),
        (SidecallError("bubblewrap does not start"), "bubblewrap does not start"),
    ],
)
async def test_where_it_cannot_be_started_calls_are_told_why(error: Exception, seen: str) -> None:
    """And the next one tries again."""
    tried: list[int] = []

    def fail(*_: object) -> subprocess.Popen[bytes]:
        tried.append(1)
        raise error

    pool = ProcessPool(2, lambda: pack("greet", None, GREETING), TOOLS_OF, launch=fail)
    for _ in range(2):
        calls = await asyncio.gather(pool.acquire(), pool.acquire(), return_exceptions=True)
        assert [str(call) for call in calls] == [seen, seen]
    await pool.close()

    assert len(tried) >= 2
