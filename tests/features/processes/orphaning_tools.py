"""Tools that leave something behind: processes, copies of their own process, threads."""

import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

from sidecall import tool

COMMANDS = {
    # its parent is the tool's process
    "session": ["setsid", "sh", "-c", "echo $$; exec sleep 1000"],
    # its parent is gone
    "orphan": ["sh", "-c", "setsid sleep 1000 >&2 & echo $!"],
}


def started(how: str) -> int:
    """Start a process in a session of its own, and wait until it has one."""
    process = subprocess.Popen(COMMANDS[how], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return int(process.stdout.readline())


@tool(executor="process")
def make_orphan(how: str) -> int:
    """Start a process and say which.

    Args:
        how: As what.
    """
    return started(how)


@tool(executor="process", timeout=2)
def orphan_and_hang(how: str, file: str) -> None:
    """Start a process, write down which, and run for ever.

    Args:
        how: As what.
        file: Where to write it.
    """
    Path(file).write_text(str(started(how)))
    threading.Event().wait()


@tool(executor="process")
def orphan_and_leave(how: str, file: str) -> None:
    """Start a process, write down which, and end this one.

    Args:
        how: As what.
        file: Where to write it.
    """
    Path(file).write_text(str(started(how)))
    os._exit(3)


@tool(executor="process")
def orphan_and_hold(how: str, file: str, fifo: str) -> None:
    """Start a process, write down which, and wait.

    Args:
        how: As what.
        file: Where to write it.
        fifo: Whose end to wait for.
    """
    Path(file).write_text(str(started(how)))
    Path(fifo).read_text()


@tool(executor="process")
def fork(raises: bool) -> int:
    """Copy this process, and return in both, or raise in the copy.

    Args:
        raises: Whether the copy raises.
    """
    copy = os.fork()
    if raises and not copy:
        raise SystemExit(3)
    return copy


@tool(executor="process")
async def afork() -> int:
    """Do the same on an event loop."""
    return os.fork()


@tool(executor="process")
def fork_and_yield() -> Iterator[str]:
    """Do the same between two parts."""
    yield str(os.fork())


@tool(executor="process")
def pid() -> int:
    """Say which process runs."""
    return os.getpid()
