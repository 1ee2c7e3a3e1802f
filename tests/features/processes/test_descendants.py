"""What a tool has started goes with its process, and no sooner, and a copy of that process answers nobody."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sidecall.features.processes.executor import ProcessExecutor
from sidecall.loading.collect import TOOLS_OF
from sidecall.loading.discovery import discover
from tests.features.processes import orphaning_tools
from tests.features.processes.orphaning_tools import (
    afork,
    fork,
    fork_and_yield,
    make_orphan,
    orphan_and_hang,
    orphan_and_hold,
    orphan_and_leave,
    pid,
)
from tests.kernel.executors.conftest import answering
from tests.kit.processes import has_ended

HOW = ["session", "orphan"]


@pytest.fixture
async def two() -> AsyncIterator[ProcessExecutor]:
    """Two processes, one of which may die; their tools are loaded, so that a deadline is all a tool's own."""
    executor = ProcessExecutor(2, TOOLS_OF)
    await executor.start(discover([orphaning_tools.__name__]))
    yield executor
    await executor.close()


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("tool", [orphan_and_hang, orphan_and_leave], ids=["killed", "dies"])
async def test_what_has_a_session_of_its_own_ends_with_its_process(
    two: ProcessExecutor, tmp_path: Path, tool: Any, how: str
) -> None:
    """Whether that is killed at a deadline or dies by itself."""
    file = tmp_path / "id"
    message = await answering(two)(tool, {"how": how, "file": str(file)})

    assert message.status == "error"
    assert has_ended(int(file.read_text()))


async def test_what_belongs_to_a_process_that_lives_is_spared(two: ProcessExecutor, tmp_path: Path) -> None:
    """Though it is an orphan as well when another process dies, and nobody's child knows it."""
    answer = answering(two)
    file, other, fifo = tmp_path / "id", tmp_path / "other", tmp_path / "fifo"
    os.mkfifo(fifo)
    asked = {"how": "orphan", "file": str(file), "fifo": str(fifo)}
    call = asyncio.ensure_future(answer(orphan_and_hold, asked))
    with await asyncio.to_thread(open, fifo, "w"):
        await answer(orphan_and_leave, {"how": "orphan", "file": str(other)})
        assert has_ended(int(other.read_text()))
        spared = not has_ended(int(file.read_text()), 0)
    message = await call

    assert spared
    assert message.status == "success"


@pytest.mark.parametrize("how", HOW)
async def test_what_has_a_session_of_its_own_ends_with_the_last_process(how: str) -> None:
    """Though its call has long been answered."""
    one = ProcessExecutor(1, TOOLS_OF)
    left = int(str((await answering(one)(make_orphan, {"how": how})).content))
    await one.close()

    assert has_ended(left)


@pytest.mark.parametrize("how", HOW)
async def test_what_a_killed_fork_server_has_lost_is_found_by_its_successor(two: ProcessExecutor, how: str) -> None:
    """It is nobody's child by then."""
    answer = answering(two)
    left = int(str((await answer(make_orphan, {"how": how})).content))
    assert two.fork_server_pid is not None
    os.kill(two.fork_server_pid, signal.SIGKILL)
    assert has_ended(two.fork_server_pid)
    # Its processes end with it, each perhaps with a call that it has just taken.
    after = [await answer(pid) for _ in range(3)]

    assert after[-1].status == "success"
    assert has_ended(left)


@pytest.mark.parametrize(
    ("tool", "args"),
    [(fork, {"raises": False}), (fork, {"raises": True}), (afork, {}), (fork_and_yield, {})],
    ids=["returns", "raises", "async", "parts"],
)
async def test_a_copy_of_a_tools_process_ends_where_the_tool_does(two: ProcessExecutor, tool: Any, args: Any) -> None:
    """It does not take the next request, nor say anything about this one."""
    message = await answering(two)(tool, args)
    copy = int(str(message.content))

    assert copy > 0
    assert has_ended(copy)
