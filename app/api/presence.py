"""Notice that a client has gone, and stop working for it."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect
from starlette.types import Receive

T = TypeVar("T")

# Most calls are over by then, and never need to be watched.
_LET_BE = 0.05


async def until_gone(receive: Receive) -> None:
    """Wait until the client hangs up; its body has been read before."""
    while (await receive())["type"] != "http.disconnect":
        pass


class Watch:
    """Listen for the client's leaving while its request is served; the body has been read before."""

    __slots__ = ("_listener", "_receive", "_task", "_timer", "is_gone")

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._listener: asyncio.Task[None] | None = None
        self._task = asyncio.current_task()
        self._timer = asyncio.get_running_loop().call_later(_LET_BE, self._start)
        self.is_gone = False

    def _start(self) -> None:
        self._listener = asyncio.ensure_future(self._listen())

    async def _listen(self) -> None:
        await until_gone(self._receive)
        self.is_gone = True
        assert self._task is not None  # since requests are served in tasks
        self._task.cancel()

    def _close(self) -> None:
        self._timer.cancel()
        if self._listener is not None:
            self._listener.cancel()

    async def over(self, work: Coroutine[Any, Any, T]) -> T:
        """Do some work, but cancel it when the client hangs up.

        Raises:
            ClientDisconnect: It has.
        """
        try:
            return await work
        except asyncio.CancelledError:
            if self.is_gone and self._task is not None and self._task.uncancel() == 0:
                raise ClientDisconnect from None
            raise
        finally:
            self._close()
