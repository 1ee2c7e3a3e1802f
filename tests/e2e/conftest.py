"""Real server processes for what only a socket shows."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.collector import Collector
from tests.e2e.hub import TOOLS, Hub

ROOT = Path(__file__).parents[2]
_STARTED = re.compile(r"running on (http://\S+)")
_PATIENCE = 20.0


@dataclass
class Server:
    """A running `sidecall serve`."""

    url: str
    process: subprocess.Popen[bytes]
    log_file: Path

    @property
    def log(self) -> str:
        """What it has printed so far."""
        return self.log_file.read_text()

    def wait_for(self, text: str) -> str:
        """Wait until the log says this, and return the log."""
        return _wait(lambda: self.log if text in self.log else None, self, f"no {text!r}")

    def stop(self) -> int:
        """Send SIGTERM and return the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(_PATIENCE)


Serve = Callable[..., Server]


def _wait(read: Callable[[], str | None], server: Server, complaint: str) -> str:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        found = read()
        if found is not None:
            return found
        if server.process.poll() is not None:
            break
        time.sleep(0.02)
    raise AssertionError(f"{complaint} in the server's log:\n{server.log}")


@pytest.fixture(scope="session")
def start_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Give a function that starts `sidecall serve` with these arguments and waits until it listens."""
    servers: list[Server] = []

    def start(*arguments: str, cwd: Path = ROOT, python: str = sys.executable, **environment: str) -> Server:
        log_file = tmp_path_factory.mktemp("server") / "log"
        command = [python, "-m", "sidecall", "serve", "--port", "0", *arguments]
        # No load balancer has to take notice before a test's server ends.
        settings = {**os.environ, "SIDECALL_DRAIN_GRACE": "0", **environment}
        with log_file.open("wb") as log:
            process = subprocess.Popen(command, cwd=cwd, env=settings, stdout=log, stderr=subprocess.STDOUT)
        server = Server("", process, log_file)
        servers.append(server)
        server.url = _wait(lambda: (m := _STARTED.search(server.log)) and m[1], server, "no address")
        return server

    yield start
    for server in servers:
        if server.process.poll() is None:
            server.process.send_signal(signal.SIGTERM)
    for server in servers:
        server.process.wait(_PATIENCE)


@pytest.fixture(scope="session")
def shipped(start_server: Serve) -> Server:
    """The server as it ships, with the tools of this repository."""
    return start_server()


@pytest.fixture(scope="session")
def reporting(start_server: Serve, reporting_tools: Path) -> Server:
    """A server whose tools report to the hub."""
    return start_server("--tools", str(reporting_tools))


@pytest.fixture(scope="session")
def reporting_tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the tools that report to the hub."""
    file = tmp_path_factory.mktemp("tools") / "reporting_tools.py"
    file.write_text(TOOLS)
    return file


@pytest.fixture
async def hub() -> AsyncIterator[Hub]:
    """Hear what tools report."""
    async with Hub() as hub:
        yield hub


@pytest.fixture(scope="session")
def impatient(start_server: Serve) -> Server:
    """A server that waits for nobody longer than a second, and takes no large bodies."""
    return start_server(SIDECALL_HEADER_TIMEOUT="1", SIDECALL_BODY_TIMEOUT="1", SIDECALL_MAX_BODY_BYTES="65000")


@pytest.fixture
def collector() -> Iterator[Collector]:
    """Give a collector that listens."""
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
