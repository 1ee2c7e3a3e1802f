"""Wait for something, and learn who cancels the wait."""

import asyncio
from collections.abc import Callable
from typing import Any

from sidecall.telemetry.current import CALL


class Waking(asyncio.Future[None]):
    """What a task waits for; whoever cancels the task cancels this first, in a context that tells who it is."""

    def __init__(self, loop: asyncio.AbstractEventLoop, on_cancel: Callable[[], object]) -> None:
        """Make one that calls `on_cancel` whenever somebody cancels the task that waits for it."""
        super().__init__(loop=loop)
        self._on_cancel = on_cancel

    def cancel(self, msg: Any | None = None) -> bool:
        """Take note, and do what every future does."""
        self._on_cancel()
        return super().cancel(msg)

    def wake(self, _: object) -> None:
        """End the wait, unless it has ended."""
        if not self.done():
            self.set_result(None)


def works_for(call: object) -> bool:
    """Return whether the code that runs was begun by the tool of this call: its tasks, timers and callbacks know it."""
    current = CALL.get()
    return current is not None and current.invocation is call
