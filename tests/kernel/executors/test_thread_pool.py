"""Threads are few, are taken in order, and never outlive the process."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from sidecall import tool
from sidecall.kernel.core.context import Caller
from sidecall.kernel.executors.base import Occupancy
from sidecall.kernel.executors.thread_pool import ThreadExecutor
from tests.kernel.executors.conftest import answering


async def test_threads_are_started_when_they_are_needed() -> None:
    """A caller who comes back finds the thread of before."""
    names: list[str] = []

    @tool
    def where() -> None:
        """Say where."""
        names.append(threading.current_thread().name)

    threads = ThreadExecutor(8)
    idle = threads.occupancy
    answer = answering(threads)
    _ = [await answer(where) for _ in range(20)]
    await threads.close()

    assert idle == Occupancy(size=8)
    assert set(names) == {"sidecall-tool_0"}


async def test_it_says_how_full_it_is() -> None:
    """One runs for a caller who has left, two run, one waits."""
    entered, release, meeting = threading.Semaphore(0), threading.Event(), threading.Barrier(3)

    @tool
    def work() -> bool:
        """Wait until released."""
        entered.release()
        return release.wait(20)

    @tool
    def meet() -> int:
        """Meet the others."""
        return meeting.wait(20)

    threads = ThreadExecutor(3)
    answer = answering(threads)
    calls = [asyncio.ensure_future(answer(work)) for _ in range(4)]
    _ = [await asyncio.to_thread(entered.acquire) for _ in range(3)]
    calls[0].cancel()
    with pytest.raises(asyncio.CancelledError):
        await calls[0]
    full = threads.occupancy
    release.set()
    messages = await asyncio.gather(*calls[1:])
    await asyncio.gather(*(answer(meet) for _ in range(3)))  # once all threads are free
    empty = threads.occupancy
    await threads.close()

    assert full == Occupancy(size=3, busy=3, waiting=1)
    assert [message.content for message in messages] == ["true", "true", "true"]
    assert empty == Occupancy(size=3)


async def test_a_call_that_is_given_up_while_it_waits_never_runs() -> None:
    """Nobody is left to use its result, and the next in line is not held up."""
    entered, release = threading.Event(), threading.Event()
    ran: list[int] = []

    @tool
    def work(number: int) -> None:
        """Wait until released."""
        ran.append(number)
        entered.set()
        release.wait(20)

    threads = ThreadExecutor(1)
    answer = answering(threads)
    calls = [asyncio.ensure_future(answer(work, {"number": number})) for number in (1, 2, 3)]
    await asyncio.to_thread(entered.wait, 20)
    calls[1].cancel()
    with pytest.raises(asyncio.CancelledError):
        await calls[1]
    release.set()
    await asyncio.gather(calls[0], calls[2])
    await threads.close()

    assert ran == [1, 3]


async def test_calls_wait_for_a_thread_that_there_is_when_the_system_gives_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only where there is no thread at all they fail, and later calls find one."""
    entered, release = threading.Event(), threading.Event()

    @tool
    def work() -> bool:
        """Wait until released."""
        entered.set()
        return release.wait(20)

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    threads = ThreadExecutor(4)
    answer = answering(threads)
    with monkeypatch.context() as limited:
        limited.setattr(threading.Thread, "start", refuse)
        refused = await answer(work)
    calls = [asyncio.ensure_future(answer(work))]
    await asyncio.to_thread(entered.wait, 20)
    with monkeypatch.context() as limited:
        limited.setattr(threading.Thread, "start", refuse)
        calls += [asyncio.ensure_future(answer(work)) for _ in range(3)]
        await asyncio.sleep(0)
        full = threads.occupancy
    release.set()
    messages = await asyncio.gather(*calls)
    await threads.close()

    assert refused.status == "error"
    assert full == Occupancy(size=4, busy=1, waiting=3)
    assert [message.content for message in messages] == ["true"] * 4


