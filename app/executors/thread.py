"""Run sync tools in threads of our own, so that a slow one never blocks the event loop."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from app.core.invocation import Invocation
from app.executors.results import drained, settled


@dataclass(frozen=True, slots=True)
class _Outcome:
    value: Any = None
    error: BaseException | None = None


class ThreadExecutor:
    """Run calls in a bounded pool.

    A call that outlives its deadline keeps its thread until it ends, so the pool never grows past its size.
    """

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="sidecall-tool")

    async def run(self, invocation: Invocation) -> Any:
        """Call the function in a thread that sees the caller's context variables."""
        positional, keywords = invocation.tool.bind(invocation.values)
        context = contextvars.copy_context()
        loop = asyncio.get_running_loop()
        call = (invocation.tool.function, positional, keywords)
        outcome = await loop.run_in_executor(self._pool, context.run, _run, *call)
        if outcome.error is not None:
            raise outcome.error
        return await settled(outcome.value)

    async def close(self) -> None:
        """Start nothing more; what runs is left to end."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _run(function: Callable[..., Any], positional: list[Any], keywords: dict[str, Any]) -> _Outcome:
    # As a value, since a StopIteration set on a future leaves its waiter hanging for ever.
    try:
        return _Outcome(value=drained(function(*positional, **keywords)))
    except BaseException as error:
        return _Outcome(error=error)
