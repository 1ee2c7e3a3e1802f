"""A process that hangs, dies or takes too much is one failed call."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from sidecall import Registry, ToolCall, ToolMessage
from sidecall.features.processes.executor import ProcessExecutor
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.services import CallServices
from sidecall.kernel.pipeline.admission import Admission, Limits
from sidecall.kernel.pipeline.execution.execute import Execute
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.pipeline.stages import kernel_stages
from sidecall.loading.collect import TOOLS_OF
from tests.features.processes.process_tools import (
    alone,
    crash,
    endless,
    greedy,
    hold,
    later,
    leave,
    leave_behind,
    modest,
    orphan,
    pid,
    spoil_the_line,
)
from tests.kernel.executors.conftest import Answer, answering
from tests.kit.processes import has_ended
from tests.kit.waiting import until


def kind(message: ToolMessage) -> str:
    """Return why a call failed."""
    return str(message.response_metadata["error"]["kind"])


def children_of(executor: ProcessExecutor) -> list[int]:
    """List its processes."""
    assert executor.fork_server_pid is not None
    (template,) = _list_children(executor.fork_server_pid)
    return _list_children(template)


def _list_children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def parent_of(process: int) -> int:
    """Return the parent of a process."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


async def test_a_deadline_kills_the_process_and_what_it_has_started(
    processes: ProcessExecutor, answer: Answer, tmp_path: Path
) -> None:
    """However busy it is; the next call finds another one."""
    file, before = tmp_path / "ids", processes.occupancy.killed
    message = await answer(endless, {"file": str(file)})
    ids = [int(written) for written in file.read_text().split()]

    assert message.content == "Error: endless timed out after 2 seconds."
    assert [has_ended(process) for process in ids] == [True, True]
    assert processes.occupancy.killed == before + 1
    assert (await answer(later, {"number": 3})).content == "3"


async def test_a_caller_who_leaves_kills_the_process(
    processes: ProcessExecutor, answer: Answer, tmp_path: Path
) -> None:
    """Nobody is left to tell."""
    fifo, before = tmp_path / "fifo", processes.occupancy.killed
    os.mkfifo(fifo)
    call = asyncio.ensure_future(answer(hold, {"fifo": str(fifo)}))
    with await asyncio.to_thread(open, fifo, "w"):
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

        assert processes.occupancy.killed == before + 1
    assert (await answer(later, {"number": 3})).content == "3"


@pytest.mark.parametrize(
    ("tool", "args", "reason"),
    [
        (leave, {"code": 3}, "the tool's process ended with exit code 3"),
        (leave, {"code": 0}, "the tool's process ended with exit code 0"),
        (crash, {}, "the tool's process was ended by SIGSEGV"),
        (greedy, {"megabytes": 2048}, "MemoryError"),
        (modest, {"megabytes": 100}, "MemoryError"),  # its own limit, not the server's
    ],
    ids=["exit", "exit-0", "segfault", "memory", "memory-of-its-own"],
)
async def test_a_process_that_dies_is_one_failed_call(
    answer: Answer, caplog: pytest.LogCaptureFixture, tool: Any, args: Any, reason: str
) -> None:
    """The log says how it died; the next call finds another one."""
    message = await answer(tool, args)
    again = await answer(later, {"number": 3})

    assert kind(message) == "execution_error"
    assert reason in caplog.text
    assert again.content == "3"


async def test_a_process_that_was_out_of_memory_serves_no_more() -> None:
    """Nobody knows what it could not finish."""
    one = ProcessExecutor(1, TOOLS_OF, 64)
    answer = answering(one)
    before = await answer(pid)
    await answer(greedy, {"megabytes": 512})
    after = await answer(pid)
    await one.close()

    assert before.content != after.content


async def test_memory_within_the_limit_is_had(answer: Answer) -> None:
    """What Sidecall and the loaded tools take does not count."""
    assert (await answer(modest, {"megabytes": 32})).content == "33554432"
    assert (await answer(greedy, {"megabytes": 256})).content == "268435456"


async def test_a_process_that_dies_idle_costs_no_call() -> None:
    """Its call is handed to another one, since it has not begun."""
    one = ProcessExecutor(1, TOOLS_OF)
    answer = answering(one)
    before = int(str((await answer(pid)).content))
    os.kill(before, signal.SIGKILL)
    assert has_ended(before)
    after = await answer(pid)
    await one.close()

    assert after.status == "success"
    assert after.content != str(before)


async def test_the_process_that_makes_the_others_may_die_too(caplog: pytest.LogCaptureFixture) -> None:
    """Its children die with it, busy or not, and the next call starts it again; the log says so."""
    one = ProcessExecutor(1, TOOLS_OF)
    answer = answering(one)
    child = int(str((await answer(pid)).content))
    assert one.fork_server_pid is not None
    os.kill(one.fork_server_pid, signal.SIGKILL)
    assert has_ended(child)
    after = await answer(later, {"number": 3})
    await one.close()

    assert after.content == "3"
    assert [record.getMessage() for record in caplog.records] == [
        "the process from which tools' processes are forked was ended by SIGKILL, as by a limit of memory; "
        "another takes its place"
    ]


