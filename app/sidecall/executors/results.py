"""Wait for what a tool returns to be complete, and hand it from thread to thread."""

import asyncio
import inspect
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import AbstractContextManager, aclosing, closing, nullcontext, suppress
from types import CoroutineType
from typing import Any

# What most tools return: nothing of these is left to wait for.
_COMPLETE = frozenset((str, int, float, bool, dict, list, tuple, type(None)))

# Seconds of making parts after which others have their turn on the event loop.
_TURN = 0.01

# Called with each part that a generator yields.
Say = Callable[[Any], None]


async def complete(result: Any, say: Say) -> Any:
    """Await an awaitable and drain an async generator, as often as one comes out of the other."""
    if type(result) is CoroutineType:
        result = await result
    if type(result) in _COMPLETE:
        return result
    while inspect.isawaitable(result):
        result = await result
    if isinstance(result, Iterator):
        return await _drain_in_turns(result, say)
    return await _drain_async(result, say) if isinstance(result, AsyncGenerator) else result


def drain(result: Any, say: Say) -> Any:
    """Drain an iterator; the parts of a text that a generator yields become one text, any others a list."""
    if not isinstance(result, Iterator):
        return result
    parts = []
    with _close_after(result):
        for part in result:
            say(part)
            parts.append(part)
    return _join(result, parts)


async def _drain_in_turns(result: Iterator[Any], say: Say) -> Any:
    """Drain an iterator on the event loop, which others need too, and where the deadline comes."""
    parts = []
    turn = _Turn()
    with _close_after(result):
        for part in result:
            say(part)
            parts.append(part)
            if turn.is_over():
                await turn.pass_on()
    return _join(result, parts)


async def _drain_async(result: AsyncGenerator[Any, None], say: Say) -> Any:
    """Drain an async generator, which may never wait either."""
    parts = []
    turn = _Turn()
    async with aclosing(result):
        async for part in result:
            say(part)
            parts.append(part)
            if turn.is_over():
                await turn.pass_on()
    return _join(result, parts)


class _Turn:
    """How long others have waited for the event loop."""

    def __init__(self) -> None:
        self._ends = time.monotonic() + _TURN

    def is_over(self) -> bool:
        """Return whether it is their turn."""
        return time.monotonic() > self._ends

    async def pass_on(self) -> None:
        """Let others have it; here, too, the deadline comes."""
        await asyncio.sleep(0)
        self._ends = time.monotonic() + _TURN


def _close_after(result: Iterator[Any]) -> AbstractContextManager[Any]:
    """Make a generator clean up when no more of it is wanted, and not whenever it is collected."""
    return closing(result) if isinstance(result, Generator) else nullcontext()


def _join(source: Any, parts: list[Any]) -> Any:
    if not isinstance(source, (AsyncGenerator, Generator)):
        return parts
    return "".join(parts) if parts and all(isinstance(part, str) for part in parts) else parts


def hand_over(future: asyncio.Future[Any], value: Any) -> None:
    """Set a future's result from another thread, if anybody still waits for it."""
    with suppress(RuntimeError):  # The loop is closed, and nobody is left to be told.
        future.get_loop().call_soon_threadsafe(_settle, future, value)


def _settle(future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        future.set_result(value)
