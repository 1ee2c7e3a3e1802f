"""Nothing is left of the process that forks."""

import asyncio
import os

import pytest

from sidecall.authoring.offers import TOOLS_OF
from sidecall.executors.process.code import open_code
from sidecall.executors.process.fork_server_process import ForkServerProcess


async def test_it_is_ended_even_if_nobody_waits_for_its_end() -> None:
    """And leaves no zombie."""
    forks = ForkServerProcess(TOOLS_OF)
    code = open_code(b"")
    _, sock = forks.fork(code)
    os.close(code)
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
