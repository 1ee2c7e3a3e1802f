"""A shell that waits for the next command is like one that is started for it, and is used once."""

import asyncio
import os
import resource
import shutil
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from sidecall.features.sandbox.shell import Shell
from sidecall.features.sandbox.shell_process import find_shell
from sidecall.features.sandbox.shell_state import ShellBounds, ShellStates
from sidecall.features.sandbox.warm_shells import WarmShells
from sidecall.kernel.ports.sandbox import CommandEnd
from tests.features.sandbox.machine import LIMITS, open_once
from tests.kit.processes import has_ended, list_descendants
from tests.kit.waiting import until


class Conversations:
    """Some workspaces and the shells of their commands."""

    def __init__(self, place: Path, waiting: int) -> None:
        backend = open_once().backend
        assert backend is not None
        self._place = place
        self.states = ShellStates()
        self.shell = Shell(backend, LIMITS, self.states, waiting)

    def directory(self, name: str) -> Path:
        """Return the workspace of a conversation."""
        found = self._place / name / "files"
        found.mkdir(parents=True, exist_ok=True)
        return found

    async def run(
        self, command: str, name: str = "one", *, seconds: float = 20.0, is_plain: bool = False
    ) -> CommandEnd:
        """Run a command in a conversation."""
        bounds = ShellBounds(seconds=seconds)
        return await self.shell.run(command, self.directory(name), bounds, lambda _: None, is_plain=is_plain)

    async def say(self, command: str, name: str = "one", *, is_plain: bool = False) -> str:
        """Run a command, and return all that it prints."""
        end = await self.run(command, name, is_plain=is_plain)
        return (end.stdout[0] + end.stderr[0]).decode()

    @property
    def waiting(self) -> list[str]:
        """The conversations in which a shell waits."""
        return [directory.parent.name for directory in self.shell.waiting.directories]

    async def find_waiting(self) -> int:
        """Return the process of the shell that waits, once it does."""
        found: list[int] = []

        def look() -> bool:
            found[:] = list_descendants(os.getpid(), "bash")
            return len(found) == 1

        await until(look)
        return found[0]


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Callable[[int], Conversations]]:
    """Begin conversations, with a number of shells that wait."""
    made: list[Conversations] = []

    def begin(waiting: int = 2) -> Conversations:
        made.append(Conversations(tmp_path, waiting))
        return made[-1]

    yield begin
    for one in made:
        await one.shell.close()
    await until(lambda: list_descendants(os.getpid(), "bwrap") == [])


Make = Callable[..., Conversations]

# What one command does, and what the next must not find of it, or must.
BETWEEN = {
    "variable": ("A=1; export B=2", "echo [$A][$B]", "[][2]\n"),
    "function": ("f() { echo left; }", "type f 2>/dev/null; echo $?", "1\n"),
    "option": (
        "set -u; shopt -s extglob; umask 077",
        "umask; echo $- | tr -cd u; shopt -q extglob; echo $?",
        "0022\n1\n",
    ),
    "trap": ("trap 'echo left' EXIT", "echo here", "here\n"),
    "temporary": ("echo left >/tmp/left; echo left >/dev/shm/left", "ls /tmp /dev/shm", "/dev/shm:\n\n/tmp:\n"),
    "workspace": ("echo kept > kept", "cat kept", "kept\n"),
    "folder": ("mkdir -p 'a\n b'; cd 'a\n b'", "pwd", "/workspace/a\\n b\n"),
    "background": ("setsid sleep 600 & nohup sleep 600 &", "pgrep -c sleep; true", "0\n"),
    "limit": ("ulimit -n 10", "ulimit -n", "256\n"),
    "time": ("true", "echo $SECONDS", "0\n"),
    "positional": ("set -- a b", "echo $#", "0\n"),
    "input": ("true", "cat; read line; echo $?", "1\n"),
    "own command": (
        "true",
        "echo x >>/proc/$$/fd/$(readlink /run/sidecall/command | tr -dc 0-9) 2>/dev/null; echo $?",
        "1\n",
    ),
}


