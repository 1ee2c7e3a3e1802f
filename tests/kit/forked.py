"""Start servers in a fraction of the time by forking them from a process that has imported all they need."""

import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from bench.environments import ROOT
from bench.servers import plain_environment

# Where what forks servers listens; it stands in the environment of tests that may have servers forked.
ADDRESS = "ORIGIN_OF_SERVERS"
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
            # That it has ended is said a moment after it has.
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _look(self, seconds: float | None) -> int | None:
        if self.returncode is None and select.select([self._said], [], [], seconds)[0]:
            self.returncode = int(self._said.readline())
            self._said.close()
            self._connection.close()
        return self.returncode


class Origin:
    """Forks servers."""

    def __init__(self, address: str) -> None:
        """Name the socket where what forks them listens."""
        self._address = address

    def launch(self, arguments: Sequence[str], cwd: Path, environment: Mapping[str, str], log_file: Path) -> Forked:
        """Start `sidecall` with these arguments, and return at once."""
        log_file.touch()
        asked = {
            "arguments": arguments,
            "cwd": str(cwd.resolve()),
            "environment": dict(environment),
            "log": str(log_file),
        }
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._address)
        connection.sendall(json.dumps(asked).encode() + b"\n")
        return Forked(connection)


@contextmanager
def originating(folder: Path) -> Iterator[str]:
    """Run what servers are forked from; give the address of its socket, in a folder."""
    address = folder / "origin"
    environment = {name: value for name, value in plain_environment().items() if name != _MEASURED}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.kit.origin", str(address)],
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


@pytest.fixture(scope="session")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Have servers forked from now on."""
    with originating(tmp_path_factory.mktemp("origin")) as address, pytest.MonkeyPatch.context() as patch:
        patch.setenv(ADDRESS, address)
        yield
