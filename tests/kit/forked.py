"""Start programs in a fraction of the time by forking them from a process that has imported all they need."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from bench.environments import ROOT
from bench.servers import plain_environment
from sidecall.kernel.executors.process import fork_server_process

# The environment variable with the socket of the fork server, set for tests that may fork servers.
ADDRESS = "ORIGIN_OF_SERVERS"
# The same for all test runs beside each other (scripts/side-by-side); without it each starts its own fork server.
_SHARED = "SHARED_ORIGIN_OF_SERVERS"
# Runs a file as `python FILE ARGUMENTS` does.
_RUN_FILE = (
    "import os, runpy, sys; del sys.argv[0]; sys.path.insert(0, os.path.dirname(sys.argv[0])); "
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)
# Has the coverage of a process measured: of each that is forked, not of what forks them.
_MEASURED = "COVERAGE_PROCESS_CONFIG"


class Forked:
    """A process that another one has forked for us; it is waited for as if it were our own."""

    def __init__(self, connection: socket.socket) -> None:
        """Read from a connection which it is."""
        self._connection = connection
        self._said = connection.makefile("rb", buffering=0)
        self.pid = int(self._said.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return its exit code, if it has ended."""
        return self._look(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended, and return its exit code.

        Raises:
            subprocess.TimeoutExpired: It has not, for so many seconds.
        """
        code = self._look(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            # The exit is reported a moment after it happened.
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it, unless it has ended."""
        self.send_signal(signal.SIGKILL)

    def _look(self, seconds: float | None) -> int | None:
        if self.returncode is None and select.select([self._said], [], [], seconds)[0]:
            self.returncode = int(self._said.readline())
            self._said.close()
            self._connection.close()
        return self.returncode


class Origin:
    """Forks programs."""

    def __init__(self, address: str) -> None:
        """Name the socket where what forks them listens."""
        self._address = address

    def launch(self, arguments: Sequence[str], cwd: Path, environment: Mapping[str, str], log_file: Path) -> Forked:
        """Start `sidecall` with these arguments, and return at once."""
        with open(os.devnull) as nothing, log_file.open("ab") as log:
            given = {0: nothing.fileno(), 1: log.fileno(), 2: log.fileno()}
            return self.fork(None, arguments, cwd, environment, given)

    def fork(
        self,
        code: str | None,
        arguments: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        given: Mapping[int, int],
    ) -> Forked:
        """Start code, or `sidecall` when None, with arguments and descriptors, and return at once."""
        asked = {
            "code": code,
            "arguments": arguments,
            "cwd": str(cwd.resolve()),
            "environment": dict(environment),
            "descriptors": list(given),
        }
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._address)
        socket.send_fds(connection, [b" "], list(given.values()))
        connection.sendall(json.dumps(asked).encode() + b"\n")
        return Forked(connection)


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
        exit_code = origin.fork(code, arguments, cwd, asked, given).wait(60)
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
def forked_pools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Have what makes tools' processes forked as well; in servers that are processes it starts as for users."""
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:

        def find_origin() -> Origin:
            if ADDRESS not in os.environ:
                patch.setenv(ADDRESS, stack.enter_context(originating(tmp_path_factory.mktemp("origin"))))
            return Origin(os.environ[ADDRESS])

        quick = SimpleNamespace(Popen=_popen_from(find_origin), DEVNULL=subprocess.DEVNULL)
        patch.setattr(fork_server_process, "subprocess", quick)
        yield


def _popen_from(find_origin: Callable[[], Origin]) -> Callable[..., Forked]:
    """Make what does for a pool as `subprocess.Popen` does, which starts a Python that has all to import."""

    def popen(
        command: Sequence[str],
        *,
        stdin: int,
        stdout: int,
        stderr: int,
        pass_fds: Sequence[int],
        start_new_session: bool,
        env: Mapping[str, str] | None,
    ) -> Forked:
        python, *options, code = command[:5]
        assert (python, options, stdin) == (sys.executable, ["-P", "-u", "-c"], subprocess.DEVNULL)
        assert start_new_session
        environment = os.environ if env is None else env
        with open(os.devnull) as nothing:
            given = {0: nothing.fileno(), 1: stdout, 2: stderr, **{fd: fd for fd in pass_fds}}
            return find_origin().fork(code, command[5:], Path.cwd(), environment, given)

    return popen
