"""Wait for a future, and detect who cancels the wait."""

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import Any

from sidecall.kernel.core.current import CALL


class Waking(asyncio.Future[None]):
    """A future that a task awaits; cancelling the task cancels it first, in the canceller's context."""

    def __init__(self, loop: asyncio.AbstractEventLoop, on_cancel: Callable[[], object]) -> None:
        """Call `on_cancel` whenever the waiting task is cancelled."""
        super().__init__(loop=loop)
        self._on_cancel = on_cancel

    def cancel(self, msg: Any | None = None) -> bool:
        """Report the cancellation, and cancel like any future."""
        self._on_cancel()
        return super().cancel(msg)

    def wake(self, _: object) -> None:
        """End the wait, unless it has ended."""
        if not self.done():
            self.set_result(None)


class StandIn:
    """Stands in for an awaited future, so that cancellation is detected without a second future."""

    __slots__ = ("_asyncio_future_blocking", "_context", "_stands_for", "_wake")

    _stands_for: asyncio.Future[Any]

    def stand_for(self, future: asyncio.Future[Any]) -> None:
        """Stand in for this future when it is yielded to the task."""
        self._stands_for = future
        self._asyncio_future_blocking = True  # As an awaited future is told.

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """Return the future's loop."""
        return self._stands_for.get_loop()

    def add_done_callback(self, wake: Callable[[Any], object], *, context: Context | None = None) -> None:
        """Let the future wake the task."""
        self._wake, self._context = wake, context
        self._stands_for.add_done_callback(wake, context=context)

    def cancel(self, msg: Any | None = None) -> bool:
        """Cancel the future for its task."""
        return self._stands_for.cancel(msg)

    def leave(self, msg: Any | None = None) -> bool:
        """Wake the task as if it were cancelled, but leave the future; return whether that was pending."""
        if not self._stands_for.remove_done_callback(self._wake):
            return False
        cancelled = self.get_loop().create_future()
        cancelled.cancel(msg)
        cancelled.add_done_callback(self._wake, context=self._context)
        return True


def works_for(call: object) -> bool:
    """Return whether the running code was started by this call's tool: its tasks, timers and callbacks."""
    return call is not None and CALL.get() is call
