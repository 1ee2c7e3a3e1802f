"""No way leads out of a sandbox, of any kind."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sidecall.features.sandbox.landlock import NEEDED, read_version
from sidecall.features.sandbox.monty import MontyPython
from sidecall.features.sandbox.python_programs import starter_in_bubblewrap, starter_with_landlock
from sidecall.features.sandbox.python_sessions import PythonSession
from sidecall.features.sandbox.shell import Shell
from sidecall.features.sandbox.shell_state import ShellBounds, ShellStates
from tests.features.sandbox.escapes import PYTHON, SHELL
from tests.features.sandbox.machine import LIMITS, open_once
from tests.kit.waiting import PATIENCE


class Outside:
    """What lies outside, and listens there."""

    def __init__(self, place: Path) -> None:
        self.canary = place / "outside" / "canary.txt"
        self.canary.parent.mkdir()
        self.canary.write_text("canary")
        self.directory = place / "workspace"
        self.directory.mkdir()
        self.name = f"sidecall-{os.getpid()}"
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.unix = socket.socket(socket.AF_UNIX)
        self.unix.bind("\0" + self.name)
        self.unix.listen()

    @property
    def names(self) -> dict[str, Any]:
        """What the ways out are told of it."""
        port = self.tcp.getsockname()[1]
        return {"CANARY": str(self.canary), "PID": os.getpid(), "PORT": port, "NAME": self.name}

    def close(self) -> None:
        """Listen no more."""
        self.tcp.close()
        self.unix.close()


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outside]:
    """Lay it out."""
    monkeypatch.setenv("CANARY", "canary")
    found = Outside(tmp_path)
    yield found
    found.close()


def _write(code: str, outside: Outside) -> str:
    told = "\n".join(f"{name} = {value!r}" for name, value in outside.names.items())
    return f"{told}\n{code}"


def _has_led_out(value: str | None) -> bool:
    return value not in (None, "False", "0", "''", "b''", "[]")


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
async def test_no_python_gets_out(outside: Outside, kind: str) -> None:
    """Of files, other processes, networks, descriptors, mounts, namespaces."""
    if kind == "landlock" and read_version() < NEEDED:
        pytest.skip("the kernel's Landlock is too old")
    backend = open_once().backend
    assert backend is not None
    start = starter_in_bubblewrap(backend, LIMITS) if kind == "bubblewrap" else starter_with_landlock(LIMITS)
    session = PythonSession(start, outside.directory)
    ends = {way: await session.run(_write(code, outside), 20) for way, code in PYTHON.items()}
    works = await session.run("sum(range(10))", 20)
    await session.close()

    assert len(ends) >= 30
    assert [way for way, end in ends.items() if _has_led_out(end.value)] == []
    assert works.value == "45"
    assert outside.canary.read_text() == "canary"


async def test_no_python_gets_out_of_its_interpreter(outside: Outside) -> None:
    """Where there is no system beneath it."""
    python = MontyPython(LIMITS)
    ends = {way: await python.run(_write(code, outside), outside.directory, 5) for way, code in PYTHON.items()}
    works = await python.run("sum(range(10))", outside.directory, PATIENCE)
    await python.close()

    assert [way for way, end in ends.items() if _has_led_out(end.value)] == []
    assert works.value == "45"
    assert outside.canary.read_text() == "canary"


async def test_no_command_gets_out(outside: Outside, tmp_path: Path) -> None:
    """Nor do programs that the system has for it."""
    backend = open_once().backend
    assert backend is not None
    shell = Shell(backend, LIMITS, ShellStates(tmp_path))
    told = "; ".join(f"{name}={value}" for name, value in outside.names.items())
    out = []
    for way, command in SHELL.items():
        text = f"{told}; {{ {command}; }} >/dev/null && echo it led out"
        end = await shell.run(text, outside.directory, ShellBounds(seconds=PATIENCE), lambda _: None)
        if end.exit_code == 0 or end.stdout[0]:
            out.append((way, end))

    assert len(SHELL) >= 20
    assert out == []
    assert outside.canary.read_text() == "canary"
