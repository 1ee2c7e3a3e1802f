"""`sidecall serve` ends on SIGTERM and Ctrl+C from the first module that it imports, and nothing else does."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sidecall.cli.early import is_serve
from tests.e2e.conftest import ROOT

MODULE = [sys.executable, "-m", "sidecall"]
PROGRAM = [str(Path(sys.executable).parent / "sidecall")]
# What the package imports, and what only the program does.
MODULES = pytest.mark.parametrize("module", ["pydantic", "pydantic_settings"])

# One long sleep would lose a signal that comes between Python's last look for one and the sleep itself.
IMPORTED = """import time

print("importing", flush=True)
for _ in range(6_000):
    time.sleep(0.01)
"""


def told_to_end(
    command: list[str], module: str, folder: Path, number: signal.Signals = signal.SIGTERM
) -> tuple[int, str]:
    """Send a signal while the program imports this module, and return its exit code and its complaint."""
    (folder / f"{module}.py").write_text(IMPORTED)
    environment = {**os.environ, "PYTHONPATH": f"{folder}:{ROOT}"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "importing\n"
        process.send_signal(number)
        complaint = process.communicate(timeout=20)[1]
        return process.returncode, complaint


@MODULES
@pytest.mark.parametrize("program", [PROGRAM, MODULE], ids=["sidecall", "module"])
@pytest.mark.parametrize("options", [[], ["--workers", "2"]], ids=["one", "workers"])
def test_a_server_that_still_imports_ends_at_once(
    tmp_path: Path, module: str, program: list[str], options: list[str]
) -> None:
    """By a handler of its own: for process 1 of a container signals have no default."""
    end = told_to_end([*program, "serve", "--port", "0", *options], module, tmp_path)

    assert end == (0, "")


@MODULES
def test_ctrl_c_needs_no_traceback(tmp_path: Path, module: str) -> None:
    """The user who pressed it knows why the server ends."""
    end = told_to_end([*PROGRAM, "serve", "--port", "0"], module, tmp_path, signal.SIGINT)

    assert end == (130, "")


@MODULES
@pytest.mark.parametrize("program", [PROGRAM, MODULE], ids=["sidecall", "module"])
def test_other_commands_die_by_the_signal(tmp_path: Path, module: str, program: list[str]) -> None:
    """What waits for their output learns that there is none."""
    code, _ = told_to_end([*program, "tools"], module, tmp_path)

    assert code == -signal.SIGTERM


@pytest.mark.parametrize(
    ("command_line", "arguments", "expected"),
    [
        ("python /opt/bin/sidecall serve", 2, True),
        ("python /opt/bin/sidecall serve --port 0", 4, True),
        ("python -X dev -m sidecall serve", 2, True),
        ("python -msidecall serve", 2, True),
        ("python /opt/bin/sidecall", 1, False),
        ("python /opt/bin/sidecall tools serve", 3, False),
        ("python -m sidecall tools", 2, False),
        # an author's program, no matter what it is told
        ("python agent.py serve", 2, False),
        ("python agent.py sidecall serve", 3, False),
        # Python without a program, or inside of another one
        ("python", 1, False),
        ("", 1, False),
        # worker processes have the words of their parent, but were not started with them
        ("python -c spawn_main() --multiprocessing-fork", 2, False),
        ("python -c spawn_main() --multiprocessing-fork", 6, False),
    ],
)
def test_the_program_is_known_by_its_command_line(command_line: str, arguments: int, expected: bool) -> None:
    """Nothing else can tell before anything is imported."""
    found = is_serve(command_line.split(), arguments)

    assert found is expected
