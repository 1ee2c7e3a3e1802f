"""Tools with countable effects: each writes a line that outlives its server, which they may end at any point."""

import asyncio
import os
import random
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import Any

from sidecall import ToolAnnotations, tool

_FILE = os.environ.get("SIDECALL_TRIAL_EFFECTS", os.devnull)


def _note(mark: str) -> None:
    _append(_FILE, mark)


def _append(path: str, line: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(file, f"{line}\n".encode())
    finally:
        os.close(file)


class _Fuse:
    """Count what the interpreter does from now on, each begin and end of a function, and end the process at a number.

    Without a number it only tells how far it had come whenever a part of an answer was written.
    """

    def __init__(self, last: int) -> None:
        self._last = last
        self._count = 0

    def __call__(self, frame: FrameType, event: str, _about: Any) -> None:
        self._count += 1
        if self._count == self._last:
            os.kill(os.getpid(), signal.SIGKILL)
        if not self._last and event == "call" and frame.f_code.co_filename.endswith("server/responses.py"):
            _append(f"{_FILE}.events", f"{self._count}")


def _light(mark: str, last: int | None) -> None:
    """Light a fuse in this thread, the event loop's, once for each mark, across servers."""
    if last is not None:
        with suppress(FileExistsError):
            os.close(os.open(f"{_FILE}.{mark}", os.O_CREAT | os.O_EXCL))
            sys.setprofile(_Fuse(last))


@tool(annotations=ToolAnnotations(idempotent=True))
async def put(mark: str, seconds: float = 0.0, end_after: int | None = None) -> str:
    """Write a mark, which may be done twice.

    Args:
        mark: What to write.
        seconds: How long it takes, about.
        end_after: How many events of the interpreter later the server ends, at the first time.
    """
    await asyncio.sleep(random.uniform(0, seconds))
    _note(mark)
    _light(mark, end_after)
    await asyncio.sleep(random.uniform(0, seconds))
    return f"put {mark}"


@tool
async def add(mark: str, seconds: float = 0.0, end_after: int | None = None) -> str:
    """Write a mark, which must not be done twice.

    Args:
        mark: What to write.
        seconds: How long it takes, about.
        end_after: How many events of the interpreter later the server ends, at the first time.
    """
    await asyncio.sleep(random.uniform(0, seconds))
    _note(mark)
    _light(mark, end_after)
    await asyncio.sleep(random.uniform(0, seconds))
    return f"added {mark} in {os.getpid()}"


@tool(requires_approval=True)
async def pay(mark: str) -> str:
    """Write a mark when a person allows it.

    Args:
        mark: What to write.
    """
    _note(mark)
    return f"paid {mark}"


@tool
async def echo(mark: str) -> str:
    """Say the same.

    Args:
        mark: What to say.
    """
    return mark


@tool
async def light(mark: str, end_after: int) -> str:
    """Light a fuse.

    Args:
        mark: Its name, for which it is lit once.
        end_after: How many events of the interpreter later the server ends.
    """
    _light(mark, end_after)
    return "lit"
