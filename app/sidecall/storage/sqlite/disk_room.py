"""Test whether a file's disk has room."""

import os
import sys
from contextlib import suppress
from pathlib import Path

from sidecall.storage.sqlite.advice import NO_ROOM
from sidecall.storage.sqlite.faults import DiskFull

# Bytes that have to be free on a disk that was full. A few are always found, in pages that were taken before.
_ROOM = 1024 * 1024


def try_room(path: Path) -> None:
    """Test for room by writing a file next to it, which respects quotas.

    Raises:
        DiskFull: There is none.
    """
    trial = Path(f"{path}.room")
    try:
        trial.write_bytes(bytes(_ROOM))
    except OSError as error:
        if error.errno in NO_ROOM:
            raise DiskFull("database or disk is full") from None
    finally:
        with suppress(OSError):
            trial.unlink(missing_ok=True)


def has_room(path: Path, size: int) -> bool:
    """Return whether there is room for this many more bytes in the log, and for all of it in the file."""
    if sys.platform == "win32":
        return True
    try:
        found = os.statvfs(path)
        log = os.stat(f"{path}-wal").st_size
    except OSError:  # The next write reports the error.
        return True
    return found.f_blocks == 0 or found.f_bavail * found.f_frsize >= log + 2 * size + _ROOM
