"""Processes of others: whether they have ended."""

import os
import select
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


def find_writers(server: int | None = None) -> list[int]:
    """Return the processes that write files of SQLite for a server, or for this process."""
    tasks = Path(f"/proc/{server or os.getpid()}/task").glob("*/children")
    children = [int(child) for task in tasks for child in task.read_text().split()]
    return [child for child in children if b"sqlite.process" in _read_command(child)]


def _read_command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:  # It has ended meanwhile.
        return b""
