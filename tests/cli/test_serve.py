"""`sidecall serve` starts with what it was told, or says why not; what it serves is tested in tests/e2e."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import SidecallHere


def serve(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command as a process that is expected to end."""
    command = [sys.executable, "-m", "sidecall", "serve", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (["--reload", "--workers", "2"], {}),
        (["--reload"], {"SIDECALL_WORKERS": "2"}),
        ([], {"SIDECALL_WORKERS": "2", "SIDECALL_RELOAD": "true"}),
    ],
)
@pytest.mark.usefixtures("signals")
def test_reloading_with_many_workers_is_refused(
    sidecall_here: SidecallHere, arguments: list[str], environment: dict[str, str]
) -> None:
    """Only one of them would change; the remedy is said."""
    result = sidecall_here("serve", *arguments, **environment)

    assert result.returncode == 1
    assert result.stderr == "error: --reload works with one worker; leave out --workers.\n"


def test_a_place_that_is_not_there_stops_the_start(tmp_path: Path) -> None:
    """Nothing is served by half."""
    (tmp_path / "mine.py").touch()

    result = serve("--tools", "mine.py", "--tools", "other.py", cwd=tmp_path)

    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == f"error: There is no file or folder 'other.py' (looked in {tmp_path})."


def test_a_port_that_is_taken_stops_the_start(tmp_path: Path) -> None:
    """The log says what was to be served and why it is not."""
    (tmp_path / "mine.py").touch()

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = serve("--port", port, "--tools", "mine.py", cwd=tmp_path)

    assert result.returncode == 3  # uvicorn's code for a start that failed
    assert "serving 0 tools: none" in result.stderr
    assert f"try http://127.0.0.1:{port}/docs" in result.stderr
    assert "address already in use" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_wrong_option_is_a_mistake_of_usage(sidecall_here: SidecallHere) -> None:
    """Exit code 2, as everywhere."""
    result = sidecall_here("serve", "--port", "http")

    assert result.returncode == 2
    assert "Invalid value for '--port'" in result.stderr
