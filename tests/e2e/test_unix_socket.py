"""A server listens on a Unix socket."""

import os
import socket
import stat
from pathlib import Path

import httpx
import pytest

from bench.servers import plain_environment
from tests.kit.forked import run_sidecall
from tests.kit.servers import choose_launch, end

TOOL = 'from sidecall import tool\n\n\n@tool\ndef add(a: int, b: int) -> int:\n    """Add."""\n    return a + b\n'


@pytest.mark.parametrize(("workers", "mode"), [("1", "660"), ("2", "600")])
@pytest.mark.usefixtures("origin")
def test_it_serves_there_and_leaves_no_file(tmp_path: Path, workers: str, mode: str) -> None:
    """In place of a file that a server has left, with the mode that is set; commands reach it by its path."""
    (tmp_path / "mine.py").write_text(TOOL)
    path, log = tmp_path / "s.sock", tmp_path / "log"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    environment = {**plain_environment(), "SIDECALL_STORE": "memory://", "SIDECALL_DRAIN_GRACE": "0"}
    arguments = ("serve", "--unix", str(path), "--workers", workers, "--tools", "mine.py")
    process = choose_launch()(arguments, tmp_path, {**environment, "SIDECALL_UNIX_MODE": mode}, log)
    try:
        while "running on" not in log.read_text():
            assert process.poll() is None, log.read_text()
        shown = oct(stat.S_IMODE(path.stat().st_mode))
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://localhost") as client:
            answer = client.post("/tool_calls", json={"name": "add", "args": {"a": 1, "b": 2}}).json()["content"]
        asked = {**os.environ, "SIDECALL_URL": f"unix:{path}"}
        status = run_sidecall("status", cwd=tmp_path, environment=asked)
        second = run_sidecall("serve", "--unix", str(path), "--tools", "mine.py", cwd=tmp_path, environment=environment)
        is_still_there = path.exists()
    finally:
        end(process)

    assert (shown, answer, is_still_there) == (f"0o{mode}", "3", True)
    assert "ready" in status.stdout
    assert second.returncode != 0
    assert "a server listens there" in second.stderr
    assert not path.exists()


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        ({"SIDECALL_UNIX": "mine.py"}, "there is a file that is no socket"),
        ({"SIDECALL_UNIX": "none/s.sock"}, "No such file or directory"),
        ({"SIDECALL_UNIX": "s.sock", "SIDECALL_UNIX_MODE": "666"}, "write 600 or 660"),
    ],
)
@pytest.mark.usefixtures("origin")
def test_a_place_that_does_not_fit_is_refused(tmp_path: Path, environment: dict[str, str], reason: str) -> None:
    """With the reason; no other file is removed."""
    (tmp_path / "mine.py").write_text(TOOL)
    known = {**plain_environment(), "SIDECALL_STORE": "memory://"}
    printed = run_sidecall("serve", "--tools", "mine.py", cwd=tmp_path, environment={**known, **environment})

    assert printed.returncode != 0
    assert reason in printed.stderr
    assert (tmp_path / "mine.py").read_text() == TOOL
