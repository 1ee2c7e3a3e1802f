"""Real server processes: start one, read its log and its numbers, end it."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.environments import ROOT, Unavailable, reason_in
from bench.servers import Running, plain_environment

PATIENCE = 60.0
_STARTED = re.compile(r"running on http://([^:\s]+):(\d+)")
_MOMENT = 0.005


@dataclass(frozen=True)
class Server(Running):
    """A running `sidecall serve`."""

    host: str
    process: subprocess.Popen[bytes]
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
        """Read `GET /metrics`: each series, as it is written there, with its value."""
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


def start(
    folder: Path,
    *arguments: str,
    environment: Mapping[str, str],
    cwd: Path = ROOT,
    python: str = sys.executable,
) -> Server:
    """Start `sidecall serve` with these arguments, its log in a folder, and return when it listens.

    Raises:
        Unavailable: It does not start; the message says why, and a note has the log.
    """
    log_file = folder / "log"
    command = [python, "-m", "sidecall", "serve", "--port", "0", *arguments]
    # No load balancer has to take notice before it ends, unless a test says so.
    # Several may be started in one folder, whose file would be the first one's.
    settings = {**plain_environment(), "SIDECALL_DRAIN_GRACE": "0", "SIDECALL_STORE": "memory://", **environment}
    with log_file.open("wb") as log:
        process = subprocess.Popen(command, cwd=cwd, env=settings, stdout=log, stderr=subprocess.STDOUT)
    printed = _read_until(process, log_file, lambda text: _STARTED.search(text) is not None)
    found = _STARTED.search(printed)
    if found is None:
        end(process)
        error = Unavailable(f"does not start: {reason_in(printed)}")
        error.add_note(printed)
        raise error
    return Server(int(found[2]), process.pid, found[1], process, log_file)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process, at last by force."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _read_until(process: subprocess.Popen[bytes], log_file: Path, is_enough: Callable[[str], bool]) -> str:
    """Return the log once it is enough, or as it is when the process has ended or patience has."""
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
