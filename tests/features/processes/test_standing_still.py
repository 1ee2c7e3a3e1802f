"""A fork server that stands still holds nobody up: it is killed, and another takes its place."""

import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sidecall.features.processes import fork_server_watch
from sidecall.features.processes.child import pack
from sidecall.features.processes.executor import ProcessExecutor
from sidecall.features.processes.pool import ProcessPool
from sidecall.loading.collect import TOOLS_OF
from tests.features.processes.process_tools import endless, later, pid, stop_parent
from tests.features.processes.test_pool import GREETING
from tests.kernel.executors.conftest import answering
from tests.kit.processes import has_ended
from tests.kit.waiting import until

STANDS_STILL = "the process from which tools' processes are forked stands still"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a sign of life for less than half of what servers do."""
    monkeypatch.setattr(fork_server_watch, "_LOOK", 0.4)


@pytest.fixture
async def executor() -> AsyncIterator[ProcessExecutor]:
    """Two processes."""
    two = ProcessExecutor(2, TOOLS_OF)
    await two.start([later.compiled, pid.compiled, endless.compiled])
    yield two
    await two.close()


def _stop(executor: ProcessExecutor | ProcessPool) -> int:
    fork_server = executor.fork_server_pid
    assert fork_server is not None
    os.kill(fork_server, signal.SIGSTOP)
    return fork_server


@pytest.mark.usefixtures("impatient")
async def test_calls_go_on_after_it_was_stopped(
    executor: ProcessExecutor, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """A process that has to be replaced is, by another one; the log says why."""
    caplog.set_level(logging.WARNING, "sidecall")
    stopped = _stop(executor)
    answer = answering(executor)
    given_up = await asyncio.gather(*(answer(endless, {"file": f"{tmp_path}/{number}"}) for number in range(2)))

    assert [message.status for message in given_up] == ["error", "error"]
    assert (await answer(later, {"number": 3})).content == "3"
    assert executor.fork_server_pid != stopped
    assert has_ended(stopped)
    assert [line for line in caplog.messages if line.startswith(STANDS_STILL)] == [
        f"{STANDS_STILL}; it is killed, and another takes its place"
    ]


async def test_a_tool_that_stops_its_parent_harms_no_new_process(executor: ProcessExecutor) -> None:
    """As often as it does: what has imported the tools is another one for other code, and the fork server goes on."""
    answer, first = answering(executor), executor.fork_server_pid
    for _ in range(3):
        assert (await answer(stop_parent, {})).content == "stopped"
        executor.follow([later.compiled])  # Which has nothing new.
        executor._pool.renew()  # As for code that has changed: all processes are ordered anew.

        assert (await answer(later, {"number": 3})).content == "3"
    assert executor.fork_server_pid == first


@pytest.mark.usefixtures("impatient")
async def test_no_order_blocks(caplog: pytest.LogCaptureFixture) -> None:
    """Not even one more than its socket takes, and not a greeting that finds no room."""
    large = {**GREETING, "levels": {f"logger {number}": 30 for number in range(100_000)}}
    pool = ProcessPool(1, lambda: pack("greet", None, large), TOOLS_OF)
    try:
        pool.release(await pool.acquire())
        stopped = _stop(pool)
        async with asyncio.timeout(30):
            for _ in range(3_000):
                pool.renew()
                pool.release(await pool.acquire())
                if pool.fork_server_pid != stopped:
                    break
            await until(lambda: has_ended(stopped))
    finally:
        await pool.close()

    assert any(line.startswith(STANDS_STILL) for line in caplog.messages)


async def test_a_server_ends_though_it_stands_still(executor: ProcessExecutor) -> None:
    """It is killed at the end, too."""
    await answering(executor)(later, {"number": 3})
    stopped = _stop(executor)

    await executor.close()

    assert has_ended(stopped)


async def test_one_that_does_what_it_is_told_is_left_alone(executor: ProcessExecutor, tmp_path: Path) -> None:
    """However long nobody asks it for anything."""
    answer, first = answering(executor), executor.fork_server_pid
    for number in range(3):
        await answer(endless, {"file": f"{tmp_path}/{number}"})
        await answer(later, {"number": 3})

    assert executor.fork_server_pid == first


async def test_it_is_not_killed_where_it_goes_on_in_time(executor: ProcessExecutor) -> None:
    """A short stop is none."""
    await answering(executor)(later, {"number": 3})
    stopped = _stop(executor)
    executor._pool.renew()
    call = asyncio.ensure_future(answering(executor)(later, {"number": 4}))
    await asyncio.sleep(0.5)
    os.kill(stopped, signal.SIGCONT)

    assert (await call).content == "4"
    assert executor.fork_server_pid == stopped
