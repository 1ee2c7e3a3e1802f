"""Find out whether a process that has imported tools may be forked."""

import os
import re
import select
import socket
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress

from sidecall.kernel.concurrency.descendants import children_of, kill

# As they are before a tool's module is imported: gevent and others replace them, and a fork is theirs then.
_PARTS = os.fork, select.select, socket.socket
# Shared without harm.
_HARMLESS = ("/dev/null", "/dev/urandom", "/dev/random")
# What is written at the end of a file may be written by several.
_APPENDS = os.O_APPEND
_NUMBER = re.compile(r":\[\d+\]$")
_MOST_NAMED = 3
# Seconds that a trial has.
_PATIENCE = 1.0
_PAUSE = 0.005


def list_opened() -> dict[int, str]:
    """Return the open descriptors of this process, with what each leads to."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # That of the folder itself is closed again.
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
    return found


def find_obstacle(before: Mapping[int, str]) -> str | None:
    """Return why copies of this process would not work as if each had imported the tools; None if there is no reason.

    Args:
        before: What was open before the import.
    """
    if (os.fork, select.select, socket.socket) != _PARTS:
        return "a module has replaced functions of Python that fork, wait or connect"
    if children_of(os.getpid()):
        return "a module has started a process"
    found = [(fd, place) for fd, place in list_opened().items() if before.get(fd) != place]
    # Sockets and the like have a number in brackets.
    opened = [_NUMBER.sub("", place) for fd, place in found if not _is_harmless(fd, place)]
    if opened:
        return f"a module has opened {_name(opened)}"
    threads = _list_threads()
    if threads and not _end_at_fork():
        return f"a module has started threads ({_name(threads)})"
    return None


def _is_harmless(fd: int, place: str) -> bool:
    if place in _HARMLESS:
        return True
    try:
        with open(f"/proc/self/fdinfo/{fd}") as info:
            flags = next(line.split()[1] for line in info if line.startswith("flags:"))
    except (OSError, StopIteration):  # It was closed meanwhile.
        return True
    return place.startswith("/") and bool(int(flags, 8) & _APPENDS)


def _list_threads() -> list[str]:
    """Return the names of all threads but this one, native ones included."""
    known = {thread.native_id: thread.name for thread in threading.enumerate()}
    found = []
    for thread in os.listdir("/proc/self/task"):
        with suppress(OSError):
            if int(thread) != os.getpid():
                with open(f"/proc/self/task/{thread}/comm") as name:
                    found.append(known.get(int(thread)) or name.read().strip())
    return found


def _end_at_fork() -> bool:
    """Fork once, and return whether the threads have ended for it, as those of OpenBLAS do, which NumPy uses."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    end = time.monotonic() + _PATIENCE
    while not (has_ended := os.waitpid(pid, os.WNOHANG)[0]) and time.monotonic() < end:
        time.sleep(_PAUSE)
    if not has_ended:
        kill(pid)
        os.waitpid(pid, 0)
        return False
    return not _list_threads()


def _name(found: list[str]) -> str:
    shown = ", ".join(sorted(set(found))[:_MOST_NAMED])
    return shown if len(set(found)) <= _MOST_NAMED else f"{shown}, \u2026"


def can_be_forked() -> bool:
    """Return whether this system tells what a process has running and open."""
    return sys.platform == "linux"
