"""No executor asks a tool for more of a large result than there is room for."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from sidecall import tool
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.result_memory import ResultMemory, ResultReservation
from sidecall.kernel.core.services import CallServices
from sidecall.kernel.executors.base import Executor
from sidecall.kernel.executors.thread_pool import ThreadExecutor
from tests.kit.calls import write_request
from tests.kit.pipelines import make_pipeline

KIB = 1024
PART, COUNT = 10 * KIB, 100
ROOM = 200 * KIB
WHOLE = "x" * PART * COUNT


class Yielding:
    """Tools that yield a large text, and how many parts have been asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def _parts(self) -> Iterator[str]:
        for _ in range(COUNT):
            self.asked += 1
            yield "x" * PART

    def inline(self) -> Any:
        """Make an async generator."""

        @tool
        async def parts() -> AsyncIterator[str]:
            """Yield."""
            for part in self._parts():
                yield part

        return parts

    def inline_sync(self) -> Any:
        """Make a generator on the event loop."""

        @tool(executor="inline")
        def parts() -> Iterator[str]:
            """Yield."""
            return self._parts()

        return parts

    def thread(self) -> Any:
        """Make a generator in a thread."""

        @tool
        def parts() -> Iterator[str]:
            """Yield."""
            return self._parts()

        return parts

    def thread_async(self) -> Any:
        """Make an async generator in a thread."""

        @tool(executor="thread")
        async def parts() -> AsyncIterator[str]:
            """Yield."""
            for part in self._parts():
                yield part

        return parts


class Crowded:
    """A room that somebody else has filled, and is ahead of all others in."""

    def __init__(self) -> None:
        self.results = ResultMemory(ROOM)
        self.other: ResultReservation = self.results.open("other", "other")
        self.other.grow_to(ROOM + 1)

    async def call(self, offered: Any, executor: Executor | None = None) -> "asyncio.Future[ToolMessage]":
        """Call a tool, and return when it waits for room."""
        await self.other.wait()
        executors: Any = {} if executor is None else {offered.compiled.executor: executor}
        pipeline = make_pipeline([offered], executors, services=CallServices(results=self.results))
        answer = asyncio.ensure_future(pipeline.run(write_request(offered.name)))
        async with asyncio.timeout(60):
            while not self.results.waiting:  # noqa: ASYNC110 - from a thread, too
                await asyncio.sleep(0.005)
        return answer


def _make(threads: bool) -> Executor | None:
    return ThreadExecutor(2) if threads else None


@pytest.mark.parametrize(
    ("make", "in_thread"),
    [
        pytest.param(Yielding.inline, False, id="async generator"),
        pytest.param(Yielding.inline_sync, False, id="generator on the loop"),
        pytest.param(Yielding.thread, True, id="generator in a thread"),
        pytest.param(Yielding.thread_async, True, id="async generator in a thread"),
    ],
)
async def test_a_generator_is_asked_for_no_more_than_there_is_room_for(
    make: Callable[[Yielding], Any], in_thread: bool
) -> None:
    """It goes on when there is."""
    yielding, crowded = Yielding(), Crowded()
    answer = await crowded.call(make(yielding), _make(in_thread))
    asked = yielding.asked
    crowded.results.release("other")
    message = await answer

    assert asked == 7  # Of 10 KiB each, until 64 KiB are counted.
    assert (message.content, yielding.asked) == (WHOLE, COUNT)
    assert (crowded.results.used, crowded.results.shares) == (0, {})


async def test_a_call_that_is_given_up_while_it_waits_is_forgotten() -> None:
    """Its thread is free again."""
    yielding, crowded, executor = Yielding(), Crowded(), ThreadExecutor(1)
    answer = await crowded.call(yielding.thread(), executor)
    answer.cancel()
    await asyncio.gather(answer, return_exceptions=True)
    async with asyncio.timeout(60):
        while executor.occupancy.busy:  # noqa: ASYNC110 - a thread ends it
            await asyncio.sleep(0.005)

    assert (crowded.results.waiting, [*crowded.results.shares]) == (0, ["other"])
    assert yielding.asked < 10


async def test_a_tool_of_large_results_waits_before_it_runs() -> None:
    """Others do not."""
    ran = threading.Event()

    @tool
    async def draw() -> str:
        """Draw."""
        ran.set()
        return "drawn"

    @tool
    async def note() -> str:
        """Note."""
        return "noted"

    crowded = Crowded()
    crowded.results.large["draw"] = ROOM
    pipeline = make_pipeline([note], services=CallServices(results=crowded.results))
    answer = await crowded.call(draw)
    noted = await pipeline.run(write_request("note"))
    has_run = ran.is_set()
    crowded.results.release("other")

    assert (noted.content, has_run, (await answer).content) == ("noted", False, "drawn")
