"""Real server processes: start one, read its log and its numbers, end it."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import httpx

from bench.environments import ROOT, Unavailable, reason_in
from bench.servers import Running, plain_environment
from tests.kit.forking import ADDRESS, Origin
from tests.kit.waiting import PATIENCE

_STARTED = re.compile(r"running on https?://([^:\s]+):(\d+)")
_MOMENT = 0.005
# One for all requests, since each client reads the certificates of all authorities when it is made, which takes longer
# than a request. It keeps no connections.
_EACH_ITS_OWN = httpx.Limits(max_connections=None, max_keepalive_connections=0)
CLIENT = httpx.Client(trust_env=False, timeout=PATIENCE, limits=_EACH_ITS_OWN)


class Process(Protocol):
    """A process, as `subprocess.Popen` has it."""

    @property
    def pid(self) -> int:
        """Its id."""

    def poll(self) -> int | None:
        """Return its exit code, if it has ended."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended, and return its exit code."""

    def send_signal(self, number: int, /) -> None:
        """Send it a signal, unless it has ended."""


Launch = Callable[[Sequence[str], Path, Mapping[str, str], Path], Process]


@dataclass(frozen=True)
class Server(Running):
    """A running `sidecall serve`."""

    host: str
    process: Process
    log_file: Path

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://{self.host}:{self.port}"

    @property
    def log(self) -> str:
        """What it has printed so far."""
        return self.log_file.read_text(errors="replace")

    def wait_for(self, text: str) -> str:
        """Wait until the log has this text, and return the log."""
        found = self.wait_until(lambda log: text in log)
        assert text in found, f"no {text!r} in the server's log:\n{found}"
        return found

    def wait_until(self, is_enough: Callable[[str], bool]) -> str:
        """Wait until the log is enough, or no more comes, and return it; lines are written a moment after they came."""
        return _read_until(self.process, self.log_file, is_enough)

    def metrics(self) -> dict[str, float]:
        """Read `GET /metrics` into a mapping of each series, as written there, to its value."""
        with httpx.Client(trust_env=False, timeout=PATIENCE) as client:
            return read_metrics(client.get(f"{self.url}/metrics").text)

    def terminate(self) -> float:
        """Send SIGTERM and return when that was."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return time.monotonic()

    def exit_code(self, patience: float = PATIENCE) -> int | None:
        """Wait until it has ended; None when it has not."""
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            return None

    def stop(self) -> int | None:
        """Send SIGTERM and return the exit code."""
        self.terminate()
        return self.exit_code()


def launch_with(python: str) -> Launch:
    """Give a function that starts `python -m sidecall` with arguments, in a folder and environment, with a log."""

    def launch(
        arguments: Sequence[str], cwd: Path, environment: Mapping[str, str], log_file: Path
    ) -> subprocess.Popen[bytes]:
        with log_file.open("ab") as log:
            command = [python, "-m", "sidecall", *arguments]
            return subprocess.Popen(command, cwd=cwd, env=environment, stdout=log, stderr=subprocess.STDOUT)

    return launch


def choose_launch() -> Launch:
    """Give what starts servers as users do, or quicker where the environment names their origin."""
    address = os.environ.get(ADDRESS)
    return launch_with(sys.executable) if address is None else Origin(address).launch


def start(
    folder: Path,
    *arguments: str,
    environment: Mapping[str, str],
    cwd: Path = ROOT,
    launch: Launch | None = None,
) -> Server:
    """Start `sidecall serve` with these arguments, its log in a folder, and return when it listens.

    Raises:
        Unavailable: It does not start; the message says why, and a note has the log.
    """
    log_file = folder / "log"
    # No grace before the end, unless a test sets one. Several servers may start in one folder, which must not share the
    # default store.
    own = {"SIDECALL_STORE": "memory://", "SIDECALL_WORKSPACE_DIR": str(folder / "workspaces")}
    settings = {**plain_environment(), "SIDECALL_DRAIN_GRACE": "0", **own, **environment}
    log_file.unlink(missing_ok=True)
    process = (launch or choose_launch())(("serve", "--port", "0", *arguments), cwd, settings, log_file)
    printed = _read_until(process, log_file, lambda text: _STARTED.search(text) is not None)
    found = _STARTED.search(printed)
    if found is None:
        end(process)
        error = Unavailable(f"does not start: {reason_in(printed)}")
        error.add_note(printed)
        raise error
    return Server(int(found[2]), process.pid, found[1], process, log_file)


def end(process: Process) -> None:
    """End a process, at last by force."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()


def _read_until(process: Process, log_file: Path, is_enough: Callable[[str], bool]) -> str:
    """Return the log once it has the text, or as it is when the process has ended or the timeout has passed."""
    stop = time.monotonic() + PATIENCE
    while True:
        has_ended = process.poll() is not None
        log = log_file.read_text(errors="replace")
        if is_enough(log) or has_ended or time.monotonic() > stop:
            return log
        time.sleep(_MOMENT)


def read_metrics(text: str) -> dict[str, float]:
    """Read Prometheus' text format."""
    lines = (line.rpartition(" ") for line in text.splitlines() if line and not line.startswith("#"))
    return {series: float(value) for series, _, value in lines}


def total(metrics: dict[str, float], name: str, *labels: str) -> float:
    """Add up the series of a metric that have all these labels, written as `outcome="success"`."""
    return sum(
        value
        for series, value in metrics.items()
        if series.partition("{")[0] == name and all(label in series for label in labels)
    )
