"""Run the tool, under its deadline, where its executor says."""

import asyncio
from collections.abc import Mapping

from app.core.errors import ToolExecutionError, ToolFailure, ToolTimeout
from app.core.invocation import Invocation
from app.core.tool import ExecutorName
from app.executors.base import Executor


class Execute:
    """Run calls on the executors a server has."""

    def __init__(self, executors: Mapping[ExecutorName, Executor]) -> None:
        self._executors = executors

    async def __call__(self, invocation: Invocation) -> None:
        """Run the tool and keep what it returns.

        Raises:
            ToolException: The tool raised it.
            ToolTimeout: The deadline passed.
            ToolExecutionError: The tool raised anything else, SystemExit and its own TimeoutError included.
        """
        deadline = _on_loop_clock(invocation)
        try:
            async with asyncio.timeout_at(deadline) as scope:
                invocation.output = await self._executors[invocation.tool.executor].run(invocation)
        except ToolFailure:
            raise
        except BaseException as error:
            if isinstance(error, TimeoutError) and scope.expired():
                raise ToolTimeout(invocation.tool.name, _allowed(invocation)) from None
            if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                raise  # The caller went away or the server stops; a tool that raises it itself has crashed.
            raise ToolExecutionError(invocation.tool.name, invocation.call.id) from error


def _on_loop_clock(invocation: Invocation) -> float | None:
    # Event loops promise a monotonic clock, not that it is time.monotonic().
    if invocation.deadline is None:
        return None
    return asyncio.get_running_loop().time() + _allowed(invocation)


def _allowed(invocation: Invocation) -> float:
    return round((invocation.deadline or 0.0) - invocation.started, 6)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
