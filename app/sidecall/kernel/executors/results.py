"""Wait until a tool's result is complete, and pass it between threads."""

import asyncio
import inspect
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import AbstractContextManager, aclosing, closing, nullcontext, suppress
from types import CoroutineType
from typing import Any

from sidecall.kernel.concurrency.backpressure import Pause
from sidecall.kernel.concurrency.coroutines import settle
from sidecall.kernel.core.result_memory import SMALL, ResultReservation, estimate_size

# What most tools return: nothing of these is left to wait for.
COMPLETE = frozenset((str, int, float, bool, dict, list, tuple, type(None)))

# Seconds of making parts after which others have their turn on the event loop.
_TURN = 0.01

# Called with each part that a generator yields; it may raise when no more are wanted, and return what to wait for.
Say = Callable[[Any], Pause | None]
# Begins to count what is gathered, where that is bounded.
OpenShare = Callable[[], ResultReservation | None]


# Looks whether the parts are still wanted, and raises if they are not.
Look = Callable[[], object]
# What an object takes beside a text that it may be.
_OVERHEAD = 64


def count_nothing() -> None:
    """Return no reservation: results are unbounded."""


def look_nowhere() -> None:
    """Do nothing: the default for checks while waiting."""


async def complete(result: Any, say: Say, open_share: OpenShare = count_nothing) -> Any:
    """Await awaitables and drain async generators, as often as one yields the other.

    A large result is counted, and the generator is paused until there is room, both in memory and at the reader of its
    parts.
    """
    if type(result) is CoroutineType:
        result = await result
    if type(result) in COMPLETE:
        return result
    while inspect.isawaitable(result):
        result = await result
    if isinstance(result, Iterator):
        return await _drain_in_turns(result, say, _Gathered(open_share))
    return await _drain_async(result, say, _Gathered(open_share)) if isinstance(result, AsyncGenerator) else result


def drain(result: Any, say: Say, open_share: OpenShare = count_nothing, look: Look = look_nowhere) -> Any:
    """Drain an iterator; texts from a generator are joined, other parts become a list.

    Without room this thread waits, and calls `look` now and then.
    """
    if not isinstance(result, Iterator):
        return result
    gathered = _Gathered(open_share)
    with _close_after(result):
        for part in result:
            pause, share = say(part), gathered.add(part)
            if pause is not None:
                pause.wait_here(look)
            if share is not None:
                share.wait_here(0, look)
    return gathered.join(result)


async def _drain_in_turns(result: Iterator[Any], say: Say, gathered: "_Gathered") -> Any:
    """Drain an iterator on the event loop, letting other tasks run and checking the deadline."""
    turn = _Turn()
    with _close_after(result):
        for part in result:
            pause, share = say(part), gathered.add(part)
            if pause is not None:
                await pause.wait()
            if share is not None:
                await share.wait()
            if turn.is_over():
                await turn.pass_on()
    return gathered.join(result)


async def _drain_async(result: AsyncGenerator[Any, None], say: Say, gathered: "_Gathered") -> Any:
    """Drain an async generator, which may never really wait."""
    turn = _Turn()
    async with aclosing(result):
        async for part in result:
            pause, share = say(part), gathered.add(part)
            if pause is not None:
                await pause.wait()
            if share is not None:
                await share.wait()
            if turn.is_over():
                await turn.pass_on()
    return gathered.join(result)


class _Gathered:
    """The parts that a generator has yielded so far."""

    def __init__(self, open_share: OpenShare) -> None:
        self._open_share = open_share
        self._parts: list[Any] = []
        self._size = 0
        self._counted = 0

    def add(self, part: Any) -> ResultReservation | None:
        """Add a part; return an awaitable to wait for before the next, or None."""
        self._parts.append(part)
        self._size += _OVERHEAD + (len(part) if type(part) is str else estimate_size(part))
        if self._size - self._counted < SMALL:
            return None
        self._counted = self._size
        share = self._open_share()
        return share if share is not None and share.grow_to(self._size) else None

    def join(self, source: Any) -> Any:
        """Return the parts of a source as one result."""
        parts, self._parts = self._parts, []
        if not isinstance(source, (AsyncGenerator, Generator)):
            return parts
        return "".join(parts) if parts and all(isinstance(part, str) for part in parts) else parts


class _Turn:
    """Measures how long others have waited for the event loop."""

    def __init__(self) -> None:
        self._ends = time.monotonic() + _TURN

    def is_over(self) -> bool:
        """Return whether others should run now."""
        return time.monotonic() > self._ends

    async def pass_on(self) -> None:
        """Let other tasks run; the deadline is also checked here."""
        await asyncio.sleep(0)
        self._ends = time.monotonic() + _TURN


def _close_after(result: Iterator[Any]) -> AbstractContextManager[Any]:
    """Close a generator when it is no longer read, instead of when it is collected."""
    return closing(result) if isinstance(result, Generator) else nullcontext()


def hand_over(future: asyncio.Future[Any], value: Any) -> None:
    """Set a future's result from another thread, if it is still awaited."""
    with suppress(RuntimeError):  # The loop is closed, and nobody is left to be told.
        future.get_loop().call_soon_threadsafe(settle, future, value)
