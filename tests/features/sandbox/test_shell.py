"""Commands run one after the other as in one shell, and none of them takes the session along."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sidecall.features.sandbox.shell import Shell
from sidecall.features.sandbox.shell_state import ShellBounds, ShellStates
from sidecall.kernel.ports.sandbox import CommandEnd
from tests.features.sandbox.machine import LIMITS, open_once
from tests.kit.processes import list_descendants
from tests.kit.waiting import until


class Session:
    """A shell and its folder."""

    def __init__(self, place: Path, waiting: int = 2) -> None:
        backend = open_once().backend
        assert backend is not None
        self.directory = place / "workspace"
        self.directory.mkdir()
        (place / "states").mkdir()
        self.states = ShellStates(place / "states")
        self.shell = Shell(backend, LIMITS, self.states, waiting)

    async def run(self, command: str, seconds: float = 20.0) -> CommandEnd:
        """Run a command."""
        return await self.shell.run(command, self.directory, ShellBounds(seconds=seconds), self._open)

    def measure(self, name: str) -> int:
        """Return the size of a file."""
        return (self.directory / name).stat().st_size

    def _open(self, kind: str) -> tuple[int, str]:
        path = self.directory / f"{kind}.txt"
        return os.open(path, os.O_WRONLY | os.O_CREAT), str(path)


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[Session]:
    """Begin one, whose next command finds a shell that waits for it."""
    begun = Session(tmp_path)
    yield begun
    await begun.shell.close()


# What is run, its exit code, and what it prints; None stands for what cannot be foretold.
CASES = [
    ("cat", 0, b""),
    ("printf abc", 0, b"abc"),
    ('echo "abc', 2, b""),
    ("exit 3", 3, b""),
    ("seq 1500000", 0, None),
    ("head -c 100000 /dev/urandom", 0, None),
    ("set -e; false", 1, b""),
    ("exec 1>&-", 0, b""),
    ("sleep 30 &", 0, b""),
    ("setsid sleep 30 & echo begun", 0, b"begun\n"),
    ("read line; echo $?", 0, b"1\n"),
    ("cd /tmp && pwd", 0, b"/tmp\n"),
    ("false", 1, b""),
    ("nosuchprogram", 127, b""),
    ("/usr", 126, b""),
    ("kill -9 $$", 137, b""),
    ("kill -TERM $$", 143, b""),
    ("cat <<'END'\na 'b' \"c\"\nEND", 0, b"a 'b' \"c\"\n"),
    ("printf 'a\\0b'", 0, b"a\0b"),
    ("echo \u00e9 \u2603", 0, "\u00e9 \u2603\n".encode()),
    ("exec true", 0, b""),
    ("trap 'echo bye' EXIT", 0, b"bye\n"),
    ("while :; do :; done", None, b""),
]


@pytest.mark.parametrize("waiting", [0, 2], ids=["each is started", "one waits"])
async def test_a_session_survives_each_command(tmp_path: Path, waiting: int) -> None:
    """A command is answered, no matter what it does, and the next finds the folder and variables as they were."""
    session = Session(tmp_path, waiting)
    await session.run("mkdir kept && cd kept && export KEPT='a b'")
    found = []
    for command, _, printed in CASES:
        end = await session.run(command, 0.5 if command.startswith("while") else 20.0)
        found.append((command, end.exit_code, printed if printed is None else b"".join(end.stdout)))
        if command.startswith("cd "):
            await session.run("cd -")
    last = await session.run('pwd; echo "$KEPT"')
    await session.shell.close()

    assert found == CASES
    assert last.stdout == (b"/workspace/kept\na b\n", b"")


async def test_a_deadline_ends_all_that_a_command_has_started(session: Session) -> None:
    """A child in a session of its own, too; and the answer does not wait for it."""
    began = time.monotonic()
    end = await session.run("setsid sleep 60 & sleep 60", 0.3)

    assert end.exit_code is None
    assert time.monotonic() - began < 20
    assert list_descendants(os.getpid(), "sleep") == []


async def test_a_command_that_nobody_waits_for_is_ended(session: Session) -> None:
    """As when the client has gone."""
    task = asyncio.create_task(session.run("sleep 60"))
    await until(lambda: bool(list_descendants(os.getpid(), "sleep")))
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task

    assert list_descendants(os.getpid(), "sleep") == []


async def test_of_a_long_output_the_beginning_and_the_end_are_kept(session: Session) -> None:
    """A file has all of it, up to what a file may have."""
    end = await session.run("seq 1 100000; echo oops >&2")
    head, tail = end.stdout

    assert head.startswith(b"1\n2\n")
    assert tail.endswith(b"99999\n100000\n")
    assert len(head) + len(tail) == 65_536
    assert (end.sizes, end.stderr) == ((588_895, 5), (b"oops\n", b""))
    assert (end.files, session.measure("stdout.txt")) == ((str(session.directory / "stdout.txt"),), 588_895)


async def test_a_restarted_session_has_forgotten(session: Session) -> None:
    """It begins in the folder, without variables."""
    await session.run("cd /tmp; export KEPT=1")
    session.states.forget(session.directory)

    assert (await session.run('pwd; echo "[$KEPT]"')).stdout == (b"/workspace\n[]\n", b"")


async def test_a_folder_that_is_gone_is_told(session: Session) -> None:
    """The command runs in the workspace instead."""
    await session.run("mkdir a && cd a")
    await session.run("rmdir /workspace/a")
    end = await session.run("pwd")

    assert end.stdout == (b"/workspace\n", b"")
    assert end.stderr == (b"The folder /workspace/a is gone; this command begins in /workspace.\n", b"")


async def test_programs_see_three_variables(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """PATH, HOME and LANG; what shells themselves add is not the server's."""
    monkeypatch.setenv("CANARY", "secret-canary")
    end = await session.run("env | sort")
    names = [line.partition(b"=")[0] for line in end.stdout[0].splitlines()]

    assert [name for name in names if name not in (b"PWD", b"SHLVL", b"_", b"OLDPWD")] == [b"HOME", b"LANG", b"PATH"]


async def test_what_a_program_writes_as_state_never_runs(session: Session) -> None:
    """Neither functions nor commands that it puts in the place of the shell's variables."""
    said = r"/workspace\0ls() { echo hijacked; }; touch run\ndeclare -x KEPT=1\ndeclare -x MORE=%s\n"
    await session.run(f"trap - EXIT; printf '{said}' '\"2\"' >&$__sidecall_fd")
    end = await session.run('ls; type -t ls; echo "[$KEPT][$MORE]"')

    assert end.stdout == (b"file\n[][2]\n", b"")


async def test_exported_functions_are_not_carried(session: Session) -> None:
    """Nor aliases, nor what a shell would run by itself."""
    await session.run("ls() { echo hijacked; }; export -f ls; alias cat=ls; export BASH_ENV=/workspace/x LD_PRELOAD=x")
    end = await session.run("type -t ls; echo ${BASH_ENV-none} ${LD_PRELOAD-none}; type -t cat")

    assert end.stdout == (b"file\nnone none\nfile\n", b"")
