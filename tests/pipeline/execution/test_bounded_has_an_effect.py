"""A deadline tells the tool that nobody waits any more."""

import asyncio
import threading
from collections.abc import Iterator

from sidecall import ToolContext, tool
from tests.kit.calls import run


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
    """Whoever cancels it: a stream whose reader has gone has no other way to say so."""
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
