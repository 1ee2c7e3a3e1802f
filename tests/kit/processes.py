"""Processes of others: whether they have ended, and what they may write."""

import os
import resource
import select
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.kit.forking import ADDRESS


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
    commands = {child: read_command(child) for child in list_children(server or os.getpid())}
    return [
        child
        for child, command in commands.items()
        if series in command and any("sqlite.writer_process" in word for word in command)
    ]


def list_children(process: int) -> list[int]:
    """List the processes that a process has started, those that were forked for it elsewhere as well."""
    found: list[int] = []
    with suppress(OSError):  # It may end meanwhile.
        for task in list(Path(f"/proc/{process}/task").iterdir()):
            with suppress(OSError):
                found.extend(map(int, (task / "children").read_text().split()))
    return found + [pid for pid, (parent, *_) in _list_forked() if parent == str(process)]


def read_command(process: int) -> list[str]:
    """Return the words of a process's command; none when it has ended meanwhile."""
    for forked, (_, *words) in _list_forked():
        if forked == process:
            return words
    try:
        return Path(f"/proc/{process}/cmdline").read_text().split("\0")
    except OSError:
        return []


def _list_forked() -> Iterator[tuple[int, list[str]]]:
    """Yield what was forked in place of a program, with the id of who wanted it and its command."""
    if ADDRESS in os.environ:
        address = Path(os.environ[ADDRESS])
        for noted in address.parent.glob(f"{address.name}.*"):
            with suppress(FileNotFoundError):  # It has ended meanwhile.
                yield int(noted.suffix[1:]), noted.read_text().split("\0")


@contextmanager
def bounding(process: int, size: int) -> Iterator[None]:
    """Let no file of a process grow beyond so many bytes."""
    before = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.prlimit(process, resource.RLIMIT_FSIZE, before)


def list_descendants(process: int, program: str | None = None) -> list[int]:
    """List the processes that descend from one and run this program, or any."""
    found = [process]
    for pid in found:  # It grows meanwhile.
        found.extend(list_children(pid))
    return [pid for pid in found[1:] if program in (None, _read_program(pid))]


def _read_program(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return ""
