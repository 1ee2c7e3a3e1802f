"""Run the tool, under its deadline, where its executor says."""

import asyncio
from collections.abc import Coroutine, Mapping
from functools import partial
from typing import Any

from sidecall.core.errors import ToolExecutionError, ToolFailure
from sidecall.core.invocation import Invocation, Release
from sidecall.core.options import ExecutorName
from sidecall.executors.base import Executor
from sidecall.pipeline.execution.attempts import run_again
from sidecall.pipeline.execution.bounded import DeadlinePassed, run_bounded
from sidecall.pipeline.execution.deadline import make_timeout, seconds_left
from sidecall.pipeline.hooks import is_cancelled


class Execute:
    """Run calls on the executors a server has."""

    def __init__(self, executors: Mapping[ExecutorName, Executor]) -> None:
        self._executors = executors
        # Kept here, since the event loop holds its tasks by weak references only.
        self._abandoned: set[asyncio.Task[Any]] = set()

    async def __call__(self, invocation: Invocation) -> None:
        """Run the tool and keep what it returns.

        Raises:
            ToolException: The tool raised it.
            ToolTimeout: The deadline passed; the tool's code may go on, but nobody waits for it.
            ToolExecutionError: The tool raised anything else, SystemExit and its own TimeoutError included.
        """
        if invocation.request.deadline is not None and seconds_left(invocation) == 0:
            raise make_timeout(invocation)  # Nobody waits for it any more, so it need not begin.
        executor = self._executors[invocation.tool.executor]
        retry = invocation.tool.options.retry
        running = executor.run(invocation) if retry is None else run_again(executor, invocation, retry)
        try:
            left = partial(seconds_left, invocation)
            invocation.output = await run_bounded(running, left, self._abandon, invocation)
        except ToolFailure:
            raise
        except DeadlinePassed:
            raise make_timeout(invocation) from None
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and is_cancelled():
                invocation.give_up()
                raise  # The caller went away or the server stops; a tool that raises it itself has crashed.
            raise ToolExecutionError(invocation.tool.name, invocation.call.id) from error

    def _abandon(self, invocation: Invocation, left: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.ensure_future(left)
        self._abandoned.add(task)
        task.add_done_callback(partial(self._forget, invocation.abandon()))

    def _forget(self, release: Release, task: asyncio.Task[Any]) -> None:
        release()
        self._abandoned.discard(task)
        if not task.cancelled():
            task.exception()  # Looked at, so that nobody is told of an error that the call was not answered with.
