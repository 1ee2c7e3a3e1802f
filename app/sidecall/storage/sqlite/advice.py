"""Advice to operators on a file whose location cannot be used."""

import errno
import os
from pathlib import Path

from sidecall.storage.sqlite.faults import TooFewFiles, is_full

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
_NO_FILES = frozenset({errno.EMFILE, errno.ENFILE})
_MORE_FILES = "Raise the limit of open files (ulimit -n, LimitNOFILE, --ulimit nofile)."
_MAKE_ROOM = "Make room on its disk, or name a file on another one in SIDECALL_STORE."


def find_too_few_files() -> TooFewFiles | None:
    """Test whether as many files can be opened as a database needs, since SQLite gives no reason."""
    opened: list[int] = []
    try:
        opened += os.pipe()
        opened += os.pipe()
    except OSError as error:
        return TooFewFiles(error.strerror) if error.errno in _NO_FILES else None
    finally:
        for fd in opened:
            os.close(fd)
    return None


def advise_place(path: Path | None, error: Exception) -> str:
    """Return advice on a location that cannot be used."""
    if isinstance(error, TooFewFiles) or getattr(error, "errno", None) in _NO_FILES:
        return _MORE_FILES
    if is_full(error) or getattr(error, "errno", None) in NO_ROOM:
        return _MAKE_ROOM
    if path is not None and not path.parent.is_dir():
        return f"Make the folder {path.parent}; an absolute path has four slashes, sqlite:////var/lib/ledger.db."
    return "Name a file in SIDECALL_STORE that this process may write, or memory://."
