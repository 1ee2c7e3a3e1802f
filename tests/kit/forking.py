"""Have programs forked by a process that has imported all they need (tests/kit/origin.py)."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

# The environment variable with the socket of the fork server, set for tests that may fork servers.
ADDRESS = "ORIGIN_OF_SERVERS"


class Forked:
    """A process that another one has forked for us; it is waited for as if it were our own."""

    def __init__(self, connection: socket.socket) -> None:
        """Read from a connection which it is."""
        self._connection = connection
        self._said = connection.makefile("rb", buffering=0)
        self._lock = threading.Lock()
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
        if self.returncode is None:
            # Another thread may have read it meanwhile, and closed the file.
            with suppress(OSError, ValueError):
                if not select.select([self._said], [], [], seconds)[0]:
                    return None
            with self._lock:
                if self.returncode is None:
                    self.returncode = int(self._said.readline())
                    self._said.close()
                    self._connection.close()
        return self.returncode


@dataclass(frozen=True)
class Program:
    """What is to be run: code, or `sidecall` when None, with arguments."""

    code: str | None
    arguments: Sequence[str]
    leads_session: bool = False
    # Whether it follows the end of the process that starts it, as a child of that sees it.
    knows_parent: bool = False


class Origin:
    """Forks programs."""

    def __init__(self, address: str) -> None:
        """Name the socket where what forks them listens."""
        self._address = address

    def launch(self, arguments: Sequence[str], cwd: Path, environment: Mapping[str, str], log_file: Path) -> Forked:
        """Start `sidecall` with these arguments, and return at once."""
        with open(os.devnull) as nothing, log_file.open("ab") as log:
            given = {0: nothing.fileno(), 1: log.fileno(), 2: log.fileno()}
            return self.fork(Program(None, arguments), cwd, environment, given)

    def fork(self, program: Program, cwd: Path, environment: Mapping[str, str], given: Mapping[int, int]) -> Forked:
        """Start a program with descriptors, and return at once."""
        asked = {
            **vars(program),
            "cwd": str(cwd.resolve()),
            "environment": dict(environment),
            "descriptors": list(given),
            "parent": os.getpid(),
        }
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._address)
        socket.send_fds(connection, [b" "], list(given.values()))
        connection.sendall(json.dumps(asked).encode() + b"\n")
        return Forked(connection)


Find = Callable[[], Origin]


def subprocess_from(find_origin: Find, *, knows_parent: bool) -> SimpleNamespace:
    """Make what does as `subprocess` does for programs of Sidecall that a server starts as processes of Python."""

    def popen(
        command: Sequence[str],
        *,
        stdin: int,
        pass_fds: Sequence[int],
        start_new_session: bool,
        stdout: int = 1,
        stderr: int = 2,
        env: Mapping[str, str] | None = None,
    ) -> Forked:
        place = command.index("-c")
        assert (command[0], set(command[1:place]) | {"-u"}, stdin) == (sys.executable, {"-P", "-u"}, subprocess.DEVNULL)
        program = Program(command[place + 1], command[place + 2 :], start_new_session, knows_parent)
        environment = os.environ if env is None else env
        with open(os.devnull) as nothing:
            given = {0: nothing.fileno(), 1: stdout, 2: stderr, **{fd: fd for fd in pass_fds}}
            return find_origin().fork(program, Path.cwd(), environment, given)

    return SimpleNamespace(Popen=popen, DEVNULL=subprocess.DEVNULL, TimeoutExpired=subprocess.TimeoutExpired)
