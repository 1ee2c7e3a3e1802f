"""Notice that a client has gone, and stop working for it."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from sidecall.core.coroutines import await_rest, cancel_from_outside

T = TypeVar("T")

# Most calls are over by then, and never need to be watched.
_LET_BE = 0.05


async def until_gone(receive: Receive) -> None:
    """Wait until the client hangs up; its body has been read before."""
    while (await receive())["type"] != "http.disconnect":
        pass


class DisconnectListener:
    """Listen for the client's leaving while its request is served; the body has been read before."""

    __slots__ = ("_listener", "_receive", "_task", "is_gone")

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._listener: asyncio.Task[None] | None = None
        self.is_gone = False

    async def over(self, work: Coroutine[Any, Any, T]) -> T:
        """Do some work, but cancel it when the client hangs up.

        Raises:
            ClientDisconnect: It has.
        """
        is_done, came = self.begin(work)
        result: T = came if is_done else await came
        return result

    def begin(self, work: Coroutine[Any, Any, T]) -> tuple[bool, Any]:
        """Begin some work: return whether it is done, and what it returns, or else what has to be awaited for that.

        Work that never waits cannot be interrupted, so nobody listens for it.
        """
        try:
            awaited = work.send(None)
        except StopIteration as done:
            return True, done.value
        return False, self._over_rest(work, awaited)

    async def _over_rest(self, work: Coroutine[Any, Any, T], awaited: Any) -> T:
        loop = asyncio.get_running_loop()  # Once: in Python 3.11 each time asks the system which process this is.
        self._task = asyncio.current_task(loop)
        timer = loop.call_later(_LET_BE, self._start)
        try:
            return await await_rest(work, awaited)
        except asyncio.CancelledError:
            if self.is_gone and self._task is not None and self._task.uncancel() == 0:
                raise ClientDisconnect from None
            raise
        finally:
            timer.cancel()
            if self._listener is not None:
                self._listener.cancel()
            # Whoever is cancelled keeps what it was doing, and so this; the request and its answer must not wait for
            # the collector, which seldom comes.
            self._listener = self._task = None

    def _start(self) -> None:
        self._listener = asyncio.ensure_future(self._listen())

    async def _listen(self) -> None:
        await until_gone(self._receive)
        self.is_gone = True
        assert self._task is not None  # since requests are served in tasks
        cancel_from_outside(self._task)
