"""What a tool leaves behind may cancel its task, and changes nothing of what has become of its call."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from sidecall import tool
from sidecall.features.telemetry.calls import CallTelemetry
from sidecall.features.telemetry.metrics import Metrics
from sidecall.kernel.core.callbacks import AsyncCallbackHandler
from sidecall.storage.database import Database
from tests.features.jobs.servers import Server, make_server
from tests.kit.waiting import until

LEFT: Counter[str] = Counter()


class Slow(AsyncCallbackHandler):
    """Never ends."""

    async def on_tool_end(self, output: Any, **_: Any) -> None:
        """Note what it heard, and wait."""
        LEFT[str(output)] += 1
        await asyncio.Event().wait()


def leave() -> None:
    """Leave a timer behind, as libraries do that have timeouts of their own."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().call_later(0.05, cancel, task)


def cancel(task: "asyncio.Task[Any]") -> None:
    """Cancel a task."""
    task.cancel()
    LEFT["timers"] += 1


@tool
async def work() -> str:
    """Leave a timer behind."""
    leave()
    return "done"


@tool(callbacks=[Slow()])
async def work_heard() -> str:
    """Leave a timer behind, while somebody hears of the end."""
    leave()
    return "done"


@pytest.fixture
async def server(database: Database) -> AsyncIterator[Server]:
    """Give a server."""
    made = make_server(database, (work, work_heard), observer=CallTelemetry(Metrics()))
    await made.jobs.open()
    yield made
    await made.jobs.close()


async def test_an_end_is_written_down_all_the_same(server: Server) -> None:
    """However long that takes."""
    gate = server.database.shut("finish_call")
    LEFT.clear()
    entry = await server.submit("work")
    await server.database.meet("finish_call")
    await until(lambda: LEFT["timers"] == 1)
    gate.set()

    ended = await server.jobs.wait(entry, 20)

    assert (ended.status, ended.message and ended.message.content) == ("succeeded", "done")


async def test_a_server_goes_on_to_run_calls(server: Server) -> None:
    """Though the timer came before all of the call was done, whose outcome is unknown then."""
    entry = await server.submit("work_heard")
    assert (await server.jobs.wait(entry, 20)).status == "outcome_unknown"

    assert (await server.jobs.wait(await server.submit("work"), 20)).status == "succeeded"
