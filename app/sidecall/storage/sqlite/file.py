"""A SQLite file: its lock, its connections, and whether it is still in place."""

import os
import sqlite3
import stat
import sys
from contextlib import suppress
from pathlib import Path

from sidecall.kernel.core.overload import StoreUnfit
from sidecall.storage.sqlite.advice import NO_ROOM, advise_place, find_too_few_files
from sidecall.storage.sqlite.disk_room import has_room, try_room
from sidecall.storage.sqlite.faults import (
    REPAIR,
    DiskFull,
    FileMoved,
    FileOverwritten,
    TooFewFiles,
    describe_fault,
    is_damage,
    is_full,
    is_out_of_reach,
)
from sidecall.storage.sqlite.file_identity import FileIdentity, KnownFile
from sidecall.storage.sqlite.file_lock import FileLock, FileTaken, LockOutOfReach
from sidecall.storage.sqlite.roles import LEDGER, DatabaseRole
from sidecall.storage.sqlite.tables import carry_out, copy_tables, find_missing

_OLDEST = (3, 35, 0)  # RETURNING
# What all but the owner may do with a file.
_OTHERS = 0o077
# Older ones, and some builds, have no images of databases.
_CAN_COPY = hasattr(sqlite3.Connection, "deserialize")
_ELSEWHERE = "Name another file in SIDECALL_STORE, or a PostgreSQL, postgresql://..., which several servers can share."
# Most bytes that stay taken by the file of what is not in the main one yet.
_LEFT_IN_WAL = 64 * 1024 * 1024
# A connection that only reads writes into no memory either: where the file beside it becomes unwritable, that would end
# the whole process. The writer holds it for the server, and has to be another process: within one all do alike, so that
# no other code in this one could write the file.
_READING_ALONE = "ro&readonly_shm=1"
# Pages that are in the log before they go into the main file: those that change often go there once for many changes.
_PAGES_IN_WAL = 4000


class StoreOutOfReach(StoreUnfit):
    """The file of the store cannot be used from here."""


class StoreTaken(StoreOutOfReach):
    """Another process uses the file of the store."""


class StoreWithoutRoom(StoreOutOfReach):
    """The disk of the store has no room for it; it may have later."""


