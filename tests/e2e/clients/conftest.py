"""Where the clients of others live: a folder that git does not know, filled by `scripts/install-clients`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.environments import ROOT
from tests.e2e.conftest import Serve
from tests.kit.servers import Server

HERE = Path(__file__).parent
CACHE = ROOT / ".venv-clients"


@pytest.fixture(scope="session")
def for_typescript() -> Path:
    """The folder with the npm packages of `package.json`."""
    return find_clients("npm")


@pytest.fixture(scope="session")
def for_python() -> Path:
    """The folder with the generator of `requirements.txt`."""
    return find_clients("python")


@pytest.fixture(scope="session")
def for_google() -> Path:
    """The interpreter of an environment with Google's SDK, of `google.txt`."""
    return find_clients("google") / "bin/python"


@pytest.fixture(scope="session")
def for_agents() -> Path:
    """The interpreter of an environment with the OpenAI Agents SDK, of `agents.txt`."""
    return find_clients("agents") / "bin/python"


@pytest.fixture(scope="session")
def for_javascript() -> Path:
    """The folder with the npm packages that our own package is tried with."""
    return find_clients("js")


@pytest.fixture(scope="session")
def for_frameworks() -> Path:
    """The folder with the providers' packages and the frameworks of agents in JavaScript."""
    return find_clients("frameworks")


@pytest.fixture(scope="session")
def runtimes() -> Path:
    """The folder with the programs that run JavaScript: two versions of Node.js, Bun and Deno."""
    return find_clients("runtimes")


@pytest.fixture(scope="session")
def desk(start_shared: Serve) -> Server:
    """A server whose tools show what clients have to bring across."""
    files = (ROOT / "tests/client/desk.py", HERE / "wide_tools.py", HERE / "long_tools.py")
    return start_shared(*(word for file in files for word in ("--tools", str(file))))


@pytest.fixture(scope="module")
def wide(start_server: Serve) -> Server:
    """A server whose tools have much in their signatures, and images and files in their answers."""
    return start_server("--tools", str(HERE / "wide_tools.py"), "--tools", "sidecall")


def find_clients(kind: str) -> Path:
    """Return the folder with clients of a kind, which CI has fetched before; skip where no registry gives them."""
    fetch = [str(ROOT / "scripts/install-clients"), kind]
    # It tries twice, in less time than a test has.
    settings = {**os.environ, "PYTHON": sys.executable, "PATIENCE": "100"}
    done = subprocess.run(fetch, env=settings, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode:
        # In CI too: a registry that is slow must not fail all.
        said = (done.stdout + done.stderr).strip()
        pytest.skip(f"there are no clients of the kind {kind}; run scripts/install-clients {kind}: {said}")
    return CACHE / kind


def run_beside(python: Path, program: list[str], typed: str = "", **environment: str) -> str:
    """Run a program, which has to succeed, in an environment beside ours, and return what it prints."""
    done = subprocess.run(
        [python, *program],
        input=typed,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
