"""Wait for what a tool returns to be complete, and hand it from thread to thread."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import suppress
from types import CoroutineType
from typing import Any

# What most tools return: nothing of these is left to wait for.
_COMPLETE = frozenset((str, int, float, bool, dict, list, tuple, type(None)))

# Parts after which others may have their turn on the event loop.
_TURN = 1000

# Hears of each part that a generator yields.
Say = Callable[[Any], None]


async def settled(result: Any, say: Say) -> Any:
    """Await an awaitable and drain an async generator, as often as one comes out of the other."""
    if type(result) is CoroutineType:
        result = await result
    if type(result) in _COMPLETE:
        return result
    while inspect.isawaitable(result):
        result = await result
    if isinstance(result, Iterator):
        return await _drained_in_turns(result, say)
    if not inspect.isasyncgen(result):
        return result
    parts = []
    async for part in result:
        say(part)
        parts.append(part)
    return _joined(result, parts)


def drained(result: Any, say: Say) -> Any:
    """Drain an iterator; the parts of a text that a generator yields become one text, any others a list."""
    if not isinstance(result, Iterator):
        return result
    parts = []
    for part in result:
        say(part)
        parts.append(part)
    return _joined(result, parts)


async def _drained_in_turns(result: Iterator[Any], say: Say) -> Any:
    """Do the same on the event loop, which others need too, and where the deadline comes."""
    parts = []
    for part in result:
        say(part)
        parts.append(part)
        if not len(parts) % _TURN:
            await asyncio.sleep(0)
    return _joined(result, parts)


def _joined(source: Any, parts: list[Any]) -> Any:
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
