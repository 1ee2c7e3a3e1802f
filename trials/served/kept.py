"""A tool that must not run twice for one id of a call: it writes a line that outlives its worker."""

import asyncio
import os

from sidecall import tool

_FILE = os.environ.get("SIDECALL_TRIAL_EFFECTS", os.devnull)


@tool(idempotency="tool_call_id")
async def book(mark: str, seconds: float = 0.0) -> str:
    """Write a mark, once for each id of a call.

    Args:
        mark: What to write.
        seconds: How long it takes.
    """
    await asyncio.sleep(seconds / 2)
    file = os.open(_FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(file, f"{mark}\n".encode())
    finally:
        os.close(file)
    await asyncio.sleep(seconds / 2)
    return f"booked {mark} in {os.getpid()}"
