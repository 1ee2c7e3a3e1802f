"""What a file was like when it was opened, and what has become of it since."""

import os
from io import FileIO
from pathlib import Path

from sidecall.ledger.sql.sqlite.faults import FileMoved, FileOverwritten
from sidecall.ledger.sql.sqlite.file_lock import lock_itself, unlock_itself

# How every file of SQLite begins.
_HEAD = b"SQLite format 3\0"
# What the names of those beside it end with: its log, and the memory that its connections share.
_ENDS = ("-wal", "-shm")
# What tells a file from all others of the machine, whatever it is called.
FileIdentity = tuple[int, int]
# The generation of what is read, and the file that was opened for it.
ReadSource = tuple[int, FileIdentity | None]


class Likeness:
    """Know a file again, and its log beside it; without a path there is nothing to know."""

    def __init__(self, path: Path | None, *, is_locked: bool = False) -> None:
        """Know the file of a path; where it is to be locked, no other process has it under any name."""
        self._path = path
        self._is_locked = is_locked
        self._log = None if path is None else Path(f"{path}-wal")
        self._identity: FileIdentity | None = None
        self._beside = dict[Path, FileIdentity | None]()
        if path is not None:
            self._beside = {Path(f"{path}{end}"): None for end in _ENDS}
        self._size = 0
        self._file: FileIO | None = None
        self._held: list[FileIO] = []

    @property
    def identity(self) -> FileIdentity | None:
        """Which file was opened."""
        return self._identity

    def is_of(self, identity: FileIdentity | None) -> bool:
        """Return whether this is the file that stands there now."""
        return _identify(self._path) == identity

    def begin(self) -> None:
        """Open the file, which is made where there is none, before connections do.

        It stays open as long as they do, and is not opened twice: to close it frees the locks that they have in this
        process, and another one would take their log away under them.

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
        identity = _identify(self._path)
        return next((file for file in self._held if _know(os.fstat(file.fileno())) == identity), None)

    def _hold(self) -> FileIO:
        assert self._path is not None
        # What is remembered may be secret. SQLite gives the files beside it the same rights.
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
        """Note what it is like, now that it is open."""
        self._identity = _identify(self._path)
        self._beside = {path: _identify(path) for path in self._beside}

    def end(self) -> None:
        """Let go of the file, to which no connection leads any more."""
        self._file = None
        self._release([*self._held])

    def require_same(self) -> None:
        """Look whether it is still the same; SQLite would go on writing whatever has become of it.

        Raises:
            FileMoved: It was deleted, or another one stands in its place.
            FileOverwritten: Its beginning was written over, or it is shorter than it was.
        """
        if self._file is None:
            return
        status = _look_at(self._path)
        if status is None or _know(status) != self._identity:
            raise FileMoved
        self._file.seek(0)
        if status.st_size < self._size or self._file.read(len(_HEAD)) != _HEAD:
            raise FileOverwritten
        self._size = status.st_size

    @property
    def is_empty(self) -> bool:
        """Whether it is there and has nothing in it, which is never so once it was opened."""
        return _measure(self._path) == 0

    def drop_left_over(self) -> None:
        """Remove what stands beside a file that is gone, before it is taken for that of the one in its place.

        Beside no file at all nothing is of use, whoever left it: connections to a file that is gone may still hold the
        memory that they share, and a new one would look for the log that it tells of.
        """
        is_gone = _identify(self._path) is None
        if is_gone or (self._identity is not None and self._has_moved):
            for path, noted in self._beside.items():
                if is_gone or _identify(path) == noted:
                    path.unlink(missing_ok=True)

    @property
    def _has_moved(self) -> bool:
        return _identify(self._path) != self._identity


def _look_at(path: Path | None) -> os.stat_result | None:
    """Return what the system says of a file; None where there is none."""
    if path is None:
        return None
    try:
        return os.stat(path)
    except OSError:
        return None


def _identify(path: Path | None) -> FileIdentity | None:
    status = _look_at(path)
    return None if status is None else _know(status)


def _know(status: os.stat_result) -> FileIdentity:
    return status.st_dev, status.st_ino


def _measure(path: Path | None) -> int | None:
    status = _look_at(path)
    return None if status is None else status.st_size
