"""Whether the file under a connection, and what stands beside it, is still what was opened."""

import json
import os
import sys
from pathlib import Path

from msgspec import Struct

from sidecall.storage.sqlite.errors import DELETED, OVERWRITTEN, FileChanged, LogChanged
from sidecall.storage.sqlite.file_lock import lock_itself
from sidecall.storage.sqlite.tables import OURS

# How every file of SQLite begins, and how much of that is looked at.
_FORMAT = b"SQLite format 3\0"
_HEAD = 72
# A counter in it never goes back, but begins again after so many changes.
_COUNTS = 1 << 32
# Identifies a file on this machine, independent of its name.
FileId = tuple[int, int]
# The same of one that was opened, of its log, and of the memory that its connections share.
FileIdentity = tuple[FileId | None, ...]
# The generation of what is read, and the file that was opened for it.
ReadSource = tuple[int, FileIdentity | None]


class _Head(Struct, frozen=True):
    """What a file says of itself: how it is written, of which program, how often it was changed, and its size."""

    form: bytes
    program: int
    changes: int
    size: int

    def may_follow(self, before: "_Head") -> bool:
        """Return whether the file that began like `before` may begin like this by now."""
        is_later = (self.changes - before.changes) % _COUNTS < _COUNTS // 2
        return is_later and self.form == before.form and self.program in (before.program, OURS)


class OpenedFile:
    """Know the file that was opened, and its log beside it; without a path there is nothing to know."""

    def __init__(self, path: Path | None, *, is_locked: bool = False, known: FileId | None = None) -> None:
        """Know the file of a path.

        Args:
            path: Where it is.
            is_locked: Whether no other process may have it under any name.
            known: Which file it has to be, where another process of the server has opened it before.
        """
        self._path = None if path is None else os.fspath(path)  # Of a Path each look would make a text anew.
        self._is_locked = is_locked
        self._known = known
        self._beside = () if path is None else (f"{path}-wal", f"{path}-shm")
        self._descriptor: int | None = None
        self._start = b""  # Its first bytes, which say what stands in `_head`.
        self._head: _Head | None = None
        self._size = 0
        self.identity: FileIdentity | None = None

    @property
    def is_known(self) -> bool:
        """Whether this server has opened it before, so that only this one will do."""
        return self._known is not None or self.identity is not None

    def open(self) -> None:
        """Open the file, which is made where the server has opened none before, before connections do.

        It stays open as long as they do, and is not opened twice: to close it frees the locks that they have in this
        process, and another one would take their log away under them.

        Raises:
            FileChanged: It is not the one that was opened before. One that was emptied beside a log that was not is
                refused as well: SQLite would take it for a new one, and remove the log.
            FileTaken: Another process has locked it.
            OSError: It cannot be opened.
        """
        assert self._path is not None
        if self.identity is not None:
            self.require_file()
            return
        self.close()
        if _measure(self._path) == 0 and (self.is_known or _measure(f"{self._path}-wal")):
            raise FileChanged(OVERWRITTEN)
        # What is remembered may be secret. SQLite gives the files beside it the same rights.
        flags = os.O_RDWR | getattr(os, "O_BINARY", 0) | (0 if self.is_known else os.O_CREAT)
        try:
            self._descriptor = os.open(self._path, flags, 0o600)
        except FileNotFoundError:
            if self.is_known:
                raise FileChanged(DELETED) from None
            raise
        if self._known not in (None, _know(os.fstat(self._descriptor))):
            raise FileChanged(DELETED)
        if self._is_locked:
            lock_itself(self._descriptor)

    def take(self) -> None:
        """Note what it is like, now that connections have opened it, too."""
        self.identity = self._identify()
        self._start = self._read_start()
        self._head, self._size = _read_head(self._start), 0

    def close(self) -> None:
        """Let go of the file, to which no connection leads any more."""
        self.identity = None
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def require_same(self) -> None:
        """Check that the file is still the same; SQLite would go on writing to a changed one.

        Raises:
            FileChanged: It was deleted, another one stands in its place, or another program has written over it.
            LogChanged: Only what stands beside it was deleted or replaced.
            OSError: That cannot be found out.
        """
        if self.identity is not None and self._descriptor is not None:
            self.require_file()
            if self.identity[1:] != tuple(map(_identify, self._beside)):
                raise LogChanged

    def require_file(self) -> None:
        """Look whether the file itself is still the same.

        Raises:
            FileChanged: It is not.
            OSError: That cannot be found out.
        """
        assert self.identity is not None
        assert self._head is not None
        status = _look_at(self._path)
        if status is None or _know(status) != self.identity[0]:
            raise FileChanged(DELETED)
        start = self._read_start()
        if start == self._start and status.st_size >= self._size:  # As nearly always.
            self._size = status.st_size
            return
        head = _read_head(start)
        if head is None or not head.may_follow(self._head) or self._is_cut_off(status.st_size, head):
            raise FileChanged(OVERWRITTEN)
        self._start, self._head, self._size = start, head, status.st_size

    def _is_cut_off(self, size: int, head: _Head) -> bool:
        """Return whether it is shorter than it was, and not by VACUUM of another program, which the head tells of."""
        assert self._head is not None
        return size < self._size and (size < head.size or head.changes == self._head.changes)

    def find_change(self, identity: FileIdentity | None) -> FileChanged | None:
        """Return what has become of the file that a process has opened, as far as its name shows it."""
        found = self._identify()
        if found[0] is not None and _measure(self._path) == 0:
            return FileChanged(OVERWRITTEN)
        if identity is None or found == identity:
            return None
        return LogChanged() if found[0] == identity[0] else FileChanged(DELETED)

    def set_other_log_aside(self) -> None:
        """Move a log away that stands in the place of the one that was opened: it has nothing of this file."""
        log = f"{self._path}-wal"
        if self.identity is not None and _identify(log) not in (None, self.identity[1]):
            os.replace(log, f"{log}.aside")

    def _identify(self) -> FileIdentity:
        return _identify(self._path), *map(_identify, self._beside)

    def _read_start(self) -> bytes:
        if self._descriptor is None:
            return b""
        if sys.platform == "win32":
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            return os.read(self._descriptor, _HEAD)
        return os.pread(self._descriptor, _HEAD, 0)


def _read_head(start: bytes) -> _Head | None:
    """Return what a file says at its beginning, None where it is not SQLite's."""
    if len(start) < _HEAD or not start.startswith(_FORMAT):
        return None
    page = int.from_bytes(start[16:18]) * (1 if start[16] else 65536)
    return _Head(
        form=start[16:20],
        program=int.from_bytes(start[68:72]),
        changes=int.from_bytes(start[24:28]),
        size=page * int.from_bytes(start[28:32]),
    )


def read_id(text: str) -> FileId | None:
    """Read which file another process has opened, as JSON has it."""
    found = json.loads(text)
    return None if found is None else (int(found[0]), int(found[1]))


def _look_at(path: Path | str | None) -> os.stat_result | None:
    """Return what the system says of a file; None where there is none."""
    if path is None:
        return None
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _identify(path: Path | str | None) -> FileId | None:
    status = _look_at(path)
    return None if status is None else _know(status)


def _know(status: os.stat_result) -> FileId:
    return status.st_dev, status.st_ino


def _measure(path: Path | str | None) -> int | None:
    status = _look_at(path)
    return None if status is None else status.st_size
