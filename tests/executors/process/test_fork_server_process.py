"""Nothing is left of the process that forks."""

import asyncio
import os

import pytest

from sidecall.executors.process.finder import IN_MODULES
from sidecall.executors.process.fork_server_process import ForkServerProcess


async def test_it_is_ended_even_if_nobody_waits_for_its_end() -> None:
    """And leaves no zombie."""
    forks = ForkServerProcess(IN_MODULES.discover)
    _, sock = forks.fork()
    pid = forks.pid
    closing = asyncio.ensure_future(forks.close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    sock.close()

    assert pid is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
