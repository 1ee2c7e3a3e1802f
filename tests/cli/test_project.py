"""The folder that the program is started in shadows nothing of Python's."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sidecall.cli.project import is_program

SIDECALL = [str(Path(sys.executable).parent / "sidecall")]
MODULE = [sys.executable, "-m", "sidecall"]


@pytest.mark.parametrize("program", [SIDECALL, MODULE], ids=["sidecall", "module"])
@pytest.mark.parametrize("path", [None, "."], ids=["plain", "PYTHONPATH"])
def test_a_file_named_like_one_of_the_library_does_no_harm(
    tmp_path: Path, program: list[str], path: str | None
) -> None:
    """Neither one that is needed to begin with nor a later one."""
    for name in ("signal", "typing", "queue", "secrets", "asyncio"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('shadowed')\n")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if path is not None:
        environment["PYTHONPATH"] = path

    done = subprocess.run([*program, "--version"], cwd=tmp_path, env=environment, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("command_line", "arguments", "expected"),
    [
        ("python /opt/bin/sidecall", 1, True),
        ("python /opt/bin/sidecall tools", 2, True),
        ("python -X dev -m sidecall serve", 2, True),
        ("python -msidecall serve", 2, True),
        ("python agent.py sidecall", 2, False),
        ("python", 1, False),
        ("", 1, False),
        ("python -c spawn_main() --multiprocessing-fork", 2, False),
    ],
)
def test_the_program_is_known_by_its_command_line(command_line: str, arguments: int, expected: bool) -> None:
    """Other programs keep their path of imports as it is."""
    assert is_program(command_line.split(), arguments) is expected
