"""An event loop with virtual time: waiting takes no real time, and ends exactly when it should."""

import asyncio
import selectors
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from typing import Any, TypeVarTuple

import pytest

_Ts = TypeVarTuple("_Ts")
# What the fixture `anyio_backend` returns for modules marked `virtual_time`.
VIRTUAL = ("asyncio", {"loop_factory": lambda: VirtualLoop()})


# Seconds to wait for threads of a server that keeps nothing on disk, and for those that certainly do something, even if
# they wait for time to pass.
_GRACE = 0.002
_LONG_GRACE = 0.02


class _Jumping(selectors.DefaultSelector):
    """Skip the time in which nothing happens, here or in a thread of the loop's executors."""

    def __init__(self) -> None:
        super().__init__()
        self.skipped = 0.0
        self.in_threads = 0

    def select(self, timeout: float | None = None) -> Any:
        """Return what is ready; wait only for what other threads do, when nothing else is planned."""
        if timeout is None:
            return super().select()
        grace = _LONG_GRACE if self.in_threads else _GRACE if threading.active_count() > 1 else 0
        ready = super().select(min(timeout, grace))
        if not ready:
            self.skipped += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Run asyncio in virtual time, which starts at zero; for tests without threads and sockets."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        self.timers: list[asyncio.TimerHandle] = []
        super().__init__(self._jumping)

    def time(self) -> float:
        """Read the virtual clock, in whole nanoseconds, so that sums of decimals are the decimals they should be."""
        return round(self._jumping.skipped, 9)

    def call_at(
        self, when: float, callback: Callable[[*_Ts], object], *args: *_Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Plan as usual, and remember that something was planned."""
        timer = super().call_at(when, callback, *args, context=context)
        self.timers.append(timer)
        return timer

    def run_in_executor(self, executor: Any, func: Callable[[*_Ts], Any], *args: *_Ts) -> asyncio.Future[Any]:
        """Work in a thread, and note it."""
        done = super().run_in_executor(executor, func, *args)
        self._jumping.in_threads += 1
        done.add_done_callback(self._end_in_thread)
        return done

    def _end_in_thread(self, _: object) -> None:
        self._jumping.in_threads -= 1

    async def shutdown_default_executor(self, *_: Any, **__: Any) -> None:
        """Wait for threads as long as they take: Python's limit on it would be over at once."""
        await super().shutdown_default_executor()


@contextmanager
def virtual_runner() -> Iterator[asyncio.Runner]:
    """Give a runner whose virtual time also applies to deadlines, which read `time.monotonic()`."""
    with pytest.MonkeyPatch.context() as patch, asyncio.Runner(loop_factory=VirtualLoop) as runner:
        patch.setattr(time, "monotonic", runner.get_loop().time)
        yield runner


def running() -> VirtualLoop:
    """Give the virtual loop that runs."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop


def now() -> float:
    """Read the running loop's clock."""
    return round(asyncio.get_running_loop().time(), 6)


async def outcome(work: Awaitable[Any]) -> tuple[Any, float]:
    """Return the result of some work, or the type of its error, and the seconds it took."""
    started = now()
    try:
        came: Any = await work
    except BaseException as error:
        came = type(error)
    return came, round(now() - started, 6)