@pytest.mark.parametrize("waiting", [0, 2], ids=["each is started", "one waits"])
async def test_a_command_finds_what_it_would_find_in_a_shell_of_its_own(make: Make, waiting: int) -> None:
    """The folder and the exported variables, and the files of the workspace, and nothing else."""
    one = make(waiting)
    found = {}
    for name, (before, after, _) in BETWEEN.items():
        await one.run(before.replace("\\n", "\n"), name)
        found[name] = await one.say(after, name)

    assert found == {name: expected.replace("\\n", "\n") for name, (_, _, expected) in BETWEEN.items()}


async def test_the_next_command_runs_in_the_shell_that_waited(make: Make) -> None:
    """And the one after it in another."""
    one = make(1)
    await one.run("true")
    pids = [await one.find_waiting()]
    await one.run("true")
    pids.append(await one.find_waiting())

    assert has_ended(pids[0])
    assert pids[0] != pids[1]


# What happens while a shell waits; the next command is answered as if none had.
MEANWHILE: dict[str, Callable[[Conversations, int], object]] = {
    "nothing": lambda _one, _pid: None,
    "killed": lambda _one, pid: (os.kill(pid, signal.SIGKILL), has_ended(pid)),
    "restart": lambda one, _pid: one.states.forget(one.directory("one")),
    "workspace made anew": lambda one, _pid: (
        one.directory("one").rename(one.directory("one").with_name("old")),
        one.directory("one"),
    ),
    "workspace removed": lambda one, _pid: shutil.rmtree(one.directory("one").parent),
    "folder removed": lambda one, _pid: (one.directory("one") / "sub").rmdir(),
}
FOUND = {
    "nothing": "/workspace/sub\n[1]\nhere\n",
    "killed": "/workspace/sub\n[1]\nhere\n",
    "restart": "/workspace\n[]\nhere\n",
    "workspace made anew": "/workspace\n[1]\nThe folder /workspace/sub is gone; this command begins in /workspace.\n",
    "workspace removed": "/workspace\n[]\n",
    "folder removed": "/workspace\n[1]\nhere\nThe folder /workspace/sub is gone; this command begins in /workspace.\n",
}


@pytest.mark.parametrize("name", MEANWHILE)
async def test_what_changes_while_it_waits_counts(make: Make, name: str) -> None:
    """The state, the workspace, and the shell itself."""
    one = make(1)
    await one.run("touch here; mkdir sub; cd sub; export A=1")
    MEANWHILE[name](one, await one.find_waiting())
    said = await one.say('pwd; echo "[$A]"; cd /workspace; ls | grep here')

    assert said == FOUND[name]


async def test_no_variable_of_a_command_ends_the_shell_that_waits(make: Make) -> None:
    """As one after whose seconds `read` would give up; the next command finds it all the same."""
    one = make(1)
    await one.run("export TMOUT=1")
    pid = await one.find_waiting()
    await asyncio.sleep(1.2)

    assert await one.find_waiting() == pid
    assert await one.say("echo $TMOUT") == "1\n"


async def test_one_that_dies_as_it_gets_its_command_is_replaced(make: Make) -> None:
    """The command has not begun, and runs once."""
    one = make(1)
    await one.run("true")
    pid = await one.find_waiting()
    os.kill(pid, signal.SIGSTOP)
    waiting = one.shell.waiting.take(one.directory("one"), one.states.read(one.directory("one")).variables)
    assert waiting is not None
    one.shell.waiting._placed.clear()
    kept = one.shell.waiting.take
    one.shell.waiting.take = lambda *_: waiting  # type: ignore[method-assign]
    begin = waiting.begin

    async def begin_and_die() -> None:
        await begin()
        os.kill(pid, signal.SIGKILL)

    waiting.begin = begin_and_die  # type: ignore[method-assign]
    said = await one.say("echo once >> runs; cat runs")
    one.shell.waiting.take = kept  # type: ignore[method-assign]

    assert said == "once\n"


