"""Start a real server with the tools of the trials, read its numbers, and end it."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.environments import ROOT, Unavailable, reason_in
from bench.servers import Running, plain_environment

TOOLS = "bench/trials/tools.py"
_STARTED = re.compile(r"running on http://[^:\s]+:(\d+)")
_PATIENCE = 30.0


@dataclass(frozen=True)
class Served(Running):
    """A server that listens, with its process and its log."""

    process: subprocess.Popen[bytes]
    log_file: Path

    @property
    def log(self) -> str:
        """What it has printed so far."""
        return self.log_file.read_text(errors="replace")

    def metrics(self) -> dict[str, float]:
        """Read `GET /metrics`: each series, as it is written there, with its value."""
        with httpx.Client(trust_env=False, timeout=_PATIENCE) as client:
            return read_metrics(client.get(f"{self.url}/metrics").text)

    def terminate(self) -> float:
        """Send SIGTERM and return when that was."""
        self.process.send_signal(signal.SIGTERM)
        return time.monotonic()

    def exit_code(self, patience: float = _PATIENCE) -> int | None:
        """Wait until it has ended; None when it has not."""
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            return None


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


@contextmanager
def serving(tools: str = TOOLS, **settings: str) -> Iterator[Served]:
    """Start a server with these settings, give it when it listens, and stop it afterwards.

    Raises:
        Unavailable: It does not start; the message says why.
    """
    command = [sys.executable, "-m", "sidecall", "serve", "--port", "0", "--tools", tools]
    # No load balancer has to take notice before it ends, unless a trial says so.
    environment = {**plain_environment(), "SIDECALL_DRAIN_GRACE": "0", "SIDECALL_DRAIN_TIMEOUT": "1", **settings}
    with tempfile.TemporaryDirectory() as folder:
        log_file = Path(folder) / "log"
        with log_file.open("wb") as log:
            process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            yield Served(_port(process, log_file), process.pid, process, log_file)
        finally:
            _stop(process)


def _port(process: subprocess.Popen[bytes], log_file: Path) -> int:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and process.poll() is None:
        found = _STARTED.search(log_file.read_text(errors="replace"))
        if found is not None:
            return int(found[1])
        time.sleep(0.002)
    raise Unavailable(f"does not start: {reason_in(log_file.read_text(errors='replace'))}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def is_alive(pid: int) -> bool:
    """Tell whether a process exists and is more than an entry that nobody has reaped yet."""
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def open_files(pid: int) -> int:
    """Count the descriptors of a process."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def threads(pid: int) -> int:
    """Count the threads of a process."""
    return len(os.listdir(f"/proc/{pid}/task"))
