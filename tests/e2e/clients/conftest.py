"""Where the clients of others live: a folder that git does not know, filled when it is first needed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import pytest

from bench.environments import ROOT
from tests.e2e.conftest import Serve
from tests.kit.servers import Server

HERE = Path(__file__).parent
CACHE = ROOT / ".venv-clients"
PIP = ["-m", "pip", "--disable-pip-version-check"]

Command = Sequence[str]


@pytest.fixture(scope="session")
def for_typescript() -> Path:
    """The folder with the npm packages of `package.json`."""
    return fill_with_npm("npm", HERE / "package.json")


@pytest.fixture(scope="session")
def for_python() -> Path:
    """The folder with the generator of `requirements.txt`."""
    options = ["--no-deps", "--no-compile", "--target", ".", "--requirement", "requirements.txt"]
    install = [sys.executable, *PIP, "install", *options]
    return fill(CACHE / "python", HERE / "requirements.txt", [install], ask_for("jinja2"))


@pytest.fixture(scope="session")
def for_google() -> Path:
    """The interpreter of an environment with Google's SDK, of `google.txt`."""
    return fill_environment("google")


@pytest.fixture(scope="session")
def for_agents() -> Path:
    """The interpreter of an environment with the OpenAI Agents SDK, of `agents.txt`."""
    return fill_environment("agents")


@pytest.fixture(scope="session")
def for_javascript() -> Path:
    """The folder with the npm packages that our own package is tried with."""
    return fill_with_npm("js", ROOT / "clients/js/test/package.json")


@pytest.fixture(scope="session")
def desk(start_shared: Serve) -> Server:
    """A server whose tools show what clients have to bring across."""
    return start_shared("--tools", str(ROOT / "tests/client/desk.py"), "--tools", str(HERE / "wide_tools.py"))


@pytest.fixture(scope="module")
def wide(start_server: Serve) -> Server:
    """A server whose tools have much in their signatures, and images and files in their answers."""
    return start_server("--tools", str(HERE / "wide_tools.py"), "--tools", "sidecall")


def fill_with_npm(name: str, wanted: Path) -> Path:
    """Fill a folder with packages of npm."""
    npm = shutil.which("npm")
    if npm is None:
        refuse("npm is not here; Node.js brings it")
    install = [npm, "install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"]
    return fill(CACHE / name, wanted, [install], [npm, "ping"])


def fill_environment(name: str) -> Path:
    """Make an environment of Python beside ours, and return its interpreter."""
    make = [sys.executable, "-m", "venv", "--without-pip", "."]
    # What is imported is compiled by the way; the rest, which is most, need not be.
    options = ["--no-compile", "--requirement", f"{name}.txt"]
    install = [sys.executable, *PIP, "--python", "bin/python", "install", *options]
    return fill(CACHE / name, HERE / f"{name}.txt", [make, install], ask_for("httpx")) / "bin/python"


def ask_for(package: str) -> Command:
    """Make the command that succeeds where packages of Python can be had."""
    return [sys.executable, *PIP, "download", "--no-deps", "--dest", "asked", package]


def fill(folder: Path, wanted: Path, installs: Sequence[Command], ask: Command) -> Path:
    """Install what a file wants into a folder, unless it is there already; skip where no registry answers `ask`."""
    known = folder / wanted.name
    if not known.is_file() or known.read_text() != wanted.read_text():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        shutil.copy(wanted, known)
        for install in installs:
            done = run_in(folder, install)
            if done.returncode:
                known.unlink()  # what is there is not all
                complaint = f"{wanted.name} cannot be installed here: {done.stdout}{done.stderr}"
                assert run_in(folder, ask).returncode, complaint
                refuse(complaint)
    return folder


def run_in(folder: Path, command: Command) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder."""
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def refuse(reason: str) -> NoReturn:
    """Skip what cannot be tried here; CI has all that it takes."""
    assert not os.environ.get("CI"), reason
    pytest.skip(reason)


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
