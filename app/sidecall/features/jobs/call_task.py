"""The task of a durable call, which is protected from what its tool has left running."""

import asyncio
from typing import Any

from sidecall.kernel.core.current import CALL


class CallTask(asyncio.Task[None]):
    """A task that knows why it is cancelled: by the server or a client, or by the tool's own timers and tasks.

    `is_broken_off` is true when the tool did not cancel it. Once `is_over` is set, only the result remains to be
    written, and what the tool has left running cannot cancel that.
    """

    is_broken_off = False
    is_over = False

    def cancel(self, msg: Any | None = None) -> bool:
        """Cancel the task, and note by whom; code that a tool has started is recognized by its call."""
        if CALL.get() is None:
            self.is_broken_off = True
        elif self.is_over:
            return False
        return super().cancel(msg)
