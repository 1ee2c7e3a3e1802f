"""Processes start with the first tool that runs in one, and end with the server."""

from typing import Any, get_args

from sidecall.composition.local_pipeline import EXECUTORS as MORE
from sidecall.features.processes.feature import make_process_executor
from sidecall.kernel.core.options import AuthoredExecutor
from sidecall.kernel.executors.base import Occupancy
from sidecall.kernel.executors.table import EXECUTORS, ExecutorSettings, close_all, start_all
from sidecall.loading.collect import TOOLS_OF
from tests.features.processes.process_tools import later, pid
from tests.kernel.executors.conftest import answering


def test_every_name_that_a_tool_may_give_stands_in_a_table() -> None:
    """In that of the kernel, or that of features."""
    assert (*EXECUTORS, *MORE) == get_args(AuthoredExecutor)


def test_it_is_made_as_the_settings_say() -> None:
    """Without any there is room for one call."""
    assert [
        make_process_executor(ExecutorSettings(tools_of=TOOLS_OF, **settings)).occupancy
        for settings in ({"processes": 2}, {})
    ] == [Occupancy(size=2), Occupancy(size=1)]


async def test_it_is_started_with_its_own_tools_and_closed() -> None:
    """Nobody else loads them, and nobody runs one afterwards."""
    made = make_process_executor(ExecutorSettings(tools_of=TOOLS_OF))
    executors: Any = {"process": made}
    await start_all(executors, [later.compiled])
    before = executors["process"].made.fork_server_pid
    answer = answering(made)
    during = await answer(pid)
    await close_all(executors)
    after = await answer(pid)

    assert before is not None
    assert during.status == "success"
    assert after.response_metadata["error"]["kind"] == "execution_error"
