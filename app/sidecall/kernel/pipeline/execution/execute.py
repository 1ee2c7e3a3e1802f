"""Run the tool on its executor, within its deadline."""

import asyncio
import time
from collections.abc import Awaitable, Coroutine, Mapping
from functools import partial
from typing import Any

from sidecall.kernel.core.errors import SidecallError, ToolExecutionError, ToolFailure
from sidecall.kernel.core.invocation import Invocation, open_cost
from sidecall.kernel.core.options import ExecutorName
from sidecall.kernel.core.overload import read_http_exception, read_refusal, read_store_unavailable
from sidecall.kernel.core.services import Release
from sidecall.kernel.executors.base import Executor
from sidecall.kernel.pipeline.execution.deadline import DeadlinePassed
from sidecall.kernel.pipeline.execution.eager_start import EagerStart, is_late, make_timeout, seconds_left
from sidecall.kernel.pipeline.hooks import is_cancelled
from sidecall.lazy_imports import Later

# Which only tools that may be tried again need.
attempts = Later("sidecall.kernel.pipeline.execution.retry")


class Execute:
    """Runs calls on a server's executors."""

    def __init__(self, executors: Mapping[ExecutorName, Executor]) -> None:
        self._executors = executors
        self._eager_start = EagerStart(seconds_left, self._abandon)
        # Kept here, since the event loop holds its tasks by weak references only.
        self._abandoned: set[asyncio.Task[Any]] = set()

    def __call__(self, invocation: Invocation) -> Awaitable[None] | None:
        """Run the tool and store its result in the invocation.

        Raises:
            ToolException: The tool raised it, or an HTTPException.
            ToolTimeout: The deadline passed; the tool's code may go on, but is no longer awaited. Or it has blocked the
                event loop until then, so that nothing could interrupt it.
            ToolExecutionError: The tool raised anything else, SystemExit and its own TimeoutError included.
            CallRefused: Its executor has not begun it.
        """
        tool, request = invocation.tool, invocation.request
        if request.sender.deadline is not None and seconds_left(invocation) == 0:
            raise make_timeout(invocation)  # It is no longer awaited, so it need not begin.
        if request.job is not None:
            request.job.note_begin(invocation)
        options = tool.options
        if options.cost:
            open_cost(invocation).add(options.cost)
        executor, retry = self._executors[tool.executor], options.retry
        invocation.attempts = 1
        running = executor.run(invocation) if retry is None else attempts.run_again(executor, invocation, retry)
        results = invocation.services.results
        if results is not None and results.used and tool.name in results.large:
            running = _run_with_room(invocation, results.large[tool.name], running)
        try:
            is_done, came = self._eager_start.take(running, invocation)
        except BaseException as error:
            if _passes(invocation, error):
                raise
            raise _find_failure(invocation, error) from error
        if not is_done:
            return _await_end(invocation, came)
        _keep(invocation, came)
        return None

    def _abandon(self, invocation: Invocation, left: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.ensure_future(left)
        self._abandoned.add(task)
        task.add_done_callback(partial(self._forget, invocation.abandon()))

    def _forget(self, release: Release, task: asyncio.Task[Any]) -> None:
        release()
        self._abandoned.discard(task)
        if not task.cancelled():
            task.exception()  # Marked as retrieved: asyncio must not log an error with which the call was not answered.


async def _run_with_room(invocation: Invocation, size: int, running: Coroutine[Any, Any, Any]) -> Any:
    """Wait for room for a large result of this tool, then run it."""
    share = invocation.open_share()
    assert share is not None
    try:
        await share.wait(size)
    except BaseException:
        running.close()
        raise
    return await running


async def _await_end(invocation: Invocation, running: Awaitable[Any]) -> None:
    try:
        output = await running
    except DeadlinePassed:
        raise make_timeout(invocation) from None
    except BaseException as error:
        if _passes(invocation, error):
            raise
        raise _find_failure(invocation, error) from error
    _keep(invocation, output)


def _keep(invocation: Invocation, output: Any) -> None:
    deadline = invocation.deadline
    if deadline is not None and time.monotonic() > deadline:  # `is_late`, spelled out since every call passes here.
        raise make_timeout(invocation)
    invocation.output = output


def _passes(invocation: Invocation, error: BaseException) -> bool:
    """Return whether an error is an expected outcome: a failure within the deadline, or an abandoned call."""
    if isinstance(error, ToolFailure):
        return not is_late(invocation)
    return _is_given_up(invocation, error)


def _find_failure(invocation: Invocation, error: BaseException) -> SidecallError:
    if is_late(invocation):
        return make_timeout(invocation)
    refusal = read_http_exception(error) or read_store_unavailable(error) or read_refusal(error)
    return refusal or ToolExecutionError(invocation.tool.name, invocation.call.id)


def _is_given_up(invocation: Invocation, error: BaseException) -> bool:
    """Return whether the caller disconnected or the server stops; a CancelledError of the tool itself is a crash."""
    if not isinstance(error, asyncio.CancelledError) or not is_cancelled():
        return False
    invocation.give_up()
    return True
