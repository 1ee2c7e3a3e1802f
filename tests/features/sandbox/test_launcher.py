"""The process that starts sandboxes: what it starts, and what ends with it, with the server, and with an order."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from sidecall.features.sandbox import launcher as launching
from sidecall.features.sandbox.launcher import LaunchedProgram, LauncherProcess
from sidecall.features.sandbox.shell import Shell
from sidecall.features.sandbox.shell_state import ShellBounds, ShellStates
from sidecall.kernel.ports.sandbox import CommandEnd, SandboxFailed
from tests.features.sandbox.machine import LIMITS, open_once
from tests.kit.processes import has_ended, list_descendants
from tests.kit.waiting import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap runs on Linux only")

# What a server does that is killed while a sandbox waits for its limits.
_SERVER = """
import asyncio, sys
from dataclasses import replace
from pathlib import Path
from sidecall.features.sandbox.bubblewrap import HOME, Mount, SandboxSpec
from sidecall.features.sandbox.confined import Confined
from sidecall.features.sandbox.detection import open_sandbox
from sidecall.kernel.ports.sandbox import SandboxLimits

async def serve(folder):
    backend = (await open_sandbox(SandboxLimits())).backend
    mounts = [Mount(folder, HOME, is_writable=True)]
    bounded, unbounded = (
        Confined(backend, SandboxSpec(command=["/bin/sh", "-c", f"echo > {name}; sleep 600"], mounts=mounts))
        for name in ("bounded", "unbounded")
    )
    await bounded.begin()
    while not Path(folder, "bounded").exists():
        await asyncio.sleep(0.01)
    await unbounded._told
    print(backend.launcher.pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(serve(sys.argv[1]))
"""


@pytest.fixture
async def launcher() -> AsyncIterator[LauncherProcess]:
    """One for each test, which leaves no process behind."""
    made = LauncherProcess()
    yield made
    pid = made.pid
    await made.close()
    assert pid is None or not await asyncio.to_thread(Path(f"/proc/{pid}").exists)


class Launched:
    """A program, and the pipe that it writes to."""

    def __init__(self, launcher: LauncherProcess, words: Sequence[str], given: Mapping[int, int] | None = None) -> None:
        reading, writing = os.pipe()
        self._pipe = os.fdopen(reading, errors="surrogateescape")
        self.held, held = os.pipe()
        with ExitStack() as theirs:
            theirs.callback(os.close, writing)
            theirs.callback(os.close, held)
            self.program: LaunchedProgram = launcher.launch(words, {1: writing, 2: writing, **(given or {})}, held)

    async def read(self) -> str:
        """Return what it has written by its end."""
        reading = asyncio.ensure_future(asyncio.to_thread(self._pipe.read))
        await self.program.wait_ended()
        self.program.close()
        await asyncio.to_thread(self.program.release, waits=True)
        os.close(self.held)
        with self._pipe:
            return await reading


# What a program sees of its variables, its folder, its descriptors, and what can be read from them.
_LOOK_AROUND = r"""
cat /proc/$$/environ; echo $PWD; cd /proc/self/fd; for n in *; do [ -L $n ] && printf '%s ' $n; done; echo
cat 40 12 9 8 7 6 5 4 3; echo
"""


async def test_a_program_gets_what_it_is_given_and_nothing_else(launcher: LauncherProcess) -> None:
    """By any numbers, those of the launcher's own descriptors included; no variables, and the root as its folder."""
    given = {}
    with ExitStack() as ours:
        for number in (3, 4, 5, 6, 7, 8, 9, 12, 40):
            given[number] = launching.store_bytes(f"{number} ".encode(), ours)
        said = await Launched(launcher, ["/bin/bash", "-c", _LOOK_AROUND], given).read()

    assert said == "/\n0 1 12 2 3 4 40 5 6 7 8 9 \n40 12 9 8 7 6 5 4 3 \n"


async def test_a_program_that_wakes_up_interrupts_nobody(launcher: LauncherProcess) -> None:
    """Neither does what it starts: both have the policy for what may wait."""
    said = await Launched(launcher, ["/bin/sh", "-c", "cat /proc/self/stat; cat /proc/$$/stat"]).read()

    # Field 41, counted from behind the name in parentheses.
    assert [int(line.rpartition(")")[2].split()[38]) for line in said.splitlines()] == [os.SCHED_BATCH] * 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["/no/such/program"], "no sandbox can be started: No such file or directory"),
        (["/bin/echo", "a\0b"], "no sandbox can be started: Invalid argument"),
    ],
)
async def test_why_a_program_cannot_be_started_is_said(
    launcher: LauncherProcess, words: Sequence[str], said: str
) -> None:
    """And the next one starts."""
    failed = Launched(launcher, words)
    nothing = await failed.read()
    large = "x" * 100_000
    works = await Launched(launcher, ["/bin/echo", large, large, "\udcff"]).read()

    assert (failed.program.trouble, nothing) == (said, "")
    assert works == f"{large} {large} \udcff\n"


