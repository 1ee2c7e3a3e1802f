"""What can be wrong with a file, apart from what is wrong with a statement, and what an operator may do."""

import errno
import os
import sqlite3
from pathlib import Path

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
_NO_FILES = frozenset({errno.EMFILE, errno.ENFILE})
_MORE_FILES = "Raise the limit of open files (ulimit -n, LimitNOFILE, --ulimit nofile)."
_FILE_LIMIT = "ulimit -f, LimitFSIZE, --ulimit fsize"
_MAKE_ROOM = "Make room on its disk, or name a file on another one in SIDECALL_STORE."

# They come from the place or from others who use it, and may go away; the rest is a mistake in a statement.
_FAULTS = {
    sqlite3.SQLITE_BUSY: "another program has locked it",
    sqlite3.SQLITE_LOCKED: "another program has locked it",
    sqlite3.SQLITE_PROTOCOL: "another program has locked it",
    sqlite3.SQLITE_FULL: "there is no space left for it",
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_PERM: "it may not be opened",
    sqlite3.SQLITE_AUTH: "it may not be opened",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_IOERR: "it cannot be read or written",
    sqlite3.SQLITE_NOMEM: "there is no memory left",
    sqlite3.SQLITE_INTERRUPT: "it was interrupted",
    sqlite3.SQLITE_CORRUPT: "it is damaged",
    sqlite3.SQLITE_NOTADB: "it is not a SQLite database",
    sqlite3.SQLITE_NOLFS: "it is too large for its place",
}
REPAIR = "Put a backup in its place and remove the -wal and -shm beside it, or move all three away."
DELETED = "it was deleted or replaced"
OVERWRITTEN = "another program has emptied it, cut it off or written over it"
_PASSING = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_INTERRUPT})
_OUT_OF_REACH = frozenset(
    {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL}
)
# What a reader finds that may not mend the memory beside a file: a change went on, or the writer has ended.
_UNSETTLED = frozenset({sqlite3.SQLITE_READONLY_RECOVERY, sqlite3.SQLITE_READONLY_CANTINIT})
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class FileChanged(sqlite3.DatabaseError):
    """Another program has changed the file since it was opened; its text says how. It does not become usable again."""


class LogChanged(FileChanged):
    """The file is the same, but its log, or the memory that connections share, was deleted or replaced."""

    def __init__(self) -> None:
        super().__init__("the -wal or -shm beside it was deleted or replaced")


class FileDamaged(sqlite3.DatabaseError):
    """Parts of the file are not what was written there."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


class TooFewFiles(sqlite3.OperationalError):
    """The process may open no more files."""

    sqlite_errorcode = sqlite3.SQLITE_CANTOPEN


class DiskFull(sqlite3.OperationalError):
    """There is too little space to begin again."""

    sqlite_errorcode = sqlite3.SQLITE_FULL

    def __init__(self) -> None:
        super().__init__("database or disk is full")


class LengthLimited(DiskFull):
    """The file would become longer than this process may make one."""

    def __init__(self, limit: int) -> None:
        super(DiskFull, self).__init__(f"no file may be longer than {limit} bytes here; raise that: {_FILE_LIMIT}")


def is_fault(error: Exception) -> bool:
    """Return whether the file cannot be used, rather than a statement be carried out."""
    return isinstance(error, FileChanged) or _code(error) in _FAULTS


def is_passing(error: Exception) -> bool:
    """Return whether the same connection may serve again."""
    return _code(error) in _PASSING


def is_unsettled(error: Exception) -> bool:
    """Return whether a reader has to wait a moment for the writer."""
    return getattr(error, "sqlite_errorcode", None) in _UNSETTLED


def is_full(error: Exception) -> bool:
    """Return whether it takes more space on the disk."""
    return _code(error) == sqlite3.SQLITE_FULL


def is_out_of_reach(error: Exception) -> bool:
    """Return whether the place is read-only."""
    return _code(error) in _OUT_OF_REACH


def is_damage(error: Exception) -> bool:
    """Return whether what stands in the file cannot be read, which does not pass by itself."""
    return _code(error) in _DAMAGE


def describe_fault(error: Exception) -> str:
    """Return what is wrong, in words for an operator."""
    if isinstance(error, FileChanged):
        return str(error)
    return f"{_FAULTS.get(_code(error), 'it cannot be used')} ({error})"


def advise_fault(error: Exception) -> str:
    """Return what is wrong, and what to do where that does not pass by itself."""
    needs_repair = is_damage(error) or str(error) == OVERWRITTEN
    return f"{describe_fault(error)}.{f' {REPAIR}' if needs_repair else ''}"


def _code(error: Exception) -> int:
    # Errors of Python's own module have no code. The lowest byte is the kind, the others say more.
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def find_too_few_files() -> TooFewFiles | None:
    """Try whether files can be opened, as many as a database takes, since SQLite tells no reason."""
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
    """Return what an operator may do about a place that cannot be used."""
    if isinstance(error, TooFewFiles) or getattr(error, "errno", None) in _NO_FILES:
        return _MORE_FILES
    if isinstance(error, LengthLimited):
        return f"Raise the limit of the length of files ({_FILE_LIMIT})."
    if is_full(error) or getattr(error, "errno", None) in NO_ROOM:
        return _MAKE_ROOM
    if path is not None and not path.parent.is_dir():
        return f"Make the folder {path.parent}; an absolute path has four slashes, sqlite:////var/lib/ledger.db."
    return "Name a file in SIDECALL_STORE that this process may write, or memory://."
