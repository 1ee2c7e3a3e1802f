"""Start programs in a fraction of the time by forking them from a process that has imported all they need."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from bench.environments import ROOT
from bench.servers import plain_environment
from tests.kit.forking import ADDRESS, Origin, Program
from tests.kit.stand_ins import list_stand_ins

# The same for all test runs beside each other (scripts/side-by-side); without it each starts its own fork server.
_SHARED = "SHARED_ORIGIN_OF_SERVERS"
# Runs a file as `python FILE ARGUMENTS` does.
_RUN_FILE = (
    "import os, runpy, sys; del sys.argv[0]; sys.path.insert(0, os.path.dirname(sys.argv[0])); "
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)
# Seconds that a program may take that ends by itself; less than a test may take (pyproject.toml).
_PATIENCE = 150
# Has the coverage of a process measured: of each that is forked, not of what forks them.
_MEASURED = "COVERAGE_PROCESS_CONFIG"


def run_sidecall(
    *arguments: str, cwd: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `sidecall`, which is expected to end, as a process that is forked; the fixture `origin` has to be there."""
    asked = os.environ if environment is None else environment
    return _run(Origin(os.environ[ADDRESS]), None, arguments, cwd, asked)


def run_file(
    origin: Origin, file: Path, *arguments: str, environment: Mapping[str, str], typed: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a program of Python, which is expected to end, with a text as its standard input."""
    return _run(origin, _RUN_FILE, (str(file), *arguments), ROOT, environment, typed)


def _run(
    origin: Origin, code: str | None, arguments: Sequence[str], cwd: Path, asked: Mapping[str, str], typed: str = ""
) -> subprocess.CompletedProcess[str]:
    with ExitStack() as stack:
        said, out, err = (stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(3))
        said.write(typed)
        said.seek(0)
        given = {0: said.fileno(), 1: out.fileno(), 2: err.fileno()}
        exit_code = origin.fork(Program(code, arguments), cwd, asked, given).wait(_PATIENCE)
        printed = [(file.seek(0), file.read())[1] for file in (out, err)]
    return subprocess.CompletedProcess(arguments, exit_code, *printed)


@contextmanager
def originating(folder: Path, *modules: str) -> Iterator[str]:
    """Run what servers are forked from, or programs that import these modules; give its address, in a folder."""
    if not modules and _SHARED in os.environ:
        yield os.environ[_SHARED]
        return
    address = folder / "origin"
    environment = {name: value for name, value in plain_environment().items() if name != _MEASURED}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.kit.origin", str(address), *modules],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"listening\n"
        yield str(address)
        process.stdin.close()


@contextmanager
def forking(folder: Path) -> Iterator[None]:
    """Have servers forked from now on, from a process with its socket in a folder."""
    with originating(folder) as address, pytest.MonkeyPatch.context() as patch:
        patch.setenv(ADDRESS, address)
        yield


@pytest.fixture(scope="session")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Have servers forked from now on."""
    with forking(tmp_path_factory.mktemp("origin")):
        yield


@pytest.fixture(scope="session")
def forked_processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Have what a server starts forked as well: what makes tools' processes, and what writes files."""
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:

        def find_origin() -> Origin:
            if ADDRESS not in os.environ:
                patch.setenv(ADDRESS, stack.enter_context(originating(tmp_path_factory.mktemp("origin"))))
            return Origin(os.environ[ADDRESS])

        for place, name, stand_in in list_stand_ins(find_origin):
            patch.setattr(place, name, stand_in)
        yield
