"""Control groups, by which the kernel bounds the number and memory of processes.

Where the server is root, nothing else bounds the number of processes: `RLIMIT_NPROC` does not apply to root.
"""

import errno
import os
import secrets
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import NamedTuple

_MOUNTS = Path("/proc/self/mounts")
_OWN = Path("/proc/self/cgroup")
_NAME = "sidecall"
_TRIES, _PAUSE = 50, 0.01


class _Kind(NamedTuple):
    """The files with the bounds, in one of the two versions of cgroups."""

    memory: str
    processes: str


_ONE = _Kind("memory.limit_in_bytes", "pids.max")
_TWO = _Kind("memory.max", "pids.max")


@dataclass(frozen=True, slots=True)
class Group:
    """The folders of one group."""

    folders: tuple[Path, ...]

    def add(self, pid: int) -> None:
        """Add a process, with all its future children, to the group."""
        for folder in self.folders:
            _write(folder / "cgroup.procs", pid)

    def remove(self) -> None:
        """Remove the group as soon as it is empty; killed processes may remain for a moment."""
        for folder in self.folders:
            for _ in range(_TRIES):
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(_PAUSE)
                else:
                    break


class Groups:
    """Makes groups with their own bounds, below the folders that the server may write."""

    def __init__(self, places: tuple[tuple[Path, _Kind], ...]) -> None:
        self._places = places
        self._numbers = count(1)
        # Several servers may run in one process.
        self._own = secrets.token_hex(4)

    def open(self, memory_bytes: int, processes: int) -> Group:
        """Make one.

        Raises:
            OSError: The system refuses it.
        """
        name = f"{_NAME}-{os.getpid()}-{self._own}-{next(self._numbers)}"
        group = Group(tuple(dict.fromkeys(place / name for place, _ in self._places)))
        try:
            for folder in group.folders:
                folder.mkdir()
            for place, kind in self._places:
                for file, most in ((kind.memory, memory_bytes), (kind.processes, processes)):
                    with suppress(FileNotFoundError):  # That of the other folder.
                        _write(place / name / file, most)
        except OSError:
            group.remove()
            raise
        return group


def _write(file: Path, number: int) -> None:
    """Write a number to a file of a group."""
    # In few steps: after each, a thread may have to wait for the event loop, which it then holds up.
    fd = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, b"%d" % number)
    finally:
        os.close(fd)


class HeldGroup:
    """The group of one sandbox, made and removed in threads; it may be dropped while it is made."""

    def __init__(self, groups: Groups, memory_bytes: int, processes: int) -> None:
        self._groups = groups
        self._memory_bytes = memory_bytes
        self._processes = processes
        self._lock = threading.Lock()
        self._group: Group | None = None
        self._is_over = False

    def begin(self, pid: int, *, is_outer: bool = False) -> None:
        """Make the group and add a process to it, which does not count if it is that outside of the sandbox.

        Raises:
            OSError: The system refuses it, or it was dropped.
        """
        with self._lock:
            if self._is_over:
                raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
            self._group = self._groups.open(self._memory_bytes, self._processes + is_outer)
            self._group.add(pid)

    def add(self, pid: int) -> None:
        """Add another process to the group.

        Raises:
            OSError: The system refuses it, or the group was dropped.
        """
        with self._lock:
            if self._is_over or self._group is None:
                raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
            self._group.add(pid)

    def end(self) -> None:
        """Remove the group; it is not made any more."""
        with self._lock:
            self._is_over = True
            if self._group is not None:
                self._group.remove()


def find_groups() -> Groups | None:
    """Return a factory of groups that bound processes and memory; None where this server may not make any."""
    for places in _list_candidates():
        groups = Groups(places)
        with suppress(OSError):
            group = groups.open(1 << 30, 64)
            is_complete = _has(group, places[0][1].memory) and _has(group, "pids.max")
            group.remove()
            if is_complete:
                _sweep(place for place, _ in places)
                return groups
    return None


def _sweep(places: Iterable[Path]) -> None:
    """Remove the groups of servers that were killed."""
    for folder in (folder for place in places for folder in place.glob(f"{_NAME}-*-*")):
        if not Path("/proc", folder.name.split("-")[1]).exists():
            with suppress(OSError):
                folder.rmdir()


def _has(group: Group, file: str) -> bool:
    return any((folder / file).exists() for folder in group.folders)


def _list_candidates() -> Iterator[tuple[tuple[Path, _Kind], ...]]:
    """List the folders where groups may be made: below the server's own group, and below the topmost."""
    with suppress(OSError):
        mounts = [line.split() for line in _MOUNTS.read_text().splitlines()]
        own = [line.split(":", 2) for line in _OWN.read_text().splitlines()]
        for _, place, kind, *_ in mounts:
            if kind == "cgroup2":
                path = next((path for number, _, path in own if number == "0"), "/")
                yield ((Path(place + path.rstrip("/")), _TWO),)
                yield ((Path(place), _TWO),)
        paths = {name: path for _, names, path in own for name in names.split(",")}
        found = {
            name: Path(place + paths[name].rstrip("/"))
            for _, place, kind, options, *_ in mounts
            for name in ("memory", "pids")
            if kind == "cgroup" and name in options.split(",") and name in paths
        }
        if len(found) == len(_ONE):
            yield tuple((folder, _ONE) for folder in found.values())
