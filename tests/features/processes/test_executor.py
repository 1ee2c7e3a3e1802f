"""Tools in processes: who runs them, what reaches them, and what comes back beside the answer."""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sidecall import Registry
from sidecall.features.processes.executor import ProcessExecutor
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import InvalidToolOption
from sidecall.kernel.core.sender import allow_seconds
from sidecall.kernel.executors.base import Occupancy
from sidecall.loading.collect import TOOLS_OF
from sidecall.loading.discovery import discover
from sidecall.loading.modules.loading import load_afresh
from tests.features.processes.own_tools import linger, succeed
from tests.features.processes.process_tools import (
    aparts,
    circumstances,
    hold,
    later,
    leave,
    make_hidden,
    pid,
    raising,
    returning,
    with_a_loop,
)
from tests.features.processes.unserializable_tools import UNSAYABLE, failing
from tests.kernel.executors.conftest import Answer, answering

TOOL = 'from sidecall import tool\n\n\n@tool(executor="process")\ndef number() -> int:\n    """Say."""\n    return {}\n'
OFFER = '''from sidecall import tool


def shorten(text: str) -> str:
    """Clean up a text."""
    return " ".join(text.split())


shorten.__module__ = "inspect"
clean = tool("clean", executor="process")(shorten)
'''


async def test_another_process_runs_the_tool_and_serves_again() -> None:
    """It is warm: only the first call waits for it."""
    one = ProcessExecutor(1, TOOLS_OF)
    answer = answering(one)
    first, second = await answer(pid), await answer(pid)
    await one.close()

    assert first.content == second.content != str(os.getpid())


async def test_what_cannot_be_said_to_the_server_ends_no_process() -> None:
    """Neither what a tool returns, nor what it raises."""
    one = ProcessExecutor(1, TOOLS_OF)
    answer = answering(one)
    for tool, args in ((returning, {"name": "number"}), (failing, {}), (pid, {})):
        first = await answer(tool, args)  # A tool that comes new renews the processes.
    failed = [await answer(returning, {"name": "number_too_long"})]
    failed += [await answer(failing, {"name": name}) for name in UNSAYABLE]
    last = await answer(pid)
    await one.close()

    assert first.content == last.content
    kinds = [message.response_metadata["error"]["kind"] for message in failed]
    assert kinds == ["output_error", "execution_error", "execution_error"]


async def test_a_sync_tool_may_start_an_event_loop(answer: Answer) -> None:
    """None runs where it runs, as in a thread."""
    assert (await answer(with_a_loop)).content == "3"


@pytest.mark.skipif(not hasattr(os, "SCHED_BATCH"), reason="only Linux knows it")
async def test_a_process_that_wakes_up_interrupts_nobody(answer: Answer, processes: ProcessExecutor) -> None:
    """The server hands on all calls that have come before the first of them runs; what forks stays as prompt as it."""
    process, fork_server = int((await answer(pid)).content), processes.fork_server_pid

    assert os.sched_getscheduler(process) == os.SCHED_BATCH
    assert fork_server is not None
    assert os.sched_getscheduler(fork_server) == os.SCHED_OTHER


async def test_what_the_call_brings_reaches_the_tool(answer: Answer) -> None:
    """And no secret that it does not ask for."""
    message = await answer(
        circumstances,
        {"user": "forged"},
        secrets={"API_KEY": "k", "OTHER": "o"},
        state={"user": "Ada"},
        context={"tenant": "acme"},
        headers={"x-trace": "1"},
        caller=Caller("agent", scopes=frozenset(("b", "a"))),
    )

    assert message.content == (
        '{"user": "Ada", "tenant": "acme", "call_id": "call_1", "key": "k", "headers": {"x-trace": "1"}, '
        '"caller": ["agent", ["a", "b"]], "tool": "circumstances", "store": null, "late": null}'
    )
    assert message.response_metadata["ignored_args"] == ["user"]


