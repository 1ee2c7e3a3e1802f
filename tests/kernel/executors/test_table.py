"""All kinds of executors stand in one table."""

from typing import Any, get_args

from sidecall.kernel.core.options import AuthoredExecutor
from sidecall.kernel.executors.base import Occupancy
from sidecall.kernel.executors.table import EXECUTORS, ExecutorSettings, build_all, close_all, start_all
from sidecall.loading.collect import TOOLS_OF
from tests.kernel.executors.conftest import answering
from tests.kernel.executors.process.process_tools import later, pid


def test_every_name_that_a_tool_may_give_stands_in_the_table() -> None:
    """But for those of features."""
    assert (*EXECUTORS, "sandbox") == get_args(AuthoredExecutor)


def test_each_is_made_as_the_settings_say() -> None:
    """Without any there is room for one call."""
    settings = ExecutorSettings(tools_of=TOOLS_OF, threads=3, processes=2)

    assert {name: executor.occupancy for name, executor in build_all(settings).items()} == {
        "inline": Occupancy(),
        "thread": Occupancy(size=3),
        "process": Occupancy(size=2),
    }
    assert EXECUTORS["process"](ExecutorSettings(tools_of=TOOLS_OF)).occupancy == Occupancy(size=1)


async def test_each_is_started_with_its_own_tools_and_all_are_closed() -> None:
    """Nobody else loads them, and nobody runs one afterwards."""
    executors: Any = build_all(ExecutorSettings(tools_of=TOOLS_OF))
    await start_all(executors, [later.compiled])
    before = executors["process"].made.fork_server_pid
    answer = answering(executors["process"])
    during = await answer(pid)
    await close_all(executors)
    after = await answer(pid)

    assert before is not None
    assert during.status == "success"
    assert after.response_metadata["error"]["kind"] == "execution_error"
