"""Real server processes for what only a socket shows."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.environments import ROOT
from tests.e2e.agents import origin_of_agents
from tests.e2e.hub import TOOLS, Hub
from tests.e2e.installed import installed_python, wheel
from tests.kit.collector import Collector, collecting
from tests.kit.forked import origin
from tests.kit.servers import Server, end, launch_with, start

Serve = Callable[..., Server]

__all__ = ["installed_python", "origin", "origin_of_agents", "wheel"]


@contextmanager
def starting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Give a function that starts `sidecall serve` with these arguments and waits until it listens; end them all."""
    servers: list[Server] = []

    def start_one(*arguments: str, cwd: Path = ROOT, python: str | None = None, **environment: str) -> Server:
        folder = tmp_path_factory.mktemp("server")
        launch = None if python is None else launch_with(python)
        servers.append(start(folder, *arguments, cwd=cwd, launch=launch, environment=environment))
        return servers[-1]

    yield start_one
    for server in servers:
        server.terminate()
    for server in servers:
        end(server.process)


@pytest.fixture(scope="module")
def start_server(tmp_path_factory: pytest.TempPathFactory, origin: None) -> Iterator[Serve]:
    """Give a function that starts servers, which end with the module."""
    with starting(tmp_path_factory) as serve:
        yield serve


@pytest.fixture(scope="session")
def start_shared(tmp_path_factory: pytest.TempPathFactory, origin: None) -> Iterator[Serve]:
    """Give a function that starts servers for the tests of all modules."""
    with starting(tmp_path_factory) as serve:
        yield serve


@pytest.fixture(scope="session")
def shipped(start_shared: Serve) -> Server:
    """The server as it ships, with the tools of this repository."""
    return start_shared()


@pytest.fixture(scope="session")
def reporting(start_shared: Serve, reporting_tools: Path) -> Server:
    """A server whose tools report to the hub."""
    return start_shared("--tools", str(reporting_tools))


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
def impatient(start_shared: Serve) -> Server:
    """A server that waits for nobody longer than a second, and takes no large bodies."""
    return start_shared(SIDECALL_HEADER_TIMEOUT="1", SIDECALL_BODY_TIMEOUT="1", SIDECALL_MAX_BODY_BYTES="65000")


@pytest.fixture
def collector() -> Iterator[Collector]:
    """Give a collector that listens."""
    with collecting() as running:
        yield running
