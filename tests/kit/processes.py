"""Processes of others: whether they have ended, and what they may write."""

import os
import resource
import select
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def has_ended(process: int, seconds: float = 20) -> bool:
    """Wait for the end of a process that may have ended already."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    ended, _, _ = select.select([handle], [], [], seconds)
    os.close(handle)
    return bool(ended)


def find_writers(server: int | None = None, series: str = "sqlite") -> list[int]:
    """Return the processes that write files of SQLite, those of ledgers or of others, for a server or this process."""
    tasks = Path(f"/proc/{server or os.getpid()}/task").glob("*/children")
    children = [int(child) for task in tasks for child in task.read_text().split()]
    commands = {child: _read_command(child) for child in children}
    wanted = f"\0{series}\0".encode()
    return [child for child, command in commands.items() if b"sqlite.process" in command and wanted in command]


@contextmanager
def bounding(process: int, size: int) -> Iterator[None]:
    """Let no file of a process grow beyond so many bytes."""
    before = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.prlimit(process, resource.RLIMIT_FSIZE, before)


def _read_command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:  # It has ended meanwhile.
        return b""


def list_descendants(process: int, program: str | None = None) -> list[int]:
    """List the processes that descend from one and run this program, or any."""
    found = [process]
    for pid in found:  # It grows meanwhile.
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            with suppress(OSError):
                found.extend(map(int, task.read_text().split()))
    return [pid for pid in found[1:] if program in (None, _read_program(pid))]


def _read_program(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return ""
