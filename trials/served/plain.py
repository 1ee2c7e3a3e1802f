"""The tools that the trials call: quick ones, slow ones, and the worst that can be written."""

import asyncio
import ctypes
import gc
import os
import random
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

from sidecall import ToolContext, ToolException, tool

# When the tool of this mark began and when its clean-up ran, by the clock that all processes of a machine share.
_notes: dict[str, float] = {}


@tool(executor="inline")
def add_inline(a: int, b: int) -> int:
    """Add two integers on the event loop."""
    return a + b


@tool
def add(a: int, b: int) -> int:
    """Add two integers in a thread."""
    return a + b


@tool(executor="process")
def add_apart(a: int, b: int) -> int:
    """Add two integers in a process."""
    return a + b


@tool
async def pause(seconds: float) -> str:
    """Wait on the event loop, as a tool does that asks somebody else."""
    await asyncio.sleep(seconds)
    return "done"


@tool(max_concurrency=16)
def doze(seconds: float) -> str:
    """Wait in a thread, in half of the pool at most."""
    time.sleep(seconds)
    return "done"


@tool(executor="process", max_concurrency=2)
def doze_apart(seconds: float) -> str:
    """Wait in a process, in half of the pool at most."""
    time.sleep(seconds)
    return "done"


@tool
def compute(seconds: float) -> int:
    """Count in pure Python, in a thread."""
    return _count(seconds)


@tool(executor="process")
def compute_apart(seconds: float) -> int:
    """Count in pure Python, in a process."""
    return _count(seconds)


def _count(seconds: float) -> int:
    end = time.monotonic() + seconds
    counted = 0
    while time.monotonic() < end:
        counted += 1
    return counted


@tool(timeout=1)
async def hang() -> str:
    """Wait on the event loop for longer than it may."""
    await asyncio.sleep(60)
    return "done"


@tool(timeout=1)
async def hang_on(seconds: float) -> str:
    """Go on waiting whenever it is cancelled."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(end - time.monotonic())
    return "done"


@tool(timeout=1)
def hang_in_thread(seconds: float) -> str:
    """Wait in a thread for longer than it may."""
    time.sleep(seconds)
    return "done"


@tool(timeout=1, executor="process")
def hang_apart(pid_file: str) -> str:
    """Wait in a process for longer than it may."""
    _sign(pid_file)
    time.sleep(60)
    return "done"


@tool(timeout=0.5)
def oversleep(seconds: float) -> str:
    """Wait in a thread for longer than half a second."""
    time.sleep(seconds)
    return "done"


@tool(timeout=1, executor="process")
def spin(pid_file: str) -> None:
    """Compute for ever in a process."""
    _sign(pid_file)
    while True:
        pass


@tool(executor="process")
def leave(pid_file: str) -> None:
    """End the process."""
    _sign(pid_file)
    os._exit(1)


@tool(executor="process")
def crash(pid_file: str) -> None:
    """Read where nothing is."""
    _sign(pid_file)
    ctypes.string_at(0)


@tool(executor="process", memory_limit_mb=256)
def devour(pid_file: str, megabytes: int) -> int:
    """Take memory."""
    _sign(pid_file)
    return len(bytearray(megabytes * 1024 * 1024))


def _sign(pid_file: str) -> None:
    Path(pid_file).write_text(str(os.getpid()))


@tool
async def wait_unheard(mark: str) -> str:
    """Wait for five seconds, and note when the clean-up ran."""
    try:
        await asyncio.sleep(5)
    finally:
        _notes[mark] = time.monotonic()
    return "done"


@tool(executor="inline")
def noted(mark: str) -> float | None:
    """Say when the clean-up of the call with this mark ran."""
    return _notes.get(mark)


@tool
async def never_clean(seconds: float) -> None:
    """Hang in the clean-up, however often it is cancelled."""
    try:
        await asyncio.sleep(seconds)
    finally:
        while True:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(3600)


@tool(executor="inline")
def counts() -> dict[str, int]:
    """Count the tasks of the event loop, and the threads that run tools."""
    ours = [thread for thread in threading.enumerate() if thread.name.startswith("sidecall-tool_")]
    return {"tasks": len(asyncio.all_tasks()), "threads": len(ours)}


@tool(executor="inline")
def collect() -> int:
    """Free what only points at itself, and say how many objects that were."""
    return gc.collect()


@tool
async def fail(text: str) -> None:
    """Tell the model that something is wrong."""
    raise ToolException(text)


@tool
def divide(a: int, b: int) -> int:
    """Crash when the divisor is zero."""
    return a // b


@tool(timeout=0.05)
async def run_late() -> str:
    """Wait for longer than it may."""
    await asyncio.sleep(5)
    return "done"


@tool(timeout=0.05)
def run_late_in_thread() -> str:
    """Wait in a thread for a little longer than it may."""
    time.sleep(0.15)
    return "done"


@tool(timeout=0.1, executor="process")
def run_late_apart() -> str:
    """Wait in a process for longer than it may."""
    time.sleep(5)
    return "done"


@tool
async def tell_all(size: int) -> str:
    """Return more than a model wants to read."""
    return random.choice("abcdefgh") * size


@tool
async def report(steps: int, context: ToolContext) -> AsyncIterator[str]:
    """Say how far it is, and return its parts one by one."""
    for step in range(steps):
        await context.progress(step, steps)
        yield f"part {step} "


@tool
def recite(steps: int) -> Iterator[str]:
    """Return parts one by one from a thread."""
    for step in range(steps):
        yield f"part {step} "


@tool(requires_approval=True)
async def pay(amount: int) -> str:
    """Ask a person first."""
    return f"paid {amount}"
