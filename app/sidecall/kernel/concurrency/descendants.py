"""Find all descendants of a process, across sessions, and say how a process ended."""

import os
import secrets
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress

try:
    import resource
except ImportError:  # Not a Unix, where no tool runs in a process.
    resource = None  # type: ignore[assignment]

# How many locks on files one may hold: Linux has not cared since 2.4, but hands the number to all that is started,
# through any number of forks and programs, and nobody else sets it. So it tells whose an orphan was.
_RLIMIT_LOCKS = 10
_PID_BITS = 32
_MARK_BITS = 30
# How often to look again for what was started while the others were being killed.
_ROUNDS = 4


def new_mark() -> int:
    """Return a unique mark for a fork server's children, on this machine and its containers."""
    return secrets.randbits(_MARK_BITS)


def mark_this_process(mark: int) -> None:
    """Mark this process, and so all its descendants, with its fork server's mark and its own process id."""
    if sys.platform == "linux":
        with suppress(OSError, OverflowError, ValueError):
            _, hard = resource.getrlimit(_RLIMIT_LOCKS)
            resource.setrlimit(_RLIMIT_LOCKS, (mark << _PID_BITS | os.getpid(), hard))


def owner_of(pid: int, mark: int) -> int | None:
    """Return which child of a fork server has started a process, directly or not; None if unknown."""
    if sys.platform == "linux":
        with suppress(OSError):
            found, _ = resource.prlimit(pid, _RLIMIT_LOCKS)
            if found >> _PID_BITS == mark:
                return found & ((1 << _PID_BITS) - 1)
    return None


def children_of(pid: int) -> list[int]:
    """List the children of a process, zombies included; none if the system does not report them."""
    found: list[int] = []
    with suppress(OSError):  # It is gone.
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as children:
                found.extend(map(int, children.read().split()))
    return found


def add_descendants(pids: Iterable[int]) -> list[int]:
    """Return these processes and all that descend from them, parents first."""
    found = list(dict.fromkeys(pids))
    for pid in found:  # The list grows during the loop.
        found.extend(children_of(pid))
    return found


def kill(pid: int) -> None:
    """Kill a process, if it exists and this is permitted."""
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def kill_group(pid: int) -> None:
    """Kill the process group of a present or past leader."""
    with suppress(OSError):
        os.killpg(pid, signal.SIGKILL)


def kill_marked(mark: int) -> None:
    """Kill the orphans left by the children of a dead fork server."""
    killed: set[int] = set()
    for _ in range(_ROUNDS):
        found = {pid for pid in _list_all() if owner_of(pid, mark) is not None} - killed
        for pid in found:
            kill(pid)
        if not found:
            return
        killed |= found


def end_copy_of(pid: int) -> None:
    """Exit at once if this is not that process, but a copy that the tool forked."""
    if os.getpid() != pid:
        os._exit(0)


def _list_all() -> list[int]:
    with suppress(OSError):
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    return []


def describe_end(code: int | None) -> str:
    """Describe how a process ended, by its exit code."""
    if code is None:
        return "ended"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
        return f"was ended by {name}{', as by a limit of memory' if name == 'SIGKILL' else ''}"
    except ValueError:
        return f"was ended by signal {-code}"
