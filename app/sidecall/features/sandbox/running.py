"""Run a program in a sandbox until it has ended or its time is up."""

import asyncio
from typing import NamedTuple

from sidecall.features.sandbox.spec import Running, SandboxFailed


class ProgramEnd(NamedTuple):
    """How a program ended: with an exit code, or by its timeout."""

    exit_code: int
    is_late: bool


async def run_within(running: Running, seconds: float) -> ProgramEnd:
    """Run a program, and clean up after it in any case.

    Raises:
        SandboxFailed: It could not start.
    """
    is_late = False

    def stop() -> None:
        nonlocal is_late
        is_late = True
        running.kill()

    timer = asyncio.get_running_loop().call_later(seconds, stop)
    code: int | None = None
    try:
        await running.begin()
        code = await running.wait()
    except SandboxFailed:
        if not is_late:
            raise
    finally:
        timer.cancel()
        running.close()
        await running.wait_closed()
    if code is None and not is_late:
        raise SandboxFailed(running.trouble)
    return ProgramEnd(-1 if code is None else code, is_late)
