"""Calls that wait in their server for a slot of a worker that is about to become free.

A ticket costs several times as much as a call that is given straight to a worker. So a call waits here for a moment
before it gets one. It does not wait for longer, since the stream of tickets is in the order of all servers.
"""

import asyncio
from collections import deque
from collections.abc import Callable

from sidecall.features.fleet.remote_calls import RemoteCall
from sidecall.kernel.concurrency.coroutines import settle

# Seconds that a call waits here.
_MOMENT = 0.1

_Waiting = tuple[RemoteCall, "asyncio.Future[bool]"]


class WaitingCalls:
    """A line for each tool; `give` gives a call to a worker, and returns False where none has a free slot."""

    def __init__(self, give: Callable[[RemoteCall], bool]) -> None:
        """Begin without any."""
        self._give = give
        self._lines: dict[str, deque[_Waiting]] = {}

    def has(self, call: RemoteCall) -> bool:
        """Return whether others of its tool wait, which come first."""
        return call.invocation.tool.name in self._lines

    async def wait(self, call: RemoteCall, most: float) -> bool:
        """Wait in line for a moment, `most` seconds at most; return whether the call was given to a worker."""
        loop, name = asyncio.get_running_loop(), call.invocation.tool.name
        waiting: _Waiting = (call, loop.create_future())
        line = self._lines.setdefault(name, deque())
        line.append(waiting)
        timer = loop.call_later(min(most, _MOMENT), settle, waiting[1], False)
        try:
            return await waiting[1]
        finally:
            timer.cancel()
            if waiting in line:
                line.remove(waiting)
            if not line and self._lines.get(name) is line:
                del self._lines[name]

    def move(self) -> None:
        """Give calls to workers that have free slots, what has waited for longest first."""
        lines = {name: line for name, line in self._lines.items() if line}
        while lines:
            name = min(lines, key=lambda it: lines[it][0][0].began)
            call, given = lines[name][0]
            if given.done() or self._give(call):
                lines[name].popleft()
                settle(given, True)
            if not lines[name] or lines[name][0][1] is given:
                del lines[name]