async def test_what_the_tool_says_meanwhile_comes_out_in_the_server(
    answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    """Log lines and Python's warnings go through the server's log, progress and parts to the listeners."""
    heard: list[tuple[str, str, Mapping[str, Any]]] = []

    def listen(kind: str, call_id: str, said: Mapping[str, Any]) -> None:
        heard.append((kind, call_id, said))

    beside: Any = {"state": {"user": "Ada"}, "context": {"tenant": "acme"}, "listener": listen}
    await answer(circumstances, secrets={"API_KEY": "k"}, **beside)
    await answer(aparts, listener=listen)

    assert ("sidecall.tool", logging.WARNING, "[circumstances call_1] looking around") in caplog.record_tuples
    assert any(name == "py.warnings" and "that road is old" in text for name, _, text in caplog.record_tuples)
    assert heard == [
        ("progress", "call_1", {"done": 1, "total": 2, "message": "half"}),
        ("partial", "call_1", {"content": 1}),
        ("partial", "call_1", {"content": 2}),
    ]


async def test_the_traceback_stands_in_the_servers_log(answer: Answer, caplog: pytest.LogCaptureFixture) -> None:
    """With the tool's own lines, and the class and text of its exception."""
    await answer(raising, {"name": "own"})

    assert "process_tools.py" in caplog.text
    assert "Unlucky: bad luck" in caplog.text


async def test_calls_wait_in_order_for_a_process(tmp_path: Path) -> None:
    """As many run as there are processes."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    one = ProcessExecutor(1, TOOLS_OF)
    answer = answering(one)
    first = asyncio.ensure_future(answer(hold, {"fifo": str(fifo)}))
    write = await asyncio.to_thread(open, fifo, "w")
    second = asyncio.ensure_future(answer(later, {"number": 2}))
    await asyncio.sleep(0)
    full = one.occupancy
    await asyncio.to_thread(write.write, "done")
    write.close()
    messages = [await first, await second]
    empty = one.occupancy
    await one.close()

    assert full == Occupancy(size=1, busy=1, waiting=1)
    assert [message.content for message in messages] == ["done", "2"]
    assert empty == Occupancy(size=1)


def test_any_event_loop_may_call() -> None:
    """A process belongs to none of them."""
    two = ProcessExecutor(2, TOOLS_OF)
    contents: list[Any] = []

    async def call(number: int) -> None:
        contents.append((await answering(two)(later, {"number": number})).content)

    threads = [threading.Thread(target=asyncio.run, args=(call(number),)) for number in (1, 2, 3)]
    _ = [thread.start() for thread in threads]
    _ = [thread.join() for thread in threads]
    asyncio.run(two.close())

    assert sorted(contents) == ["1", "2", "3"]


async def test_a_tool_that_was_loaded_again_runs_its_new_code(tmp_path: Path) -> None:
    """Processes that hold the old one are replaced."""
    file = tmp_path / "changing.py"
    one = ProcessExecutor(1, TOOLS_OF)
    file.write_text(TOOL.format(1))
    before = await answering(one)(discover([str(file)])[0])
    file.write_text(TOOL.format(2))
    with load_afresh([tmp_path]):
        after = await answering(one)(discover([str(file)])[0])
    await one.close()

    assert (before.content, after.content) == ("1", "2")


async def test_a_tool_is_found_where_the_server_has_found_it(tmp_path: Path) -> None:
    """Its function stands in a module that does not offer it."""
    (tmp_path / "offering.py").write_text(OFFER)
    (found,) = discover([str(tmp_path / "offering.py")])
    one = ProcessExecutor(1, TOOLS_OF)
    await one.start([found])
    message = await answering(one)(found, {"text": "a  b"})
    await one.close()

    assert message.content == "a b"


@pytest.mark.parametrize(
    ("unfit", "reason"),
    [
        (
            make_hidden(),
            "neither the module tests.features.processes.process_tools nor any of the server's places offers "
            "a tool of this name.",
        ),
    ],
    ids=["closure"],
)
async def test_a_tool_that_cannot_run_in_a_process_is_refused_at_the_start(unfit: Any, reason: str) -> None:
    """The message says which, and why."""
    one = ProcessExecutor(1, TOOLS_OF)
    with pytest.raises(InvalidToolOption) as caught:
        await one.start([later.compiled, unfit.compiled])
    await one.close()

    assert caught.value.message.endswith(f"tool {unfit.name!r} cannot have executor='process': {reason}")


async def test_without_tools_nothing_is_started() -> None:
    """Who has none in processes pays for none."""
    executor = ProcessExecutor(4, TOOLS_OF)
    await executor.start([])

    assert executor.occupancy == Occupancy(size=4)
    assert executor.fork_server_pid is None


async def test_a_start_that_is_given_up_keeps_no_process(tmp_path: Path) -> None:
    """Not even those that it already had."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    two = ProcessExecutor(2, TOOLS_OF)
    call = asyncio.ensure_future(answering(two)(hold, {"fifo": str(fifo)}))
    with await asyncio.to_thread(open, fifo, "w"):
        start = asyncio.ensure_future(two.start([hold.compiled]))
        await asyncio.sleep(0)
        start.cancel()
        with pytest.raises(asyncio.CancelledError):
            await start
        await asyncio.sleep(0)
        meanwhile = two.occupancy
    await call
    await two.close()

    assert meanwhile == Occupancy(size=2, busy=1)


async def test_a_closed_executor_takes_no_calls() -> None:
    """The server is stopping."""
    executor = ProcessExecutor(1, TOOLS_OF)
    await executor.start([later.compiled])
    await executor.close()

    message = await answering(executor)(later, {"number": 1})

    assert message.response_metadata["error"]["kind"] == "execution_error"


async def test_a_tool_is_called_in_a_process_without_a_server() -> None:
    """`ainvoke` and `invoke` start one, and end it."""
    assert await later.ainvoke({"number": 3}) == 3
    assert (await asyncio.to_thread(pid.invoke, {})) != os.getpid()


def test_a_registry_knows_nothing_of_processes() -> None:
    """A tool is refused where it is to run, not where it is offered."""
    assert Registry([make_hidden(), leave]).names == ["hidden", "leave"]


async def test_a_call_has_context_variables_of_its_own() -> None:
    """The next one in its process does not find what it has set."""
    one = ProcessExecutor(1, TOOLS_OF)
    answer = answering(one)
    said = [(await answer(succeed, {"name": name})).content for name in ("ada", "bo")]
    await one.close()

    assert said == ["nobody", "nobody"]


async def test_the_time_that_is_left_counts_from_the_arrival_of_the_call() -> None:
    """Not from when there was a process for it."""
    one = ProcessExecutor(1, TOOLS_OF)
    answer = answering(one)
    await answer(linger)
    deadline = allow_seconds(20.0)
    first = asyncio.create_task(answer(linger, {"seconds": 0.3}))
    await asyncio.sleep(0.05)
    second = await answer(linger, deadline=deadline)
    await first
    left = deadline.moment - time.monotonic()
    await one.close()

    # The first call took 0.3 of the twenty seconds, and nobody knows how much the machine takes.
    assert left <= float(str(second.content)) <= 19.7
