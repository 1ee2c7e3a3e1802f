"""Notice that a client disconnects while its request is served, and cancel the work."""

import asyncio
from collections.abc import Coroutine
from contextvars import Context
from typing import Any, TypeVar

from msgspec import Struct
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from sidecall.http.fast_path import DirectResponse
from sidecall.kernel.concurrency.coroutines import await_rest, cancel_from_outside

T = TypeVar("T")

# Seconds. Most calls are over by then, and never need to be watched.
LET_BE = 0.05


async def until_gone(receive: Receive) -> None:
    """Wait until the client disconnects; its body must have been read."""
    while (await receive())["type"] != "http.disconnect":
        pass


class DisconnectSweep:
    """Starts many listeners together, each after one or two rounds, since a timer for each costs more."""

    __slots__ = ("_due", "_fresh", "_loop")

    def __init__(self) -> None:
        self._fresh: set[DisconnectListener] = set()
        self._due: set[DisconnectListener] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def add(self, listener: "DisconnectListener", loop: asyncio.AbstractEventLoop) -> bool:
        """Start a listener later; return False while another event loop has listeners."""
        if loop is not self._loop:
            if self._loop is not None and not self._loop.is_closed():
                return False
            self._fresh.clear()
            self._due.clear()
            self._plan(loop)
        self._fresh.add(listener)
        return True

    def discard(self, listener: "DisconnectListener") -> None:
        """Remove a listener, whether it has started or not."""
        self._fresh.discard(listener)
        self._due.discard(listener)

    def _go_round(self) -> None:
        beginning, self._due, self._fresh = self._due, self._fresh, set()
        for listener in beginning:
            listener.start()
        loop, self._loop = self._loop, None
        if self._due and loop is not None:
            self._plan(loop)

    def _plan(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        # Of no request's context: a round belongs to none, and would keep what hangs on it.
        loop.call_later(LET_BE, self._go_round, context=Context())


class DisconnectListener(Struct, eq=False):
    """Listens for the client's disconnect while its request is served; the body must have been read."""

    _receive: Receive
    _sweep: DisconnectSweep | None = None
    _listener: asyncio.Task[None] | None = None
    _exchange: DirectResponse | None = None
    _task: asyncio.Task[Any] | None = None
    _timer: asyncio.TimerHandle | None = None
    _has_begun: bool = False
    is_gone: bool = False

    async def over(self, work: Coroutine[Any, Any, T]) -> T:
        """Do some work, but cancel it when the client disconnects.

        Raises:
            ClientDisconnect: It has.
        """
        is_done, came = self.begin(work)
        result: T = came if is_done else await came
        return result

    def begin(self, work: Coroutine[Any, Any, T]) -> tuple[bool, Any]:
        """Begin work: return whether it is done, and its result, or else an awaitable for it.

        Work that never waits cannot be interrupted, so no listener is started for it, nor a second one for a part of
        other work.
        """
        if self._has_begun:
            return False, work
        self._has_begun = True
        try:
            awaited = work.send(None)
        except StopIteration as done:
            self._has_begun = False
            return True, done.value
        return False, self._over_rest(work, awaited)

    async def _over_rest(self, work: Coroutine[Any, Any, T], awaited: Any) -> T:
        task = asyncio.current_task()
        assert task is not None  # since requests are served in tasks
        self.watch_over(task)
        try:
            return await await_rest(work, awaited)
        except asyncio.CancelledError:
            if self.is_gone and self._task is not None and self._task.uncancel() == 0:
                raise ClientDisconnect from None
            raise
        finally:
            self.end()

    def watch_over(self, task: asyncio.Task[Any]) -> None:
        """Cancel a task when the client disconnects, until `end`."""
        self._has_begun = True
        self._task = task
        loop = task.get_loop()
        if self._sweep is None or not self._sweep.add(self, loop):
            # Of no request's context, which it would keep.
            self._timer = loop.call_later(LET_BE, self.start, context=Context())

    def start(self) -> None:
        """Begin to listen, until the work is done; without a task, if the server tells of it."""
        exchange = getattr(self._receive, "__self__", None)
        if isinstance(exchange, DirectResponse) and exchange.watch(self._note_end):
            self._exchange = exchange
        else:
            self._listener = asyncio.ensure_future(self._listen())

    async def _listen(self) -> None:
        await until_gone(self._receive)
        self._note_end()

    def _note_end(self) -> None:
        # A stream's answer may be complete, which tells of an end as well.
        if not self.is_gone and self._task is not None and not self._task.done():
            self.is_gone = True
            cancel_from_outside(self._task)

    def end(self) -> None:
        """Listen no more."""
        if self._timer is not None:
            self._timer.cancel()
        elif self._sweep is not None:
            self._sweep.discard(self)
        if self._listener is not None:
            self._listener.cancel()
        if self._exchange is not None:
            self._exchange.watch(None)
        self._listener = self._exchange = self._timer = None
        # A cancelled coroutine keeps its locals, and so this; the request and its answer must not wait for the
        # collector, which seldom comes.
        self._task = None
        self._has_begun = False