async def test_what_a_program_has_started_ends_with_it(launcher: LauncherProcess) -> None:
    """In sessions of its own, too; and the launcher keeps nothing of all that it has started."""
    for _ in range(20):
        await Launched(launcher, ["/bin/true"]).read()
    assert launcher.pid is not None
    before = len(os.listdir(f"/proc/{launcher.pid}/fd"))
    launched = Launched(launcher, ["/bin/sh", "-c", "setsid sleep 600 & sleep 600 & echo; wait"])
    await until(lambda: len(list_descendants(launcher.pid or 0, "sleep")) == 2)
    sleepers = list_descendants(launcher.pid, "sleep")
    launched.program.end()
    await launched.read()

    assert all(map(has_ended, sleepers))
    assert list_descendants(launcher.pid) == []
    assert len(os.listdir(f"/proc/{launcher.pid}/fd")) == before


def make_shell(launcher: LauncherProcess, waiting: int = 0) -> Shell:
    """Make what runs commands with a launcher of its own."""
    backend = open_once().backend
    assert backend is not None
    return Shell(replace(backend, launcher=launcher), LIMITS, ShellStates(), waiting)


async def run(shell: Shell, command: str, folder: Path) -> CommandEnd:
    """Run a command in a workspace."""
    return await shell.run(command, folder, ShellBounds(seconds=60), lambda _: None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace."""
    made = tmp_path / "one" / "files"
    made.mkdir(parents=True)
    return made


@pytest.mark.parametrize("waiting", [0, 1])
async def test_a_killed_launcher_ends_what_it_has_started_and_another_takes_its_place(
    launcher: LauncherProcess, folder: Path, waiting: int
) -> None:
    """A command in it fails, and the next one runs."""
    shell = make_shell(launcher, waiting)
    running = asyncio.create_task(run(shell, "echo > begun; sleep 600", folder))
    await until((folder / "begun").exists)
    first = launcher.pid
    assert first is not None
    inside = list_descendants(first)
    os.kill(first, signal.SIGKILL)
    with pytest.raises(SandboxFailed, match="the process that starts sandboxes has ended"):
        await running
    end = await run(shell, "echo here", folder)
    await shell.close()

    assert len(inside) >= 3
    assert all(map(has_ended, inside))
    assert (end.exit_code, end.stdout[0]) == (0, b"here\n")
    assert launcher.pid not in (None, first)


async def test_a_launcher_that_stands_still_is_killed(
    launcher: LauncherProcess, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever has ordered does not wait for it for long, and the event loop not at all."""
    shell = make_shell(launcher)
    await run(shell, "true", folder)
    first = launcher.pid
    assert first is not None
    os.kill(first, signal.SIGSTOP)
    monkeypatch.setattr(launching, "_LOOK", 0.02)
    with pytest.raises(SandboxFailed):
        await run(shell, "true", folder)
    monkeypatch.undo()
    end = await run(shell, "echo here", folder)

    assert has_ended(first)
    await run(shell, "true", folder)
    assert not await asyncio.to_thread(Path(f"/proc/{first}").exists)  # Nor is it a zombie.
    assert (end.exit_code, end.stdout[0]) == (0, b"here\n")
    assert "the process that starts sandboxes stands still; it is killed, and another takes its place" in caplog.text


async def test_orders_that_nobody_takes_do_not_block(launcher: LauncherProcess) -> None:
    """The first that finds no room goes to another launcher."""
    first = await _stop(launcher)
    launched = [Launched(launcher, ["/bin/true"])]
    while launcher.pid == first:
        launched.append(Launched(launcher, ["/bin/true"]))
    said = [(await one.read(), one.program.trouble) for one in launched]

    assert has_ended(first)
    assert said[-1] == ("", "")
    assert {trouble for _, trouble in said[:-1]} == {"the process that starts sandboxes has ended"}


async def _stop(launcher: LauncherProcess) -> int:
    await Launched(launcher, ["/bin/true"]).read()
    assert launcher.pid is not None
    os.kill(launcher.pid, signal.SIGSTOP)
    return launcher.pid


def test_with_a_killed_server_all_ends_and_nothing_begins_without_limits(folder: Path) -> None:
    """What waits for its limits never runs, though nobody holds it back any more."""
    open_once()
    with subprocess.Popen([sys.executable, "-c", _SERVER, str(folder)], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        launcher = int(server.stdout.readline())
        started = [launcher, *list_descendants(launcher)]
        server.kill()

    assert len(started) >= 5
    assert all(map(has_ended, started))
    assert os.listdir(folder) == ["bounded"]


async def test_what_a_closed_launcher_has_started_ends(folder: Path) -> None:
    """The process of a server that stops, too."""
    launcher = LauncherProcess()
    shell = make_shell(launcher, waiting=1)
    await run(shell, "true", folder)
    await until(lambda: list_descendants(launcher.pid or 0, "bash") != [])
    assert launcher.pid is not None
    started = [launcher.pid, *list_descendants(launcher.pid)]
    await launcher.close()
    await shell.close()
    await launcher.close()  # The shell may have had another started meanwhile.

    assert all(map(has_ended, started))