async def test_all_that_are_idle_may_die_at_once() -> None:
    """However many they are, the call finds one that lives."""
    five = ProcessExecutor(5, TOOLS_OF)
    answer = answering(five)
    await five.start([pid.compiled])
    await asyncio.gather(*(answer(pid) for _ in range(5)))
    ids = children_of(five)
    _ = [os.kill(child, signal.SIGKILL) for child in ids]
    after = await answer(pid)
    await five.close()

    assert len(ids) == 5
    assert after.status == "success"


async def test_all_that_are_idle_may_die_with_the_one_that_makes_them() -> None:
    """None of them is taken for one that lives."""
    five = ProcessExecutor(5, TOOLS_OF)
    answer = answering(five)
    await five.start([pid.compiled])
    await asyncio.gather(*(answer(pid) for _ in range(5)))
    ids = children_of(five)
    assert five.fork_server_pid is not None
    os.kill(five.fork_server_pid, signal.SIGKILL)
    assert [has_ended(child) for child in ids] == [True] * 5
    after = await answer(pid)
    await five.close()

    assert after.status == "success"


@pytest.mark.parametrize("is_fork_server", [False, True], ids=["alone", "with-its-fork-server"])
async def test_a_request_that_was_not_taken_is_handed_to_another(*, is_fork_server: bool) -> None:
    """The process has died between send and receive."""
    one = ProcessExecutor(1, TOOLS_OF)
    answer = answering(one)
    child = int(str((await answer(pid)).content))
    os.kill(child, signal.SIGSTOP)
    call = asyncio.ensure_future(answer(pid))
    await asyncio.sleep(0)
    busy = one.occupancy.busy
    os.kill(one.fork_server_pid or 0 if is_fork_server else child, signal.SIGKILL)
    message = await call
    await one.close()

    assert busy == 1
    assert message.status == "success"
    assert message.content != str(child)


async def test_what_a_dead_process_has_started_ends_as_well(answer: Answer, tmp_path: Path) -> None:
    """As what a killed one has."""
    file = tmp_path / "id"
    message = await answer(leave_behind, {"file": str(file)})

    assert kind(message) == "execution_error"
    assert has_ended(int(file.read_text()))


async def test_what_tools_leave_alone_is_buried_by_who_makes_their_processes() -> None:
    """A server that is process 1 of a container would collect them."""
    one = ProcessExecutor(1, TOOLS_OF)
    left = int(str((await answering(one)(orphan)).content))
    grandparent, fork_server = parent_of(parent_of(left)), one.fork_server_pid
    await one.close()

    assert grandparent == fork_server
    assert has_ended(left)


async def test_a_tool_keeps_its_place_until_its_killed_process_is_gone() -> None:
    """Its next call does not run beside what is left of the last one, though a process is idle."""
    two = ProcessExecutor(2, TOOLS_OF)
    admission = Admission(Limits())
    services = CallServices(abandon=admission.abandon)
    stages = kernel_stages(Execute({"process": two}), has_features=True)
    pipeline = Pipeline(Registry([alone]), stages, services=services, admission=admission)
    await two.start([alone.compiled])
    assert two.fork_server_pid is not None
    os.kill(two.fork_server_pid, signal.SIGSTOP)
    try:
        first = await pipeline.run(CallRequest(ToolCall(name="alone", args={"is_endless": True}, id="call_1")))
        second = asyncio.ensure_future(
            pipeline.run(CallRequest(ToolCall(name="alone", args={"is_endless": False}, id="call_2")))
        )
        await asyncio.sleep(0)
        meanwhile = (admission.waiting, admission.abandoned["process"])
    finally:
        os.kill(two.fork_server_pid, signal.SIGCONT)
    message = await second
    await two.close()

    assert kind(first) == "timeout"
    assert meanwhile == (1, 1)
    assert message.status == "success"
    assert admission.abandoned["process"] == 0


async def test_closing_kills_what_runs(tmp_path: Path) -> None:
    """Its call is a failed one."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    one = ProcessExecutor(1, TOOLS_OF)
    answer = answering(one)
    child = int(str((await answer(pid)).content))
    call = asyncio.ensure_future(answer(hold, {"fifo": str(fifo)}))
    with await asyncio.to_thread(open, fifo, "w"):
        waiting = asyncio.ensure_future(answer(later, {"number": 1}))
        await asyncio.sleep(0)
        await one.close()
        messages = [await call, await waiting]

    assert [kind(message) for message in messages] == ["execution_error", "execution_error"]
    assert has_ended(child)


async def test_a_process_that_writes_no_message_is_replaced(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    """Its own call fails at once; after the answer it harms no other call."""
    one = ProcessExecutor(1, TOOLS_OF)
    await one.start([pid.compiled, spoil_the_line.compiled])
    answer = answering(one)
    first = await answer(pid)
    failed = await answer(spoil_the_line, {})
    second = await answer(pid)
    late = await answer(spoil_the_line, {"folder": str(tmp_path)})
    (process,) = children_of(one)
    (tmp_path / "go").touch()
    await until((tmp_path / "done").exists)
    await asyncio.sleep(0.01)
    third = await answer(pid)
    await one.close()

    assert [message.status for message in (first, failed, second, late, third)] == [
        *("success", "error", "success", "success", "success")
    ]
    assert kind(failed) == "execution_error"
    assert "the tool's process sent what is no message" in caplog.text
    assert len({first.content, second.content, third.content}) == 3
    assert second.content == str(process)
    assert has_ended(process)
