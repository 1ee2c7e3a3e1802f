"""The bounds of a workspace, and its present size."""

import errno
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from sidecall.features.workspaces.paths import MOST_LEVELS, UNFINISHED, WorkspaceError

MEGABYTE = 1024 * 1024


class WorkspaceLimits(Struct, frozen=True):
    """The bounds of a workspace: bytes in all, bytes of one file, number of files."""

    total_bytes: int = 256 * MEGABYTE
    file_bytes: int = 32 * MEGABYTE
    entries: int = 10_000

    def require_file(self, size: int) -> None:
        """Refuse a file that exceeds the bound.

        Raises:
            WorkspaceError: It does.
        """
        if size > self.file_bytes:
            raise WorkspaceError("too_large", f"A file may have {write_size(self.file_bytes)} at most.")

    def require_room(self, held: "DiskUsage", size: int = 0, entries: int = 0) -> None:
        """Refuse an addition that exceeds the bounds.

        Raises:
            WorkspaceError: It does.
        """
        if not held.is_whole:
            text = "Some folders cannot be counted, since they lie too deep or are closed. Delete them first."
            raise WorkspaceError("quota", text)
        if held.size + size > self.total_bytes:
            room = write_size(self.total_bytes)
            raise WorkspaceError("quota", f"The workspace may hold {room}, and is full. Delete files first.")
        if held.entries + entries > self.entries:
            text = f"The workspace may hold {self.entries} files and folders, and does. Delete some first."
            raise WorkspaceError("quota", text)


class DiskUsage(Struct, frozen=True):
    """The size of a workspace; not `is_whole` if something could not be counted.

    Counting stops once a bound is exceeded.
    """

    size: int
    entries: int
    is_whole: bool = True


def write_size(size: int) -> str:
    """Write a number of bytes as people say it."""
    for unit, name in ((MEGABYTE, "MB"), (1024, "kB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size} bytes"


OpenFolder = Callable[[Sequence[str]], int]

# A folder was removed or replaced meanwhile.
_GONE = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ELOOP))
# Full workspaces that are remembered, and folders of one that are checked again.
_MOST_KNOWN, _MOST_FOLDERS = 1000, 100
# A later change of a folder modified less than this ago may show the same time.
_SETTLED_NS = 100_000_000


class Count:
    """One scan of a workspace, which stops at its bounds."""

    def __init__(self, open_folder: OpenFolder, allowance: WorkspaceLimits) -> None:
        """Prepare the scan; `open_folder` opens a folder by its path of names."""
        self._open_folder = open_folder
        self._allowance = allowance
        self._size = self._entries = self._unfinished = 0
        self._is_whole = True
        self._changed: list[tuple[tuple[str, ...], int]] = []

    def run(self) -> DiskUsage:
        """Count all entries of every kind, until a bound is exceeded."""
        folders: list[tuple[str, ...]] = [()]
        while folders and self._has_room():
            parts = folders.pop()
            if len(parts) > MOST_LEVELS:
                self._is_whole = False
                break
            try:
                folder = self._open_folder(parts)
            except OSError as error:
                self._is_whole = self._is_whole and error.errno in _GONE
                continue
            try:
                self._changed.append((parts, os.fstat(folder).st_ctime_ns))
                folders += [(*parts, name) for name in self._look_into(folder)]
            finally:
                os.close(folder)
        return DiskUsage(self._size, self._count_entries(), self._is_whole)

    def _look_into(self, folder: int) -> Iterator[str]:
        """Count the entries of a folder, and yield the names of its folders."""
        with os.scandir(folder) as found:
            for entry in found:
                status = _look(entry)
                if status is None:
                    continue
                if entry.name.startswith(UNFINISHED):
                    self._unfinished += 1
                else:
                    self._entries += 1
                if stat.S_ISDIR(status.st_mode):
                    yield entry.name
                else:
                    self._size += status.st_size
                if not self._has_room():
                    break

    def _count_entries(self) -> int:
        # As many files as allowed can be in progress; more of such names are made by programs.
        return self._entries + max(0, self._unfinished - self._allowance.entries)

    def _has_room(self) -> bool:
        return self._size <= self._allowance.total_bytes and self._count_entries() <= self._allowance.entries

    def list_changed(self) -> list[tuple[tuple[str, ...], int]] | None:
        """List folders with too many entries and their times of change; None where times are unreliable.

        As long as none of them has changed, there are no fewer entries. Changes of files do not change their folder.
        """
        last = max((changed for _, changed in self._changed), default=0)
        is_full = self._count_entries() > self._allowance.entries and len(self._changed) <= _MOST_FOLDERS
        return self._changed if is_full and time.time_ns() - last > _SETTLED_NS else None


def _look(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:  # It was removed meanwhile.
        return None


class Counts:
    """Measures workspaces, and remembers full ones until one of their folders has changed."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[DiskUsage, list[tuple[tuple[str, ...], int]]]] = {}
        self._lock = threading.Lock()

    def count(self, root: int, open_folder: OpenFolder, allowance: WorkspaceLimits) -> DiskUsage:
        """Measure the content of a workspace, given a descriptor of its folder."""
        status = os.fstat(root)
        key = status.st_dev, status.st_ino
        known = self._known.get(key)
        if known is not None and not any(_has_changed(open_folder, *folder) for folder in known[1]):
            return known[0]
        count = Count(open_folder, allowance)
        held = count.run()
        changed = count.list_changed()
        with self._lock:
            self._known.pop(key, None)
            if changed is not None:
                self._known[key] = held, changed
            while len(self._known) > _MOST_KNOWN:
                del self._known[next(iter(self._known))]
        return held


def _has_changed(open_folder: OpenFolder, parts: Sequence[str], changed: int) -> bool:
    try:
        folder = open_folder(parts)
    except OSError:
        return True
    try:
        return os.fstat(folder).st_ctime_ns != changed
    finally:
        os.close(folder)
