"""A tool's timeout holds on the loops that servers use, no matter what the tool does."""

import asyncio
import gc
import logging
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any

import anyio
import pytest

from sidecall import Retry, StructuredTool, ToolAnnotations, ToolContext, tool
from tests.kernel.pipeline.stubborn import WAYS, Work, cleans_up_slowly, swallows
from tests.kit.calls import run

# Seconds after which a tool that is still waited for is let go, so that the tests do not hang.
_PATIENCE = 60.0


@pytest.fixture(scope="module", params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    """Run each test on Python's loop and on the one that servers run on."""
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture
async def until() -> asyncio.Event:
    """Give what stubborn tools wait for."""
    event = asyncio.Event()
    asyncio.get_running_loop().call_later(_PATIENCE, event.set)
    return event


async def groups_tasks_of_anyio(until: asyncio.Event) -> None:
    """Wait for the tasks of another library's group."""
    async with anyio.create_task_group() as group:
        group.start_soon(swallows, until)


def working(way: Work, until: asyncio.Event) -> StructuredTool:
    """Make a tool that works in this way."""

    async def work() -> Any:
        return await way(until)

    return tool("work", description="Work.", timeout=0.01)(work)


@pytest.mark.parametrize("way", [*WAYS, groups_tasks_of_anyio])
async def test_a_timeout_is_answered_while_the_tool_still_works(until: asyncio.Event, way: Work) -> None:
    """Nobody waits until a stubborn tool is done."""
    message = await run(working(way, until))
    is_in_time = not until.is_set()
    until.set()

    assert message.content == "Error: work timed out after 0.01 seconds."
    assert message.response_metadata["error"]["kind"] == "timeout"
    assert is_in_time


Limited = Callable[[Callable[[Callable[[], object]], Awaitable[Any]]], Awaitable[Any]]


async def _limited_by_anyio(work: Callable[[Callable[[], object]], Awaitable[Any]]) -> None:
    """Work within a time limit of anyio's, which passes when the work says so."""
    with anyio.CancelScope() as scope:
        await work(scope.cancel)


async def _limited(work: Callable[[Callable[[], object]], Awaitable[Any]]) -> None:
    """Work within a time limit of asyncio's, which passes when the work says so."""
    async with asyncio.timeout(None) as limit:
        await work(lambda: limit.reschedule(0))


@pytest.mark.parametrize("limited", [_limited_by_anyio, _limited])
async def test_a_tool_that_is_left_behind_does_not_cancel_its_caller(until: asyncio.Event, limited: Limited) -> None:
    """An agent in the same process has gone on to other things when the tool's own time limit passes."""
    passes: list[Callable[[], object]] = []

    def work(expire: Callable[[], object]) -> Awaitable[str]:
        passes.append(expire)
        return swallows(until)

    async def agent() -> str:
        message = await run(working(lambda _: limited(work), until))
        passes[0]()
        for _ in range(9):
            await asyncio.sleep(0)
        kind: str = message.response_metadata["error"]["kind"]
        return kind

    task = asyncio.ensure_future(agent())
    await asyncio.wait({task})
    until.set()

    assert (task.cancelled(), task.cancelled() or task.result()) == (False, "timeout")


@pytest.mark.parametrize("limited", [_limited_by_anyio, _limited])
async def test_a_time_limit_of_the_tool_that_passes_after_its_deadline_cancels_nobody(
    until: asyncio.Event, limited: Limited
) -> None:
    """It passes while the tool, which takes no notice of either, still has time to clean up."""

    async def work(expire: Callable[[], object]) -> None:
        with suppress(asyncio.CancelledError):
            await until.wait()
        asyncio.get_running_loop().call_soon(expire)
        await swallows(until)

    task = asyncio.ensure_future(run(working(lambda _: limited(work), until)))
    await asyncio.wait({task})
    until.set()

    assert not task.cancelled()
    assert task.result().response_metadata["error"]["kind"] == "timeout"


@pytest.mark.parametrize("error", [ValueError, SystemExit])
def test_a_tool_that_is_left_behind_may_fail(caplog: pytest.LogCaptureFixture, error: type[BaseException]) -> None:
    """In any way; it does not end the server, and nobody is told of what the call was not answered with."""
    seen: list[str] = []
    complaints: list[str] = []

    async def agent() -> None:
        until = asyncio.Event()
        # This loop's alone: the log also has what the garbage of other tests' loops complains of, whenever it goes.
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context["message"]))

        async def fail(until: asyncio.Event) -> None:
            await swallows(until)
            raise error

        message = await run(working(fail, until))
        until.set()
        await asyncio.sleep(0.01)
        seen.append(message.response_metadata["error"]["kind"])

    with caplog.at_level(logging.ERROR, "sidecall"):
        asyncio.run(agent())
        gc.collect()
    logged = [record.getMessage() for record in caplog.records if record.name == "sidecall"]

    assert (seen, complaints, logged) == (["timeout"], [], [])


