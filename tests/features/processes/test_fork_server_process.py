"""Nothing is left of the process that forks."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from sidecall.features.processes.code import open_code
from sidecall.features.processes.fork_server_process import ForkServerProcess
from sidecall.http.changed_installation import InstallationGuard
from sidecall.loading.collect import TOOLS_OF
from tests.kit.projects import write


async def test_it_is_ended_even_if_nobody_waits_for_its_end() -> None:
    """And leaves no zombie."""
    forks = ForkServerProcess(TOOLS_OF)
    forks.start()
    code = open_code(b"")
    ordered = forks.fork(code)
    assert ordered is not None
    _, sock = ordered
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
        await _ask_for(pid)


async def _ask_for(pid: int) -> None:
    """Ask until it is gone: where the wait for its end was cancelled, a thread goes on with it."""
    async with asyncio.timeout(60):
        while True:
            os.kill(pid, 0)
            await asyncio.sleep(0.01)


async def test_none_is_made_of_another_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Server and processes of two versions would not understand each other."""
    mark = write(tmp_path / "version.py")
    monkeypatch.setattr(sys, "meta_path", [InstallationGuard(mark), *sys.meta_path])
    monkeypatch.delitem(sys.modules, "sidecall.features.processes.inside.main", raising=False)
    mark.unlink()
    forks = ForkServerProcess(TOOLS_OF)

    with pytest.raises(OSError, match="The installation has changed"):
        forks.start()
    assert forks.fork(0) is None
    assert forks.pid is None
    await forks.close()
