"""Where the clients of others live: a folder that git does not know, filled when it is first needed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

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
    npm = shutil.which("npm")
    if npm is None:
        refuse("npm is not here; Node.js brings it")
    install = [npm, "install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"]
    return fill(CACHE / "npm", HERE / "package.json", [install], [npm, "ping"])


@pytest.fixture(scope="session")
def for_python() -> Path:
    """The folder with the generator of `requirements.txt`."""
    options = ["--no-deps", "--no-compile", "--target", ".", "--requirement", "requirements.txt"]
    install = [sys.executable, *PIP, "install", *options]
    return fill(CACHE / "python", HERE / "requirements.txt", [install], ask_for("jinja2"))


@pytest.fixture(scope="session")
def for_google() -> Path:
    """The interpreter of an environment with Google's SDK, of `google.txt`."""
    make = [sys.executable, "-m", "venv", "--without-pip", "."]
    # What is imported is compiled by the way; the rest, which is most, need not be.
    install = [sys.executable, *PIP, "--python", "bin/python", "install", "--no-compile", "--requirement", "google.txt"]
    return fill(CACHE / "google", HERE / "google.txt", [make, install], ask_for("httpx")) / "bin/python"


@pytest.fixture(scope="module")
def wide(start_server: Serve) -> Server:
    """A server whose tools have much in their signatures, and images and files in their answers."""
    return start_server("--tools", str(HERE / "wide_tools.py"), "--tools", "sidecall")


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


def refuse(reason: str) -> None:
    """Skip what cannot be tried here; CI has all that it takes."""
    assert not os.environ.get("CI"), reason
    pytest.skip(reason)