@pytest.mark.parametrize("way", [swallows, cleans_up_slowly])
async def test_a_tool_that_is_left_behind_goes_on(until: asyncio.Event, way: Work) -> None:
    """What it has begun, it ends."""
    ended = asyncio.Event()

    async def work(until: asyncio.Event) -> None:
        try:
            await way(until)
        finally:
            ended.set()

    await run(working(work, until))
    until.set()

    assert await ended.wait()


async def test_a_tool_that_is_left_behind_is_not_tried_again(until: asyncio.Event) -> None:
    """Attempts are made within the deadline, however the tool takes being stopped."""
    begun: list[int] = []

    @tool("work", timeout=0.01, retry=Retry(attempts=9, wait=0), annotations=ToolAnnotations(idempotent=True))
    async def work() -> None:
        """Work."""
        begun.append(1)
        try:
            await until.wait()
        except asyncio.CancelledError:
            raise ConnectionError("lost") from None

    message = await run(work)
    until.set()
    await asyncio.sleep(0)

    assert message.response_metadata["error"]["kind"] == "timeout"
    assert (message.response_metadata["attempts"], len(begun)) == (1, 1)


async def test_a_sync_tool_sees_that_its_time_is_up() -> None:
    """It cannot be stopped, but it can ask, and leaves its thread."""
    seen = threading.Event()

    @tool(timeout=0.05)
    def look(context: ToolContext) -> None:
        """Look until nobody waits."""
        while not context.cancelled:
            threading.Event().wait(0.005)
        seen.set()

    message = await run(look)

    assert message.response_metadata["error"]["kind"] == "timeout"
    assert await asyncio.to_thread(seen.wait, 20)


async def test_a_generator_makes_no_more_parts_once_its_time_is_up() -> None:
    """Its clean-up runs, and its thread is free."""
    cleaned_up = threading.Event()

    @tool(timeout=0.05)
    def count() -> Iterator[int]:
        """Count for ever."""
        try:
            while True:
                yield 1
                threading.Event().wait(0.005)
        finally:
            cleaned_up.set()

    message = await run(count)

    assert message.response_metadata["error"]["kind"] == "timeout"
    assert await asyncio.to_thread(cleaned_up.wait, 20)


async def test_a_sync_tool_sees_that_its_call_was_cancelled() -> None:
    """No matter what cancels it: a stream whose reader has gone has no other way to say so."""
    began, seen = threading.Event(), threading.Event()

    @tool(timeout=60)
    def look(context: ToolContext) -> None:
        """Look until nobody waits."""
        began.set()
        while not context.cancelled:
            threading.Event().wait(0.005)
        seen.set()

    call = asyncio.ensure_future(run(look))
    await asyncio.to_thread(began.wait, 20)
    call.cancel()
    await asyncio.wait([call])

    assert await asyncio.to_thread(seen.wait, 20)
