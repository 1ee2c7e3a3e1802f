"""Start a server on its core, wait until it listens, and stop it."""

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bench.environments import ROOT, Unavailable, python_of, reason_in
from bench.machine import Cores

# Seconds for a server to start; a machine that does other work besides takes many times as long as an idle one.
_PATIENCE = 180.0
_SOON = 2.0
_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
# What `sidecall serve` passes to uvicorn, which takes uvloop and httptools by itself.
_UVICORN = ("--no-access-log", "--no-server-header", "--log-level", "info")


@dataclass(frozen=True)
class Server:
    """How to start a server; a peer in its own environment.

    `{port}` in the command is replaced, and in the environment the helpers of the load: `{collector}` by the address of
    a collector of spans, `{keys_file}` and `{issuer}` by the sources of credentials, `{folder}` by an empty one.
    """

    command: tuple[str, ...]
    peer: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


def sidecall(*options: str, **environment: str) -> Server:
    """Serve with the settings that ship, and these options."""
    return Server(("-m", "sidecall", "serve", "--port", "{port}", *options), environment=environment)


def floor(name: str) -> Server:
    """Serve one of the applications in `bench.floors`."""
    return Server(("-m", "uvicorn", f"bench.floors:{name}", "--port", "{port}", *_UVICORN))


def peer(module: str, package: str) -> Server:
    """Serve a peer with its start script."""
    return Server(("-m", f"bench.peers.{module}", "{port}"), peer=package)


@dataclass(frozen=True)
class Running:
    """A server that listens."""

    port: int
    pid: int

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def resident_mb(self, *, peak: bool = False, alone: bool = False) -> float:
        """Return the memory it holds, or has held at most, with that of the processes it started or `alone`.

        What those have in common counts once, as for a container's limit.
        """
        others = [] if alone else _family(self.pid)[1:]
        name = "VmHWM" if peak else "VmRSS"
        held = _kib(self.pid, "status", name)
        for pid in others:
            in_common = _kib(pid, "status", "VmRSS") - _kib(pid, "smaps_rollup", "Pss")
            held += max(0, _kib(pid, "status", name) - in_common)
        return held * 1024 / 1e6

    def forget_peak(self) -> None:
        """Count the most that the server itself has held from here."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def processor_seconds(self) -> tuple[float, float] | None:
        """Return the processor time of a server and its children; None where it cannot be read."""
        if not Path("/proc/self/stat").exists():
            return None
        return _processor_seconds(self.pid), sum(map(_processor_seconds, _family(self.pid)[1:]))


@contextmanager
def running(server: Server, cores: Cores) -> Iterator[Running]:
    """Start a server, give it when it listens, and stop it afterwards.

    Raises:
        Unavailable: It does not start; the message says why.
    """
    port = _free_port()
    python = sys.executable if server.peer is None else python_of(server.peer)
    command = cores.pinned((python, *(part.format(port=port) for part in server.command)))
    with tempfile.TemporaryFile() as log:
        environment = {**plain_environment(), **server.environment}
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            _wait(process, port, log.fileno())
            yield Running(port, process.pid)
        finally:
            _stop(process)


def plain_environment() -> dict[str, str]:
    """Return the variables of this process without settings of Sidecall, since the shipped ones are measured.

    And without the one that would have each start compile the sources.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith(("SIDECALL_", _NO_BYTECODE))}


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def _wait(process: subprocess.Popen[bytes], port: int, log: int) -> None:
    began = now = time.monotonic()
    while now < began + _PATIENCE and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        # Who starts soon is timed; who does not shall have the processor.
        time.sleep(0.002 if now < began + _SOON else 0.1)
        now = time.monotonic()
    output = os.pread(log, 1_000_000, 0).decode(errors="replace")
    raise Unavailable(f"does not start: {reason_in(output)}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _family(pid: int) -> list[int]:
    listed: list[str] = []
    with suppress(OSError):  # It has ended meanwhile.
        # Each thread has those that it has started.
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            listed += task.read_text().split()
    return [pid, *(member for child in listed for member in _family(int(child)))]


def _processor_seconds(pid: int) -> float:
    # Linux numbers the clock of a process so (clock_getcpuclockid); its ticks in /proc would be ten times as coarse.
    try:
        return time.clock_gettime(~pid << 3 | 2)
    except OSError:
        return 0.0  # It has ended meanwhile.


def _kib(pid: int, file_name: str, field_name: str) -> int:
    try:
        text = Path(f"/proc/{pid}/{file_name}").read_text()
    except OSError:
        text = ""
    found = re.search(rf"^{field_name}:\s+(\d+)", text, re.MULTILINE)
    if found is None and not Path("/proc/self/status").exists():
        raise Unavailable("this system does not say how much memory a process holds")
    return int(found[1]) if found else 0  # The process may have ended meanwhile.
