"""Calls wait a moment for a slot that becomes free, in their order, before they are put into the stream."""

import asyncio

import pytest

from sidecall.features.fleet.remote_calls import RemoteCall
from sidecall.features.fleet.waiting_calls import WaitingCalls
from sidecall.kernel.core.invocation import new_invocation
from tests.kit.calls import write_request
from tests.kit.tools import add, ping

pytestmark = pytest.mark.virtual_time


class _Worker:
    """Has so many free slots, for the tools that it has."""

    def __init__(self, *tools: str) -> None:
        """Be busy."""
        self.free, self.tools = 0, tools
        self.given: list[str] = []

    def give(self, call: RemoteCall) -> bool:
        """Take a call if there is a free slot."""
        if not self.free or call.invocation.tool.name not in self.tools:
            return False
        self.free -= 1
        self.given.append(call.invocation.call.id)
        return True


def _call(name: str, tool: str = "ping") -> RemoteCall:
    compiled = {"ping": ping, "add": add}[tool].compiled
    return RemoteCall(new_invocation(write_request(tool, id=name), compiled, None))


async def _line_up(lines: WaitingCalls, *calls: RemoteCall) -> list["asyncio.Task[bool]"]:
    tasks = [asyncio.create_task(lines.wait(call, 60)) for call in calls]
    await asyncio.sleep(0)
    return tasks


@pytest.mark.parametrize(
    ("tools", "free", "given"),
    [
        (("ping", "add"), 1, ["1"]),
        (("ping", "add"), 2, ["1", "2"]),
        (("ping", "add"), 4, ["1", "2", "3"]),
        (("add",), 4, ["2"]),
        (("ping",), 4, ["1", "3"]),
        ((), 4, []),
    ],
)
async def test_what_has_waited_for_longest_is_given_first(tools: tuple[str, ...], free: int, given: list[str]) -> None:
    """To a worker that has the tool; no tool waits for a worker of another."""
    worker = _Worker(*tools)
    lines = WaitingCalls(worker.give)
    tasks = await _line_up(lines, _call("1"), _call("2", "add"), _call("3"))
    worker.free = free
    lines.move()
    assert worker.given == given
    assert [task.result() for task in await _finish(tasks)] == [name in given for name in ("1", "2", "3")]
    assert not lines.has(_call("4"))


async def test_who_leaves_the_line_is_given_to_no_worker() -> None:
    """The next one is."""
    worker = _Worker("ping")
    lines = WaitingCalls(worker.give)
    tasks = await _line_up(lines, _call("1"), _call("2"))
    tasks[0].cancel()
    worker.free = 1
    lines.move()
    assert lines.has(_call("3"))
    assert [task.cancelled() for task in await _finish(tasks)] == [True, False]
    assert worker.given == ["2"]


async def _finish(tasks: list["asyncio.Task[bool]"]) -> list["asyncio.Task[bool]"]:
    await asyncio.wait(tasks)
    return tasks
