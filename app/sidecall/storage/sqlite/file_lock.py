"""One process per file."""

import errno
import os
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path

from sidecall.kernel.core.errors import SidecallError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

# What is locked on Windows, far from what others read.
_FAR = 1024 * 1024


# Seconds for which what a server has left running is waited for; it ends when it notices, once it has finished.
_PATIENCE = 15.0
_MOMENT = 0.02
# Seconds for which a file that is taken under another name is waited for: that one may be about to end.
_SHORT_PATIENCE = 2.0
# Of a file itself one byte is locked, beyond all that SQLite locks and can write.
_BEYOND = 1 << 62
_HELD = frozenset({errno.EAGAIN, errno.EACCES})


class FileTaken(SidecallError):
    """Another process holds the lock."""


class FileLeft(FileTaken):
    """Processes hold the lock that one which has ended has left behind."""


class LockOutOfReach(SidecallError):
    """The lock file is read-only."""


class FileLock:
    """A lock on a file beside another one; the kernel lets go of it when the process ends, however it ends.

    It holds between processes. Processes that this one forks do not inherit it, so none that is left over keeps it.
    """

    def __init__(self, path: Path, holder: int) -> None:
        """Name the file, and the process that others are told has it."""
        self._path = path
        self._holder = holder
        self._descriptor: int | None = None
        self._is_new = False

    def take(self) -> None:
        """Take it, unless that was done, and write the holder's id into the file.

        Raises:
            FileTaken: Another process holds it, of this id; `FileLeft` where that one has ended.
            LockOutOfReach: This process may not write the file.
            OSError: The file cannot be written.
        """
        until = time.monotonic() + _PATIENCE
        while self._descriptor is None:
            try:
                if self._take():
                    return
            except FileTaken as error:
                if not _has_ended(error.message):
                    raise
                if time.monotonic() > until:
                    raise FileLeft(error.message) from None
                time.sleep(_MOMENT)

    def _take(self) -> bool:
        """Take the lock; return False if another process has just removed the file."""
        descriptor = self._open()
        try:
            _lock(descriptor)
        except (BlockingIOError, PermissionError):
            holder = os.read(descriptor, 32).decode(errors="replace").strip()
            os.close(descriptor)
            raise FileTaken(holder or "unknown") from None
        if not _leads_to(self._path, descriptor):
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{self._holder}\n".encode())
        return True

    def _open(self) -> int:
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            pass
        else:
            self._is_new = True
            return descriptor
        try:
            return os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except PermissionError as error:
            raise LockOutOfReach(
                f"{self._path} cannot be opened: {error.strerror}. It says which server has the file beside it: let "
                "this process write it, or remove it while no server runs."
            ) from error

    def withdraw(self) -> None:
        """Let another process take it, and remove the file if there was none before: that beside it is not ours."""
        if self._is_new and self._descriptor is not None:
            with suppress(OSError):
                self._path.unlink()
            self._is_new = False
        self.give_back()

    def give_back(self) -> None:
        """Let another process take it; the file stays, since removing it would let two take it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _leads_to(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def lock_itself(descriptor: int) -> None:
    """Lock a file, under all of its names, until this descriptor is closed.

    On Linux alone, and not where the place of the file has no such locks. What this process opens and closes beside
    the descriptor does not matter to them.

    Raises:
        FileTaken: Another descriptor has locked it.
    """
    until = time.monotonic() + _SHORT_PATIENCE
    while sys.platform == "linux":
        try:
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _describe_lock())
        except OSError as error:
            if error.errno not in _HELD:
                return
            if time.monotonic() > until:
                raise FileTaken("which has it under another name") from None
            time.sleep(_MOMENT)
        else:
            return


def _describe_lock() -> bytes:
    """Return what C calls a `struct flock`."""
    return struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, _BEYOND, 1, 0)


def _has_ended(holder: str) -> bool:
    if sys.platform == "win32" or not holder.isdigit():
        return False
    try:
        os.kill(int(holder), 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return False


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
    else:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