async def test_callers_take_turns_for_a_thread() -> None:
    """However many calls of one of them wait; each counts the time that it has waited."""
    entered, release = threading.Event(), threading.Event()
    ran: list[str] = []

    @tool
    def work(name: str) -> None:
        """Wait until released."""
        ran.append(name)
        entered.set()
        release.wait(20)

    threads = ThreadExecutor(1)
    answer = answering(threads)
    names = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"]
    calls = [asyncio.ensure_future(answer(work, {"name": name}, caller=Caller(name[0]))) for name in names]
    await asyncio.to_thread(entered.wait, 20)
    full = threads.occupancy
    calls[2].cancel()
    with pytest.raises(asyncio.CancelledError):
        await calls[2]
    fewer = threads.occupancy
    release.set()
    await asyncio.gather(*calls[:2], *calls[3:])
    await threads.close()

    assert (full.waiting, fewer.waiting, threads.occupancy.waiting) == (6, 5, 0)
    assert ran == ["a1", "a2", "b1", "c1", "a4", "b2"]


@pytest.mark.parametrize("kind", [StopIteration, SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError])
async def test_whatever_a_tool_raises_is_a_failed_call(kind: type[BaseException]) -> None:
    """And its thread takes the next one."""

    @tool
    def work(fails: bool) -> str:
        """Raise, or not."""
        if fails:
            raise kind
        return "done"

    threads = ThreadExecutor(1)
    answer = answering(threads)
    messages = [await answer(work, {"fails": True}), await answer(work, {"fails": False})]
    await threads.close()

    assert [message.status for message in messages] == ["error", "success"]


async def test_closing_fails_those_who_wait() -> None:
    """What runs is left to end, and is answered."""
    entered, release = threading.Event(), threading.Event()

    @tool
    def work() -> bool:
        """Wait until released."""
        entered.set()
        return release.wait(20)

    threads = ThreadExecutor(1)
    answer = answering(threads)
    calls = [asyncio.ensure_future(answer(work)) for _ in range(2)]
    await asyncio.to_thread(entered.wait, 20)
    await threads.close()
    release.set()
    messages = await asyncio.gather(*calls)

    assert [message.status for message in messages] == ["success", "error"]
    assert threads.occupancy.waiting == 0


def test_any_event_loop_may_call() -> None:
    """One executor serves all of a process."""
    meeting = threading.Barrier(3)
    contents: list[object] = []

    @tool
    def meet() -> bool:
        """Meet the others."""
        return meeting.wait(20) >= 0

    executor = ThreadExecutor(3)

    async def call() -> None:
        contents.append((await answering(executor)(meet)).content)

    loops = [threading.Thread(target=asyncio.run, args=(call(),)) for _ in range(3)]
    _ = [loop.start() for loop in loops]
    _ = [loop.join() for loop in loops]

    assert contents == ["true", "true", "true"]


async def test_the_parts_of_a_generator_are_said_as_they_come() -> None:
    """To the listeners, from the thread."""
    heard: list[object] = []

    @tool
    def words() -> Iterator[str]:
        """Yield the parts of a text."""
        yield "one "
        yield "two"

    threads = ThreadExecutor(1)
    message = await answering(threads)(words, listener=lambda kind, _, said: heard.append((kind, said["content"])))
    await threads.close()

    assert message.content == "one two"
    assert heard == [("partial", "one "), ("partial", "two")]


STUCK = """
import asyncio, threading
from sidecall import tool
from sidecall.kernel.core.context import Caller

@tool(timeout=0.1)
def stuck() -> None:
    "Wait for ever."
    threading.Event().wait()

print(stuck.invoke({"type": "tool_call", "name": "stuck", "args": {}, "id": "1"}).content)
"""


def test_a_stuck_thread_does_not_keep_the_process_from_ending() -> None:
    """The pool of the standard library would wait for it for ever."""
    done = subprocess.run([sys.executable, "-c", STUCK], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout == "Error: stuck timed out after 0.1 seconds.\n"