async def test_an_allowed_command_gets_no_shell_with_variables(make: Make) -> None:
    """None of an earlier command can replace its program, in either order."""
    one = make(1)
    await one.run("export A=1")
    said = [await one.say("echo [$A]", is_plain=is_plain) for is_plain in (True, True, False, True)]

    assert said == ["[]\n", "[]\n", "[1]\n", "[]\n"]


async def test_a_deadline_counts_from_the_command(make: Make) -> None:
    """It ends the command and all that it has started, and no shell waits after it."""
    one = make(1)
    await one.run("true")
    await one.find_waiting()
    end = await one.run("setsid sleep 600 & sleep 600", seconds=0.3)

    assert end.exit_code is None
    assert one.waiting == []
    assert list_descendants(os.getpid(), "sleep") == []
    assert await one.say("echo again") == "again\n"


async def test_only_so_many_wait(make: Make) -> None:
    """Those of the last conversations; the others are ended."""
    two = make(2)
    for name in ("a", "b", "c", "a"):
        await two.run("true", name)

    await until(lambda: two.waiting == ["c", "a"])
    await until(lambda: len(list_descendants(os.getpid(), "bash")) == 2)


async def test_none_waits_in_a_workspace_that_has_ended_with_its_command(make: Make) -> None:
    """As that of a call without a conversation."""
    one = make(1)
    await one.run("true")
    shutil.rmtree(one.directory("one").parent)
    await until(lambda: len(list_descendants(os.getpid(), "bwrap")) == 2)  # Those for first commands.

    assert one.waiting == []


async def test_none_waits_where_none_may(make: Make) -> None:
    """As before there were any."""
    none = make(0)
    await none.run("true")

    assert none.waiting == []
    await until(lambda: list_descendants(os.getpid(), "bwrap") == [])


async def test_one_that_is_not_used_ends(tmp_path: Path) -> None:
    """After its time."""
    backend = open_once().backend
    assert backend is not None
    waiting = WarmShells(find_shell(backend, LIMITS), 1, idle_seconds=0.3)
    waiting.prepare(tmp_path, {})
    await until(lambda: waiting.directories == [tmp_path])
    await until(lambda: not waiting.directories)
    await until(lambda: list_descendants(os.getpid(), "bash") == [])
    await waiting.close()


async def test_it_is_bounded_while_it_waits(make: Make) -> None:
    """As it will be when it runs: the first, which was started for it, and the second, which has waited before."""
    backend = open_once().backend
    one, is_grouped = make(1), backend is not None and backend.groups is not None
    for _ in range(2):
        await one.run("true")
        pid = await one.find_waiting()

        assert resource.prlimit(pid, resource.RLIMIT_NOFILE)[0] == LIMITS.open_files
        assert resource.prlimit(pid, resource.RLIMIT_FSIZE)[0] == LIMITS.file_bytes
        assert not is_grouped or read_room(pid) == LIMITS.processes
        await asyncio.sleep(0.2)  # What waits without a workspace has to come into its cgroup.


def read_room(pid: int) -> int:
    """Return how many processes the cgroup of a process takes beside what is outside of the sandbox."""
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    found = [line.split(":", 2) for line in lines if "/sidecall-" in line]
    names, path = next(((names, path) for _, names, path in found if names in ("pids", "")), ("", ""))
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    places = {name: place for _, place, kind, said, *_ in mounts if kind == "cgroup" for name in said.split(",")}
    place = places[names] if names else next(place for _, place, kind, *_ in mounts if kind == "cgroup2")
    group = Path(place + path)
    members = (group / "cgroup.procs").read_text().split()
    outside = [member for member in members if Path(f"/proc/{member}/comm").read_text() == "bwrap\n"][1:]
    return int((group / "pids.max").read_text()) - len(outside)


async def test_a_command_of_any_length_runs_with_all_variables_that_are_kept(make: Make) -> None:
    """However many bytes these have."""
    one = make(1)
    await one.run("export A=" + "x" * 50_000)

    assert await one.say(f": {'y' * 300_000}; echo ${{#A}}") == "50000\n"
