"""What a server has not loaded yet, it loads later: when there are files again, and never of another version."""

import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from bench.environments import ROOT
from tests.kit.servers import Server, end, start
from tests.kit.waiting import PATIENCE

# What is rarely needed, and so not there at the start.
LATE = ("/whoami", "/approvals", "/audit", "/tools/search?q=x")
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
EVENTS = {"Accept": "application/json, text/event-stream"}
CALL = {"type": "tool_call", "id": "c1", "name": "calculator", "args": {"expression": "1+1"}}
CHANGED = "The installation has changed since the server started; restart it."
FILES = 64
FITTING = 24


@pytest.fixture
def installation(tmp_path: Path) -> Path:
    """The folder of a package of its own, which may be moved."""
    return Path(shutil.copytree(ROOT / "app" / "sidecall", tmp_path / "installed" / "sidecall"))


@pytest.fixture
def server(installation: Path, tmp_path: Path) -> Iterator[Server]:
    """A server from there that may open few files, as under `ulimit -n 64`."""

    def launch(
        arguments: Sequence[str], cwd: Path, environment: Mapping[str, str], log: Path
    ) -> subprocess.Popen[bytes]:
        shell = ["sh", "-c", f'ulimit -n {FILES}; exec "$@"', "sh", sys.executable, "-m", "sidecall", *arguments]
        with log.open("ab") as out:
            return subprocess.Popen(shell, cwd=cwd, env=environment, stdout=out, stderr=subprocess.STDOUT)

    own = {"PYTHONPATH": str(installation.parent), "SIDECALL_HISTORY": "off", "SIDECALL_LOG_FORMAT": "json"}
    running = start(
        tmp_path, "--tools", str(ROOT / "tools" / "calculator.py"), environment=own, launch=launch, cwd=tmp_path
    )
    yield running
    end(running.process)


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    """A client that has its connection already, and no other."""
    with httpx.Client(base_url=server.url, trust_env=False, timeout=PATIENCE) as client:
        client.get("/healthz")
        yield client


@contextmanager
def without_files(server: Server) -> Iterator[None]:
    """Let the server open nothing more."""
    before = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (3, before[1]))
    yield
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, before)


def test_a_server_keeps_files_for_what_it_loads_later(server: Server, client: httpx.Client) -> None:
    """So crowds are refused, and not the requests of those who are in; where files run out all the same, they wait."""
    with ExitStack() as stack:
        for _ in range(FILES):
            stack.enter_context(socket.create_connection((server.host, server.port), timeout=PATIENCE))
        server.wait_for("is reached; refused with 503")
        crowded = client.get("/metrics")
    with without_files(server):
        refused = [client.get(path) for path in LATE] + [client.post("/mcp", json=PING, headers=EVENTS)]
        others = [client.get("/readyz"), client.post("/tool_calls", json=CALL)]
    again = [client.get(path) for path in LATE] + [client.post("/mcp", json=PING, headers=EVENTS)]

    server.wait_for(f"only {FITTING} connections fit")
    assert crowded.status_code == 200
    assert {(it.status_code, it.headers["Retry-After"], it.json()["type"]) for it in refused} == {
        (503, "5", "urn:sidecall:problem:part-unavailable")
    }
    assert [it.status_code for it in others + again] == [200] * (len(others) + len(again))
    assert server.wait_for("Too many open files").count("Too many open files") == 1
    assert "Traceback" not in server.log


def test_a_server_whose_installation_was_replaced_asks_to_be_restarted(
    server: Server, client: httpx.Client, installation: Path
) -> None:
    """It loads nothing of another version, and what it has loaded goes on."""
    before = client.post("/tool_calls", json=CALL), client.get("/readyz")
    installation.rename(installation.with_name("old"))
    removed = [client.get(path) for path in LATE[:2]]
    shutil.copytree(ROOT / "app" / "sidecall", installation)
    replaced = [client.get(path) for path in LATE]
    ready = client.get("/readyz")

    assert [it.status_code for it in before] == [200, 200]
    assert {(it.status_code, it.headers["Retry-After"], it.json()["detail"]) for it in (*removed, *replaced)} == {
        (503, "60", CHANGED)
    }
    assert (ready.status_code, ready.json()["detail"]) == (503, CHANGED)
    assert [client.post("/tool_calls", json=CALL).json()["content"], client.get("/healthz").status_code] == ["2", 200]
    assert server.wait_for(CHANGED).count(CHANGED) == 1
    assert "Traceback" not in server.log
