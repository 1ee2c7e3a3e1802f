"""Tools on the event loop share its thread."""

import threading

from sidecall import tool
from sidecall.kernel.executors.base import InlineExecutor, Occupancy
from tests.kernel.executors.conftest import answering


async def test_an_async_tool_runs_on_the_event_loop() -> None:
    """It can use what belongs to the loop."""
    here = threading.get_ident()

    @tool
    async def where() -> bool:
        """Say where."""
        return threading.get_ident() == here

    assert await where.ainvoke({}) is True


async def test_a_sync_tool_runs_there_if_its_author_says_so() -> None:
    """A promise that it is quick saves the hop to a thread."""
    here = threading.get_ident()

    @tool(executor="inline")
    def where() -> bool:
        """Say where."""
        return threading.get_ident() == here

    assert await where.ainvoke({}) is True


async def test_it_says_how_many_calls_run() -> None:
    """There is no bound to say."""
    executor = InlineExecutor()
    seen: list[Occupancy] = []

    @tool
    async def look() -> None:
        """Look around."""
        seen.append(executor.occupancy)

    await answering(executor)(look)

    assert seen == [Occupancy(size=None, busy=1)]
    assert executor.occupancy == Occupancy()
