"""The identity of an opened file, and changes to it."""

import os
from io import FileIO
from pathlib import Path

from sidecall.storage.sqlite.faults import FileMoved, FileOverwritten, LogMoved
from sidecall.storage.sqlite.file_lock import lock_itself, unlock_itself

# How every file of SQLite begins.
_HEAD = b"SQLite format 3\0"
# What tells a file from all others of the machine, under any name.
_Known = tuple[int, int]
# The same of one that was opened, of its log, and of the memory that its connections share.
FileIdentity = tuple[_Known | None, ...]
# The generation of what is read, and the file that was opened for it.
ReadSource = tuple[int, FileIdentity | None]


class KnownFile:
    """Recognizes a file and its log; without a path there is nothing to recognize."""

    def __init__(self, path: Path | None, *, is_locked: bool = False) -> None:
        """Watch the file at a path; `is_locked` also locks it against other processes, under any name."""
        self._path = path
        self._is_locked = is_locked
        self._log = None if path is None else Path(f"{path}-wal")
        self._beside = () if path is None else (f"{path}-wal", f"{path}-shm")
        self._identity: FileIdentity | None = None
        self._size = 0
        self._file: FileIO | None = None
        self._held: list[FileIO] = []

    @property
    def identity(self) -> FileIdentity | None:
        """The identity of the opened file."""
        return self._identity

    def is_of(self, identity: FileIdentity | None) -> bool:
        """Return whether this is the file that is in place now.

        Raises:
            LogMoved: It is, but its log or shared memory was replaced.
        """
        found = self._identify_all()
        if identity is not None and found != identity and found[0] == identity[0]:
            raise LogMoved
        return found == identity

    def begin(self) -> None:
        """Open the file before any connection does, creating it if missing.

        It stays open as long as connections do, and is opened only once: closing it would release their locks in this
        process, and another process would remove their log.

        Raises:
            FileOverwritten: It was emptied. SQLite would take it for a new one, and remove its log.
            FileTaken: Another process has locked it.
            OSError: It cannot be opened.
        """
        assert self._path is not None
        if self.is_empty and (self._identity is not None or _measure(self._log)):
            raise FileOverwritten
        self._file = self._find_held() or self._hold()
        self._size = 0
        self._release(self._find_deleted())
        self._lock()

    def _lock(self) -> None:
        for file in self._held if self._is_locked else ():
            if file is self._file:
                lock_itself(file.fileno())
            else:
                unlock_itself(file.fileno())

    def _find_held(self) -> FileIO | None:
        known = _identify(self._path)
        return next((file for file in self._held if _know(os.fstat(file.fileno())) == known), None)

    def _hold(self) -> FileIO:
        assert self._path is not None
        # The data may be secret. SQLite gives the log and shared memory the same permissions.
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        self._held.append(open(descriptor, "rb", buffering=0))  # noqa: SIM115
        return self._held[-1]

    def _find_deleted(self) -> list[FileIO]:
        # They take up room of the disk. One that was moved away may come back, with connections that still read it.
        return [file for file in self._held if file is not self._file and not os.fstat(file.fileno()).st_nlink]

    def _release(self, files: list[FileIO]) -> None:
        for file in files:
            self._held.remove(file)
            file.close()

    def take(self) -> None:
        """Record the identity of the opened file."""
        self._identity = self._identify_all()

    def _identify_all(self) -> FileIdentity:
        return _identify(self._path), *map(_identify, self._beside)

    def end(self) -> None:
        """Close the file, after all connections."""
        self._file = None
        self._release([*self._held])

    def require_same(self) -> None:
        """Check that the file is unchanged, since SQLite would write on in any case.

        Raises:
            FileMoved: It was deleted, or another one stands in its place.
            FileOverwritten: Its beginning was written over, or it is shorter than it was.
        """
        if self._file is None:
            return
        status = _look_at(self._path)
        if status is None or self._identity is None or _know(status) != self._identity[0]:
            raise FileMoved
        self._file.seek(0)
        if status.st_size < self._size or self._file.read(len(_HEAD)) != _HEAD:
            raise FileOverwritten
        self._size = status.st_size

    @property
    def is_empty(self) -> bool:
        """Whether it exists and is empty, which never holds for an opened database."""
        return _measure(self._path) == 0

    def drop_left_over(self) -> None:
        """Delete leftovers of a missing file, so that they are not applied to its replacement.

        Without the file they are useless: connections to the deleted file may still hold the shared memory, and new
        ones would look for the log that it describes.
        """
        found = self._identify_all()
        before = found if found[0] is None else self._identity
        if before is not None and (found[0] is None or found[0] != before[0]):
            for path, there, noted in zip(self._beside, found[1:], before[1:], strict=True):
                if there is not None and there == noted:
                    Path(path).unlink(missing_ok=True)

    @property
    def has_lost_log(self) -> bool:
        """Whether the log or the shared memory was deleted or replaced, but not the file."""
        if self._file is None or self._identity is None or self._identity[1:] == (*map(_identify, self._beside),):
            return False
        try:
            self.require_same()
        except (FileMoved, FileOverwritten):
            return False
        return True

    def drop_other_log(self) -> None:
        """Delete a log that has replaced the opened one and holds nothing of this file."""
        if self._log is not None and self._identity is not None and _identify(self._log) != self._identity[1]:
            self._log.unlink(missing_ok=True)


def _look_at(path: Path | str | None) -> os.stat_result | None:
    """Return the file's status; None if it is missing."""
    if path is None:
        return None
    try:
        return os.stat(path)
    except OSError:
        return None


def _identify(path: Path | str | None) -> _Known | None:
    status = _look_at(path)
    return None if status is None else _know(status)


def _know(status: os.stat_result) -> _Known:
    return status.st_dev, status.st_ino


def _measure(path: Path | None) -> int | None:
    status = _look_at(path)
    return None if status is None else status.st_size
