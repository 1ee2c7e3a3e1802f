"""The fork server of sandboxed tools is started as all sandboxes are, and bounded before it begins."""

import asyncio
import os
import resource
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sidecall.features.sandbox import launcher as launching
from sidecall.features.sandbox.executor import SandboxExecutor
from sidecall.features.sandbox.fork_server_launcher import ForkServerLauncher
from sidecall.features.sandbox.launcher import LauncherProcess
from sidecall.features.sandbox.local_sandbox import LocalSandbox
from sidecall.kernel.pipeline.execution.execute import Execute
from sidecall.kernel.pipeline.stages import kernel_stages
from sidecall.kernel.ports.sandbox import SandboxFailed
from sidecall.loading.collect import TOOLS_OF
from tests.features.sandbox.machine import open_once
from tests.features.sandbox.own_tools import never_end, say
from tests.kernel.executors.conftest import answering
from tests.kit.processes import has_ended, list_descendants
from tests.kit.waiting import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap runs on Linux only")


@pytest.fixture
async def launcher() -> AsyncIterator[LauncherProcess]:
    """The process that starts sandboxes."""
    open_once()
    made = LauncherProcess()
    yield made
    await made.close()


class Launched:
    """What a sandbox runs, and what it writes."""

    def __init__(self, launcher: LauncherProcess, script: str) -> None:
        backend = open_once().backend
        assert backend is not None
        self._starter = ForkServerLauncher(1, 64)
        self._starter.backend = replace(backend, launcher=launcher)
        reading, self._out = os.pipe()
        self.pipe = os.fdopen(reading, "rb")
        self._script = script

    async def start(self) -> Any:
        """Start it in a thread, as a server does."""
        command = ["/bin/sh", "-c", self._script]
        try:
            return await asyncio.to_thread(self._starter.launch, command, self._out, self._out, {"SAID": "it"})
        finally:
            os.close(self._out)

    def close(self) -> None:
        """Remove what bounded it."""
        self._starter.close()
        self.pipe.close()


async def test_it_ends_as_a_child_process_does(launcher: LauncherProcess) -> None:
    """Waited for by a thread, and killed with all that it has started."""
    launched = Launched(launcher, "echo $SAID $(ulimit -n); sleep 600 & sleep 600")
    process = await launched.start()
    said = await asyncio.to_thread(launched.pipe.readline)
    await until(lambda: len(list_descendants(launcher.pid or 0, "sleep")) == 2)
    inside = list_descendants(launcher.pid or 0)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    process.kill()
    await asyncio.to_thread(process.wait, 20)
    process.kill()  # It may be told so once more.
    ended = await asyncio.to_thread(lambda: all(map(has_ended, inside)))
    launched.close()

    assert said == b"it 1024\n"
    assert process.pid in inside
    assert len(inside) >= 4
    assert ended
    assert process.poll() is None


async def test_no_descriptor_stays_open(launcher: LauncherProcess) -> None:
    """Neither here nor there, however many programs there were."""

    async def run() -> None:
        launched = Launched(launcher, "exit 3")
        await asyncio.to_thread((await launched.start()).wait, 20)
        launched.close()

    def count() -> int:
        return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in (os.getpid(), launcher.pid))

    await run()
    first = count()
    for _ in range(5):
        await run()

    await until(lambda: count() <= first)


async def test_without_its_limits_it_never_begins(launcher: LauncherProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is gone then."""

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    launched = Launched(launcher, "echo begun")
    monkeypatch.setattr(resource, "prlimit", refuse)
    with pytest.raises(PermissionError):
        await launched.start()
    monkeypatch.undo()

    assert await asyncio.to_thread(launched.pipe.read) == b""
    await until(lambda: list_descendants(launcher.pid or 0) == [])
    launched.close()


async def test_where_no_order_is_taken_it_is_not_started(
    launcher: LauncherProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that takes none is killed, and the next order finds another."""
    first = Launched(launcher, "echo begun")
    await asyncio.to_thread((await first.start()).wait, 20)
    stopped = launcher.pid
    assert stopped is not None
    os.kill(stopped, signal.SIGSTOP)
    monkeypatch.setattr(launching, "_LOOK", 0.02)
    second = Launched(launcher, "echo begun")
    with pytest.raises(SandboxFailed, match="the process that starts sandboxes has ended"):
        await second.start()
    monkeypatch.undo()
    third = Launched(launcher, "echo begun")
    await asyncio.to_thread((await third.start()).wait, 20)

    assert has_ended(stopped)
    assert [launched.pipe.read() for launched in (first, second, third)] == [b"begun\n", b"", b"begun\n"]
    for launched in (first, second, third):
        launched.close()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
async def test_calls_go_on_after_the_end_of_the_other_process(number: signal.Signals, tmp_path: Path) -> None:
    """What ran in a sandbox of a killed one fails; one that stands still holds up no call of a tool."""
    open_once()
    executor = SandboxExecutor(LocalSandbox(), 1, TOOLS_OF, 512)
    answer = answering(executor, kernel_stages(Execute({"sandbox": executor}), has_features=True))
    await executor.start([never_end.compiled, say.compiled])
    backend = (await executor.sandbox.open()).backend
    assert backend is not None
    first = backend.launcher.pid
    assert first is not None
    inside = list_descendants(first)
    running = asyncio.create_task(answer(never_end))
    await asyncio.sleep(0.2)
    os.kill(first, number)
    failed = await running
    next_one = await answer(say)
    await executor.close()

    assert failed.status == "error"
    assert (next_one.status, next_one.content) == ("success", "here")
    assert await asyncio.to_thread(lambda: all(map(has_ended, [first, *inside])))
