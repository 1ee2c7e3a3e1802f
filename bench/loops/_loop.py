"""The loop that every program in this folder runs around its call."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

CALL = b'{"name": "echo", "args": {"text": "hi"}, "id": "call_1", "type": "tool_call"}'

Answer = Callable[[bytes], Awaitable[bytes]]


def loop(ready: AbstractAsyncContextManager[Answer]) -> None:
    """Print the answer once, to be checked; then for each number on standard input the nanoseconds of so many calls."""
    asyncio.run(_loop(ready))


async def _loop(ready: AbstractAsyncContextManager[Answer]) -> None:
    async with ready as answer:
        _say((await answer(CALL)).decode())
        for line in sys.stdin:
            _say(str(await _nanoseconds(answer, int(line))))


async def _nanoseconds(answer: Answer, calls: int) -> int:
    # The processor's time: nothing here waits, and neighbors on the machine do not count.
    start = time.process_time_ns()
    for _ in range(calls):
        await answer(CALL)
    return time.process_time_ns() - start


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
