"""Tools whose effects can be counted: each writes a line that outlives its server."""

import asyncio
import os
import random

from sidecall import ToolAnnotations, tool

_FILE = os.environ.get("SIDECALL_TRIAL_EFFECTS", os.devnull)


def _note(mark: str) -> None:
    file = os.open(_FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(file, f"{mark}\n".encode())
    finally:
        os.close(file)


@tool(annotations=ToolAnnotations(idempotent=True))
async def put(mark: str, seconds: float = 0.0) -> str:
    """Write a mark, which may be done twice.

    Args:
        mark: What to write.
        seconds: How long it takes, about.
    """
    await asyncio.sleep(random.uniform(0, seconds))
    _note(mark)
    await asyncio.sleep(random.uniform(0, seconds))
    return f"put {mark}"


@tool
async def add(mark: str, seconds: float = 0.0) -> str:
    """Write a mark, which must not be done twice.

    Args:
        mark: What to write.
        seconds: How long it takes, about.
    """
    await asyncio.sleep(random.uniform(0, seconds))
    _note(mark)
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
