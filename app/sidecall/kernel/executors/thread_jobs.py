"""A call in a thread, and the delivery of its outcome."""

import asyncio
import contextvars
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from msgspec import Struct

from sidecall.kernel.concurrency.event_loop import run_main
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.result_memory import SMALL, estimate_size
from sidecall.kernel.core.services import Release
from sidecall.kernel.executors.results import complete, drain

# Results that are never large.
_SMALL = frozenset((int, float, bool, type(None)))


class ThreadOutcome(Struct):
    """The result or exception of a tool."""

    value: Any = None
    error: BaseException | None = None

    def take(self) -> Any:
        """Return the result or raise the error, without keeping it: its traceback would form a reference cycle."""
        error, self.error = self.error, None
        if error is not None:
            try:
                raise error
            finally:
                del error
        return self.value


class ThreadJob(Struct, eq=False):
    """One call, and the future of its outcome.

    Everything except the outcome is guarded by the pool's lock.
    """

    invocation: Invocation
    context: contextvars.Context
    future: asyncio.Future[ThreadOutcome]
    waits_since: float = 0.0
    took: float = 0.0
    is_done: bool = False
    interrupt: Callable[[], object] | None = None
    release: Release | None = None

    def run(self) -> ThreadOutcome:
        """Call the function, and record the duration."""
        began = time.monotonic()
        # As a value, since a StopIteration set on a future leaves its waiter hanging for ever.
        try:
            outcome = ThreadOutcome(self.context.run(self._call))
        except BaseException as error:
            outcome = ThreadOutcome(error=error)
        self.took = time.monotonic() - began
        return outcome

    def _call(self) -> Any:
        invocation = self.invocation
        tool, room = invocation.tool, invocation.services.results
        if room is not None and room.used and tool.name in room.large:
            self._wait_for_room(room.large[tool.name])
        positional, keywords = tool.bind(invocation.values)
        result = tool.function(*positional, **keywords)
        if tool.is_async:
            # Its author wants an async function here because it blocks, so it has to have a loop of its own.
            result = run_main(self._settle(result))
        else:
            result = drain(result, invocation.say_part, invocation.open_share, invocation.look_around)
        if type(result) not in _SMALL and (size := estimate_size(result)) > SMALL:
            share = invocation.open_share()
            if share is not None:
                share.grow_to(size)
        return result

    def _wait_for_room(self, size: int) -> None:
        """Wait for room again: other calls may have made large results since this one was admitted."""
        share = self.invocation.open_share()
        if share is not None and not share.size:
            share.wait_here(size, self.invocation.look_around)

    async def _settle(self, result: Any) -> Any:
        task = asyncio.current_task()
        assert task is not None
        self.interrupt = partial(asyncio.get_running_loop().call_soon_threadsafe, task.cancel)
        return await complete(result, self.invocation.say_part, self.invocation.open_share)


class Returns:
    """Delivers outcomes to one event loop in batches: waking it costs more than a call."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Deliver to this loop."""
        self.loop = loop
        self._outcomes: deque[tuple[asyncio.Future[ThreadOutcome], ThreadOutcome]] = deque()
        self._is_woken = False

    def hand_over(self, future: asyncio.Future[ThreadOutcome], outcome: ThreadOutcome) -> None:
        """Set a future's result from another thread, if it is still awaited."""
        self._outcomes.append((future, outcome))
        if not self._is_woken:
            self._is_woken = True
            with suppress(RuntimeError):  # The loop is closed, and nobody is left to be told.
                self.loop.call_soon_threadsafe(self._settle_all)

    def _settle_all(self) -> None:
        # Before what is there is taken, so that what comes now wakes the loop once more.
        self._is_woken = False
        outcomes = self._outcomes
        while outcomes:
            future, outcome = outcomes.popleft()
            if not future.done():
                future.set_result(outcome)
