"""Faults of a file, as opposed to faults of a statement."""

import sqlite3

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
_PASSING = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_INTERRUPT})
_OUT_OF_REACH = frozenset(
    {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL}
)
# Faults of a reader that may not repair the shared memory: a change was under way, or the writer has ended.
_UNSETTLED = frozenset({sqlite3.SQLITE_READONLY_RECOVERY, sqlite3.SQLITE_READONLY_CANTINIT})
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class FileMoved(sqlite3.OperationalError):
    """The file was deleted, or another one stands in its place."""


class LogMoved(FileMoved):
    """The file is the same, but its log, or the memory that connections share, was deleted or replaced."""


class FileOverwritten(sqlite3.DatabaseError):
    """The file is the same, but another program has emptied it, cut it off, or written over its beginning."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


class FileDamaged(sqlite3.DatabaseError):
    """Parts of the file are not what was written there."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


class TooFewFiles(sqlite3.OperationalError):
    """The process may open no more files."""

    sqlite_errorcode = sqlite3.SQLITE_CANTOPEN


class LogBusy(sqlite3.OperationalError):
    """What stands in the log cannot go into the file before others have read it."""

    sqlite_errorcode = sqlite3.SQLITE_BUSY


class DiskFull(sqlite3.OperationalError):
    """There is too little space to begin again."""

    sqlite_errorcode = sqlite3.SQLITE_FULL


def is_fault(error: Exception) -> bool:
    """Return whether the file is unusable, as opposed to a faulty statement."""
    return isinstance(error, FileMoved) or _code(error) in _FAULTS


def is_passing(error: Exception) -> bool:
    """Return whether the connection may work again."""
    return _code(error) in _PASSING


def is_unsettled(error: Exception) -> bool:
    """Return whether a reader has to wait a moment for the writer."""
    return getattr(error, "sqlite_errorcode", None) in _UNSETTLED


def is_full(error: Exception) -> bool:
    """Return whether the disk is too full."""
    return _code(error) == sqlite3.SQLITE_FULL


def is_out_of_reach(error: Exception) -> bool:
    """Return whether nothing can be written at that location."""
    return _code(error) in _OUT_OF_REACH


def is_damage(error: Exception) -> bool:
    """Return whether the file's content cannot be read, which does not pass."""
    return _code(error) in _DAMAGE


def describe_fault(error: Exception) -> str:
    """Return a description of the fault for an operator."""
    if isinstance(error, LogMoved):
        return "the -wal or -shm beside it was deleted or replaced"
    if isinstance(error, FileMoved):
        return "it was deleted or replaced"
    if isinstance(error, FileOverwritten):
        return "another program has emptied it, cut it off or written over it"
    return f"{_FAULTS.get(_code(error), 'it cannot be used')} ({error})"


def advise_fault(error: Exception) -> str:
    """Return a description of the fault, with advice if it does not pass."""
    return f"{describe_fault(error)}.{f' {REPAIR}' if is_damage(error) else ''}"


def _code(error: Exception) -> int:
    # Errors of Python's own module have no code. The lowest byte is the kind, the others say more.
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
