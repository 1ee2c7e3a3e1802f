"""Tools run in threads of our own, and never block the event loop."""

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator

import pytest

from sidecall import Registry, ToolCall, tool
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.executors.thread_pool import ThreadExecutor
from sidecall.kernel.pipeline.execution.execute import Execute
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.pipeline.stages import kernel_stages
from tests.kit.pipelines import run_all

TENANT: contextvars.ContextVar[str] = contextvars.ContextVar("TENANT", default="nobody")


async def test_a_sync_tool_runs_in_a_named_thread() -> None:
    """An operator finds it in a stack dump."""

    @tool
    def where() -> str:
        """Say where."""
        return threading.current_thread().name

    assert (await where.ainvoke({})).startswith("sidecall-tool")


async def test_a_thread_sees_the_context_variables_of_the_call() -> None:
    """And what it changes stays there."""

    @tool
    def who() -> str:
        """Say who, and become somebody else."""
        before = TENANT.get()
        TENANT.set("changed")
        return before

    TENANT.set("acme")

    assert await who.ainvoke({}) == "acme"
    assert TENANT.get() == "acme"


async def test_an_async_tool_in_a_thread_has_a_loop_of_its_own() -> None:
    """Where it may block as long as it likes."""
    server = asyncio.get_running_loop()
    came = asyncio.Event()

    @tool(executor="thread")
    async def answer() -> tuple[str, bool]:
        """Hold the loop until another one has run."""
        asyncio.run_coroutine_threadsafe(_set(came), server).result(20)
        await asyncio.sleep(0)
        return threading.current_thread().name.partition("_")[0], asyncio.get_running_loop() is server

    assert await answer.ainvoke({}) == ("sidecall-tool", False)
    assert came.is_set()


async def _set(event: asyncio.Event) -> None:
    event.set()


async def test_an_async_generator_in_a_thread_is_drained_there() -> None:
    """Its parts become one text, as on the event loop."""

    @tool(executor="thread")
    async def words() -> AsyncIterator[str]:
        """Say words."""
        for word in ("a", "b"):
            await asyncio.sleep(0)
            yield word + threading.current_thread().name[:8]

    assert await words.ainvoke({}) == "asidecallbsidecall"


async def test_an_async_tool_in_a_thread_is_cancelled_at_its_deadline() -> None:
    """And gives the thread back, which a sync one cannot be made to."""
    ended = threading.Semaphore(0)

    @tool(executor="thread", timeout=2)
    async def hang() -> None:
        """Wait for ever."""
        try:
            await asyncio.sleep(60)
        finally:
            ended.release()

    threads = ThreadExecutor(1)
    pipeline = Pipeline(Registry([hang.compiled]), kernel_stages(Execute({"thread": threads})))
    messages = [await pipeline.run(CallRequest(ToolCall(name="hang", args={}, id="1"))) for _ in range(2)]
    await threads.close()

    assert [message.content for message in messages] == ["Error: hang timed out after 2 seconds."] * 2
    assert ended.acquire(timeout=50)
    assert ended.acquire(timeout=50)


async def test_the_loop_runs_on_while_a_thread_works() -> None:
    """The tool waits for something that only the loop can do."""
    loop, release = asyncio.get_running_loop(), threading.Event()

    @tool
    def work() -> bool:
        """Wait for the loop."""
        loop.call_soon_threadsafe(release.set)
        return release.wait(20)

    assert await work.ainvoke({}) is True


async def test_a_call_past_its_deadline_is_answered_and_keeps_its_thread() -> None:
    """Threads cannot be stopped; a pool that lent them out again would grow without bound."""
    release, calls = threading.Event(), []

    @tool(timeout=0.2)
    def stuck(number: int) -> None:
        """Wait until released."""
        calls.append(number)
        release.wait(20)

    threads = ThreadExecutor(1)
    pipeline = Pipeline(Registry([stuck.compiled]), kernel_stages(Execute({"thread": threads})))
    first = await pipeline.run(CallRequest(ToolCall(name="stuck", args={"number": 1}, id="1")))
    second = await pipeline.run(CallRequest(ToolCall(name="stuck", args={"number": 2}, id="2")))
    release.set()
    await threads.close()

    assert first.content == "Error: stuck timed out after 0.2 seconds."
    assert second.content == "Error: stuck timed out after 0.2 seconds."
    assert calls == [1]


async def test_nothing_starts_on_a_closed_executor() -> None:
    """The server is stopping."""

    @tool
    def work() -> str:
        """Work."""
        return "done"

    threads = ThreadExecutor(1)
    pipeline = Pipeline(Registry([work.compiled]), kernel_stages(Execute({"thread": threads})))
    await threads.close()

    message = await pipeline.run(CallRequest(ToolCall(name="work", args={}, id="1")))

    assert message.response_metadata["error"]["kind"] == "execution_error"


@pytest.mark.parametrize("number", [1, 2])
async def test_calls_run_side_by_side_as_far_as_there_are_threads(number: int) -> None:
    """Each of them waits for all of them."""
    meeting = threading.Barrier(number)

    @tool
    def meet() -> bool:
        """Meet the others."""
        return meeting.wait(20) >= 0

    threads = ThreadExecutor(number)
    pipeline = Pipeline(Registry([meet.compiled]), kernel_stages(Execute({"thread": threads})))
    messages = await run_all(pipeline, [CallRequest(ToolCall(name="meet", args={}, id=str(i))) for i in range(number)])
    await threads.close()

    assert [message.content for message in messages] == ["true"] * number
