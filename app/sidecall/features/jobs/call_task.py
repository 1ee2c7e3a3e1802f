"""The task of a remembered call, which outlives what its tool has left behind."""

import asyncio
from typing import Any

from sidecall.kernel.core.current import CALL


class CallTask(asyncio.Task[None]):
    """Know who cancels it: a server that ends and whoever wants that, or timers and tasks that a tool has left.

    `is_broken_off` says that somebody else than the tool has. Once `is_over` is set, of what became of the call it only
    remains to be written down, and what the tool has left can cancel nothing any more.
    """

    is_broken_off = False
    is_over = False

    def cancel(self, msg: Any | None = None) -> bool:
        """Cancel it, and note who does; what a tool has begun knows its call."""
        if CALL.get() is None:
            self.is_broken_off = True
        elif self.is_over:
            return False
        return super().cancel(msg)
