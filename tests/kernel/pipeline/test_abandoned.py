"""A call that is answered although its tool runs on keeps its tool's place until that has ended."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from sidecall import Registry, ToolMessage, tool
from sidecall.kernel.core.overload import Overloaded
from sidecall.kernel.core.services import CallServices
from sidecall.kernel.executors.base import Executor, InlineExecutor
from sidecall.kernel.executors.thread_pool import ThreadExecutor
from sidecall.kernel.pipeline.admission import Admission, Limits
from sidecall.kernel.pipeline.execution.execute import Execute
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.pipeline.stages import kernel_stages
from tests.kit.calls import write_request

ONE_AT_A_TIME = pytest.mark.parametrize("options", [{"sequential": True}, {"max_concurrency": 1}], ids=str)
# Seconds after which what waits by mistake goes on, so that no test hangs.
_PATIENCE = 20


class Work:
    """Do work that takes no notice of its deadline, and ends when it is told to."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0
        self.begun = threading.Semaphore(0)
        self.go_on = threading.Event()
        self.go_on_too = asyncio.Event()

    def _enter(self) -> None:
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.begun.release()

    def in_thread(self) -> str:
        """Hold a thread."""
        self._enter()
        self.go_on.wait(_PATIENCE)
        self.inside -= 1
        return "done"

    async def on_loop(self) -> str:
        """Swallow cancellation."""
        self._enter()
        while not self.go_on_too.is_set():
            try:
                await self.go_on_too.wait()
            except asyncio.CancelledError:
                continue
        self.inside -= 1
        return "done"

    async def begins(self) -> None:
        """Wait until it has begun once more."""
        assert await asyncio.to_thread(self.begun.acquire, timeout=_PATIENCE)

    def end(self) -> None:
        """Let it end."""
        self.go_on.set()
        self.go_on_too.set()


@pytest.fixture
async def work() -> AsyncIterator[Work]:
    """Give work to do, and end it in any case."""
    work = Work()
    yield work
    work.end()


WAYS = pytest.mark.parametrize("way", [Work.in_thread, Work.on_loop], ids=["thread", "loop"])
Way = Callable[[Work], Any]


class Server:
    """Run one tool, and one that is quick."""

    def __init__(self, offered: Any, **limits: Any) -> None:
        self.threads = ThreadExecutor(4)
        executors: dict[Any, Executor] = {"inline": InlineExecutor(), "thread": self.threads}
        self.admission = Admission(Limits(**{"queue_timeout": 20.0, **limits}))
        quick = tool("quick", description="Answer.", executor="inline")(lambda: "at once")
        self.pipeline = Pipeline(
            Registry([offered, quick]),
            kernel_stages(Execute(executors)),
            services=CallServices(abandon=self.admission.abandon),
            admission=self.admission,
        )

    async def call(self, name: str = "work") -> ToolMessage:
        """Answer a call."""
        return await self.pipeline.run(write_request(name))

    def start(self) -> asyncio.Task[ToolMessage]:
        """Answer one beside the test."""
        return asyncio.ensure_future(self.call())


def _offered(way: Way, work: Work, **options: Any) -> Any:
    return tool("work", description="Work.", **options)(way.__get__(work))


@WAYS
@ONE_AT_A_TIME
async def test_the_next_call_waits_for_what_runs_on(work: Work, way: Way, options: dict[str, Any]) -> None:
    """The caller of the first is answered in time; nothing ever overlaps."""
    server = Server(_offered(way, work, timeout=0.2, **options))

    first = await server.call()
    second = server.start()
    await asyncio.sleep(0)
    waiting = server.admission.waiting
    work.end()
    message = await second

    assert first.response_metadata["error"]["kind"] == "timeout"
    assert (waiting, work.most) == (1, 1)
    assert message.content == "done"


@WAYS
async def test_who_waits_for_what_runs_on_does_not_wait_for_ever(work: Work, way: Way) -> None:
    """It is sent away as from any queue."""
    server = Server(_offered(way, work, timeout=0.05, sequential=True), queue_timeout=0.05)

    await server.call()
    await work.begins()
    with pytest.raises(Overloaded):
        await server.call()

    assert work.most == 1


@WAYS
async def test_places_that_are_left_are_taken(work: Work, way: Way) -> None:
    """A tool that may run twice runs beside what runs on of its first call."""
    server = Server(_offered(way, work, timeout=0.2, max_concurrency=2))

    await server.call()
    await server.call()
    await work.begins()
    await work.begins()
    third = server.start()
    await asyncio.sleep(0)
    waiting = server.admission.waiting
    work.end()
    message = await third

    assert (waiting, work.most) == (1, 2)
    assert message.content == "done"


@WAYS
async def test_the_server_has_its_place_back(work: Work, way: Way) -> None:
    """Other tools are served while one runs on."""
    server = Server(_offered(way, work, timeout=0.05, sequential=True), concurrency=1, queue=0)

    await server.call()
    message = await server.call("quick")

    assert message.content == "at once"


async def test_a_thread_whose_caller_has_gone_keeps_its_place_too(work: Work) -> None:
    """It runs on all the same."""
    server = Server(_offered(Work.in_thread, work, sequential=True))

    first = server.start()
    await work.begins()
    first.cancel()
    await asyncio.wait([first])
    second = server.start()
    await asyncio.sleep(0)
    waiting = server.admission.waiting
    work.end()
    message = await second

    assert (first.cancelled(), waiting, work.most, message.content) == (True, 1, 1, "done")


@WAYS
async def test_what_runs_on_is_counted_until_it_ends(work: Work, way: Way) -> None:
    """By the kind of its executor."""
    server = Server(_offered(way, work, timeout=0.2, max_concurrency=1))

    await server.call()
    during = +server.admission.abandoned
    work.end()
    await server.call()

    assert during == {{Work.in_thread: "thread", Work.on_loop: "inline"}[way]: 1}
    assert +server.admission.abandoned == {}