class SqliteFile:
    """A database in a file, or in memory without a path."""

    def __init__(
        self, path: Path | None, patience: float, purpose: DatabaseRole = LEDGER, holder: int | None = None
    ) -> None:
        """Prepare a file.

        Args:
            path: Where it is; None for a database in memory.
            patience: Seconds to wait for locks of other programs.
            purpose: What it is for.
            holder: The process that others are told uses it; this one when None.
        """
        self.purpose = purpose
        # Through any link, the files that belong to it are next to the file itself.
        self.path = None if path is None else Path(os.path.realpath(path))
        self._patience = patience
        self._lock = None if path is None else FileLock(Path(f"{self.path}.lock"), holder or os.getpid())
        # The descriptor that holds the lock is one of a process that starts no others, which would inherit it.
        self._likeness = KnownFile(self.path, is_locked=purpose.is_apart)

    def __str__(self) -> str:
        return "the database in memory" if self.path is None else str(self.path)

    @property
    def in_memory(self) -> bool:
        """Whether only the writing connection can read."""
        return self.path is None

    def open(self) -> sqlite3.Connection:
        """Take the lock, migrate the tables, and return the only writing connection.

        Raises:
            StoreUnfit: It is not ours, newer than this program, used by another process, or cannot be opened.
        """
        if sqlite3.sqlite_version_info < _OLDEST:
            raise StoreUnfit(f"SQLite {sqlite3.sqlite_version} is too old; 3.35 or newer is needed.")
        try:
            return self._open()
        except StoreUnfit:
            if self._lock is not None and self.identity is None:
                self._lock.withdraw()
            raise

    def _open(self) -> sqlite3.Connection:
        try:
            self._prepare()
            connection = self._connect("rwc")
        except FileTaken as error:
            raise StoreTaken(f"{self} is used by another process ({error.message}). {_ELSEWHERE}") from None
        except LockOutOfReach as error:
            raise StoreOutOfReach(error.message) from error
        except OSError as error:
            kind = StoreWithoutRoom if error.errno in NO_ROOM else StoreOutOfReach
            raise kind(f"{self} cannot be opened: {error.strerror}. {advise_place(self.path, error)}") from error
        except sqlite3.Error as error:
            # SQLite reports a disk error if its shared memory file finds no room.
            raise self._refuse(self._find_full() or find_too_few_files() or error, "opened") from error
        try:
            self._migrate(connection)
            self._likeness.take()
            self._hide()
        except sqlite3.Error as error:
            found = find_too_few_files() or error
            connection.close()
            raise self._refuse(found, "used") from error
        except StoreUnfit:
            connection.close()
            raise
        return connection

    def _refuse(self, error: Exception, purpose: str) -> StoreUnfit:
        """Return the error with the reason and advice."""
        kind = StoreWithoutRoom if is_full(error) else StoreOutOfReach if is_out_of_reach(error) else StoreUnfit
        is_elsewhere = purpose == "used" and not is_full(error) and not isinstance(error, TooFewFiles)
        advice = REPAIR if is_damage(error) else _ELSEWHERE if is_elsewhere else advise_place(self.path, error)
        return kind(f"{self} cannot be {purpose}: {describe_fault(error)}. {advice}")

    @property
    def identity(self) -> FileIdentity | None:
        """The identity of the file that was opened."""
        return self._likeness.identity

    def open_reader(self, identity: FileIdentity | None) -> sqlite3.Connection:
        """Return a read-only connection to the opened file; any other file has not been checked.

        Raises:
            FileOverwritten: The file was emptied.
            FileMoved: Another file stands in its place.
        """
        if self.is_emptied:
            raise FileOverwritten
        if not self._likeness.is_of(identity):
            raise FileMoved
        connection = self._connect(_READING_ALONE if self.purpose.is_alone and self.identity is None else "rw")
        connection.execute("PRAGMA query_only = 1")
        return connection

    def close(self) -> None:
        """Release the lock; connections must be closed before."""
        self._likeness.end()
        if self._lock is not None:
            self._lock.give_back()

    def require_same(self) -> None:
        """Check that the opened file is still in place.

        Raises:
            FileMoved: It was deleted or replaced.
            FileOverwritten: Another program has written to it.
        """
        self._likeness.require_same()

    @property
    def has_lost_log(self) -> bool:
        """Whether its log or shared memory was deleted or replaced, so that other readers miss new data."""
        return self._likeness.has_lost_log

    def drop_other_log(self) -> None:
        """Delete a log that has replaced a lost one, once the lost one's content is in the file."""
        self._likeness.drop_other_log()

    @property
    def is_emptied(self) -> bool:
        """Whether another program has emptied it."""
        return self._likeness.is_empty

    def require_room(self) -> None:
        """Test whether the disk has room for more than a few bytes.

        Raises:
            DiskFull: It has none.
        """
        if self.path is not None:
            try_room(self.path)

    def has_room_for(self, size: int) -> bool:
        """Return whether this many bytes can be written, and then the whole log into the file."""
        return self.path is None or has_room(self.path, size)

    def _find_full(self) -> DiskFull | None:
        try:
            self.require_room()
        except DiskFull as error:
            return error
        except OSError:
            pass
        return None

    def _prepare(self) -> None:
        if self.path is None or self._lock is None:
            return
        self.path.parent.mkdir(mode=0o700, exist_ok=True)
        self._lock.give_back()
        self._lock.take()
        self._likeness.drop_left_over()
        self._likeness.begin()

    def _hide(self) -> None:
        """Restrict access to the owner: a restored copy may have any permissions."""
        if self.path is None or sys.platform == "win32":
            return
        for beside in ("", "-wal", "-shm"):
            with suppress(OSError):  # It may be another user's, who lets this one write it.
                path = f"{self.path}{beside}"
                mode = stat.S_IMODE(os.stat(path).st_mode)
                if mode & _OTHERS:
                    os.chmod(path, mode & ~_OTHERS)

    def _connect(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            ":memory:" if self.path is None else f"{self.path.as_uri()}?mode={mode}",
            timeout=self._patience,
            isolation_level=None,  # Transactions begin where the program says so.
            check_same_thread=False,
            cached_statements=512,
            uri=True,
        )
        try:
            connection.execute("PRAGMA application_id")  # Opens the file, which must be a database.
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _migrate(self, connection: sqlite3.Connection) -> None:
        if self.path is None and _CAN_COPY:
            copy_tables(self.purpose.series, connection)
        missing = find_missing(connection, self.purpose, str(self))
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA journal_size_limit = {_LEFT_IN_WAL}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_PAGES_IN_WAL}")
        carry_out(missing, connection)
        # Creates the log and the shared memory file, which readers do not.
        connection.execute("PRAGMA schema_version").fetchone()
