"""A fixed number of child processes, lent to one call at a time."""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from app.executors.child import Child
from app.executors.forkserver import ForkServer

logger = logging.getLogger("sidecall")


@dataclass(eq=False, slots=True)
class _Waiter:
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    future: asyncio.Future[Child] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Children:
    """Lend processes, put a new one in the place of each that is gone, and let calls wait in order when all are lent.

    A new process is ordered at once and makes itself ready by itself, so that nobody waits for it in vain.
    """

    def __init__(self, size: int, greeting: Callable[[], bytes]) -> None:
        """Prepare for so many; none is made before the first is wanted.

        Args:
            size: How many there are at most.
            greeting: Makes what a new one is told first.
        """
        self.size = size
        self._greeting = greeting
        self._forks = ForkServer()
        # Calls come from any event loop.
        self._lock = threading.Lock()
        self._idle: deque[Child] = deque()
        self._lent: set[Child] = set()
        self._waiting: deque[_Waiter] = deque()
        self._generation = 0
        self._closed = False

    @property
    def busy(self) -> int:
        """How many are lent."""
        return len(self._lent)

    @property
    def waiting(self) -> int:
        """How many calls wait for one."""
        return len(self._waiting)

    @property
    def server_pid(self) -> int | None:
        """Which process makes them; None before the first."""
        return self._forks.pid

    async def lend(self) -> Child:
        """Wait for one that is free; it has to be given back or discarded."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the server is stopping")
            self._fill()
            if self._idle:
                child = self._idle.pop()
                self._lent.add(child)
                return child
            waiter = _Waiter()
            self._waiting.append(waiter)
        try:
            return await waiter.future
        except asyncio.CancelledError:
            with self._lock, suppress(ValueError):
                self._waiting.remove(waiter)
            if waiter.future.done() and not waiter.future.cancelled():
                self.give_back(waiter.future.result())  # It came in the moment in which nobody wanted it any more.
            raise

    def give_back(self, child: Child) -> None:
        """Let the next call have it, unless it has loaded what has been replaced since."""
        if child.generation != self._generation:
            self.discard(child)
            return
        with self._lock:
            self._lent.discard(child)
            self._idle.append(child)
            self._hand_on()

    def discard(self, child: Child) -> None:
        """End it, whatever it does, and have a new one in its place."""
        with self._lock:
            self._lent.discard(child)
            self._end(child)
            if not self._closed:
                self._refill()
                self._hand_on()

    def renew(self) -> None:
        """Replace all by new ones: the idle at once, the others when they come back."""
        with self._lock:
            self._generation += 1
            for child in self._idle:
                self._end(child)
            is_started, self._idle = bool(self._idle), deque()
            if is_started:
                self._refill()

    async def close(self) -> None:
        """End all, and refuse those who wait."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, deque()
            waiting, self._waiting = self._waiting, deque()
        for child in idle:
            child.close()
        for waiter in waiting:
            with suppress(RuntimeError):
                waiter.loop.call_soon_threadsafe(_refuse, waiter.future)
        await self._forks.close()

    def _fill(self) -> None:
        for _ in range(self.size - len(self._idle) - len(self._lent)):
            number, sock = self._forks.fork()
            with suppress(OSError):  # Dead already, which whoever borrows it will find out.
                sock.sendall(self._greeting())
            sock.setblocking(False)
            # Behind those that are ready.
            self._idle.appendleft(Child(number, sock, self._generation))

    def _refill(self) -> None:
        try:
            self._fill()
        except OSError:  # Whoever wants one next tries again.
            logger.exception("no process can be started for tools with executor='process'")

    def _end(self, child: Child) -> None:
        self._forks.kill(child.number)
        child.close()

    def _hand_on(self) -> None:
        while self._waiting and self._idle:
            child, waiter = self._idle.pop(), self._waiting.popleft()
            self._lent.add(child)
            try:
                waiter.loop.call_soon_threadsafe(self._deliver, waiter.future, child)
            except RuntimeError:  # Its loop is closed, and nobody waits there.
                self._lent.discard(child)
                self._idle.append(child)

    def _deliver(self, future: asyncio.Future[Child], child: Child) -> None:
        if future.done():
            self.give_back(child)
        else:
            future.set_result(child)


def _refuse(future: asyncio.Future[Child]) -> None:
    if not future.done():
        future.set_exception(RuntimeError("the server is stopping"))
