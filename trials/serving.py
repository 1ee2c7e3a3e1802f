"""Serve the tools of the trials, and look at the process that does."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.kit.servers import Server, end, start

TOOLS = "trials/served/plain.py"


@contextmanager
def serving(tools: str = TOOLS, *options: str, **settings: str) -> Iterator[Server]:
    """Start a server of tools, separated by commas, with these options of `serve` and these settings.

    It is given when it listens, and stopped afterwards.

    Raises:
        Unavailable: It does not start; the message says why.
    """
    with tempfile.TemporaryDirectory() as folder:
        wanted = [word for part in tools.split(",") for word in ("--tools", part)]
        server = start(Path(folder), *wanted, *options, environment={"SIDECALL_DRAIN_TIMEOUT": "1", **settings})
        try:
            yield server
        finally:
            end(server.process)


def is_alive(pid: int) -> bool:
    """Return whether a process exists and is no zombie."""
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def count_open_files(pid: int) -> int:
    """Count the descriptors of a process."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def count_threads(pid: int) -> int:
    """Count the threads of a process."""
    return len(os.listdir(f"/proc/{pid}/task"))
