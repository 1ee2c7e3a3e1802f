"""All kinds of executors of the kernel stand in one table."""

from typing import Any

from sidecall import tool
from sidecall.kernel.executors.base import Occupancy
from sidecall.kernel.executors.table import EXECUTORS, ExecutorSettings, build_all, close_all, start_all
from sidecall.loading.collect import TOOLS_OF
from tests.kernel.executors.conftest import answering


def test_each_is_made_as_the_settings_say() -> None:
    """Without any there is room for one call."""
    settings = ExecutorSettings(tools_of=TOOLS_OF, threads=3)

    assert {name: executor.occupancy for name, executor in build_all(settings).items()} == {
        "inline": Occupancy(),
        "thread": Occupancy(size=3),
    }
    assert EXECUTORS["thread"](ExecutorSettings(tools_of=TOOLS_OF)).occupancy == Occupancy(size=1)


@tool
def work() -> str:
    """Work in a thread."""
    return "done"


async def test_all_are_started_and_closed() -> None:
    """Nobody runs a tool in a thread afterwards."""
    executors: Any = build_all(ExecutorSettings(tools_of=TOOLS_OF))
    await start_all(executors, [work.compiled])
    answer = answering(executors["thread"])
    during = await answer(work)
    await close_all(executors)
    after = await answer(work)

    assert during.content == "done"
    assert after.response_metadata["error"]["kind"] == "execution_error"
