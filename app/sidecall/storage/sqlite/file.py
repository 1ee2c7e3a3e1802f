"""A SQLite file: its lock, its connections, and whether it still stands where it stood."""

import os
import sqlite3
import stat
import sys
from contextlib import suppress
from pathlib import Path

from sidecall.kernel.core.overload import StoreUnfit
from sidecall.storage.sqlite.errors import (
    NO_ROOM,
    REPAIR,
    DiskFull,
    FileChanged,
    LengthLimited,
    TooFewFiles,
    advise_fault,
    advise_place,
    describe_fault,
    find_too_few_files,
    is_damage,
    is_full,
    is_out_of_reach,
)
from sidecall.storage.sqlite.file_lock import FileLeft, FileLock, FileTaken, LockOutOfReach
from sidecall.storage.sqlite.opened_file import FileId, FileIdentity, OpenedFile
from sidecall.storage.sqlite.tables import LEDGER, DatabaseRole, carry_out, copy_tables, find_missing

if sys.platform != "win32":
    import resource

_OLDEST = (3, 35, 0)  # RETURNING
# What all but the owner may do with a file.
_OTHERS = 0o077
# Bytes that have to be free on a disk that was full. A few are always found, in pages that were taken before.
_ROOM = 1024 * 1024
# Older ones, and some builds, have no images of databases.
_CAN_COPY = hasattr(sqlite3.Connection, "deserialize")
_ELSEWHERE = "Name another file in SIDECALL_STORE, or a PostgreSQL, postgresql://..., which several servers can share."
# Most bytes that stay taken by the file of what is not in the main one yet.
_LEFT_IN_WAL = 64 * 1024 * 1024
# A connection that only reads writes into no memory either: where the file beside it becomes unwritable, that would end
# the whole process. The writer does so for it, and has to be another process: within one process the effect is
# shared, so that no other code in it could write the file.
_READING_ALONE = "ro&readonly_shm=1"
# Pages that are in the log before they go into the main file: those that change often go there once for many changes.
_PAGES_IN_WAL = 4000


class StoreOutOfReach(StoreUnfit):
    """The file of the store cannot be used from here."""


class StoreTaken(StoreOutOfReach):
    """Another process uses the file of the store."""


class StoreLeft(StoreUnfit):
    """What a server has left behind that was killed uses the file of the store."""


class StoreWithoutRoom(StoreOutOfReach):
    """The disk of the store has no room for it; it may have later."""


class StoreChanged(StoreOutOfReach):
    """The file of the store is not the one that this server has opened."""


class SqliteFile:
    """A database of ours in a file, or in memory where there is no path."""

    def __init__(
        self,
        path: Path | None,
        patience: float,
        purpose: DatabaseRole = LEDGER,
        holder: int | None = None,
        known: FileId | None = None,
    ) -> None:
        """Name a file.

        Args:
            path: Where it is; None for a database in memory.
            patience: Seconds to wait for locks of other programs.
            purpose: What it is for.
            holder: The process that others are told uses it; this one when None.
            known: Which file it has to be, where the server has opened it before.
        """
        self.purpose = purpose
        # Its companions lie next to the file itself, not next to a link to it.
        self.path = None if path is None else Path(os.path.realpath(path))
        self._is_linked = path is not None and path.is_symlink()
        self._patience = patience
        self._lock = None if path is None else FileLock(Path(f"{self.path}.lock"), holder or os.getpid())
        # The descriptor that holds the lock is one of a process that starts no others, which would inherit it.
        self._opened = OpenedFile(self.path, is_locked=purpose.is_apart, known=known)

    def __str__(self) -> str:
        return "the database in memory" if self.path is None else str(self.path)

    @property
    def in_memory(self) -> bool:
        """Whether only the connection that writes can read."""
        return self.path is None

    def open(self) -> sqlite3.Connection:
        """Take the lock, and return the one connection that writes, to tables that are up to date.

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
            raise _refuse_taken(self, error) from None
        except LockOutOfReach as error:
            raise StoreOutOfReach(error.message) from error
        except OSError as error:
            reason = StoreWithoutRoom if error.errno in NO_ROOM else StoreOutOfReach
            raise reason(f"{self} cannot be opened: {error.strerror}. {advise_place(self.path, error)}") from error
        except FileChanged as error:
            kind = StoreChanged if self._opened.is_known else StoreUnfit
            raise kind(f"{self} cannot be opened: {advise_fault(error)}") from error
        except sqlite3.Error as error:
            # SQLite calls it an error of the disk where its memory beside the file finds no room.
            raise self._refuse(self._find_full() or find_too_few_files() or error, "opened") from error
        try:
            self._migrate(connection)
            self._opened.take()
            self._hide()
        except (sqlite3.Error, OSError) as error:
            found = find_too_few_files() or error
            connection.close()
            raise self._refuse(found, "used") from error
        except StoreUnfit:
            connection.close()
            raise
        return connection

    def _refuse(self, error: Exception, purpose: str) -> StoreUnfit:
        """Return what says that it cannot be opened, or used, and what to do."""
        kind = StoreWithoutRoom if is_full(error) else StoreOutOfReach if is_out_of_reach(error) else StoreUnfit
        is_elsewhere = purpose == "used" and not is_full(error) and not isinstance(error, TooFewFiles)
        advice = REPAIR if is_damage(error) else _ELSEWHERE if is_elsewhere else advise_place(self.path, error)
        return kind(f"{self} cannot be {purpose}: {describe_fault(error)}. {advice}")

    @property
    def identity(self) -> FileIdentity | None:
        """Which file was opened to be written."""
        return self._opened.identity

    def open_reader(self, identity: FileIdentity | None) -> sqlite3.Connection:
        """Return a connection that only reads the file that is written.

        Raises:
            FileChanged: Another file stands in its place, or beside it, or it was emptied.
        """
        if (change := self._opened.find_change(identity)) is not None:
            raise change
        connection = self._connect(_READING_ALONE if self.purpose.is_alone and self.identity is None else "rw")
        connection.execute("PRAGMA query_only = 1")
        return connection

    def close(self) -> None:
        """Let another process use it; its connections are closed before."""
        self._opened.close()
        if self._lock is not None:
            self._lock.give_back()

    def require_same(self) -> None:
        """Look whether it is still the file that was opened, and what stands beside it.

        Raises:
            FileChanged: It is not.
            LogChanged: What stands beside it is not.
        """
        self._opened.require_same()

    def save_log(self, connection: sqlite3.Connection) -> None:
        """Bring what stands in a log that was deleted or replaced into the file: that connection alone has it yet.

        Raises:
            sqlite3.Error: It could not be, for instance since others read it.
        """
        self._opened.require_file()
        [(is_busy, *_)] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if is_busy:
            raise sqlite3.OperationalError("others read it")
        self._opened.set_other_log_aside()

    def find_change(self, identity: FileIdentity | None) -> FileChanged | None:
        """Return what has become of the file that a process writes, as far as its name shows it."""
        return self._opened.find_change(identity)

    def require_room(self) -> None:
        """Try whether the disk has room for more than a few bytes.

        Raises:
            DiskFull: It has none.
        """
        if self.path is not None:
            _try_room(self.path)

    def find_lack(self, size: int) -> DiskFull | None:
        """Return why so many bytes cannot be written, and all of the log into the file after that."""
        return None if self.path is None else find_lack(self.path, size)

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
        if not self._opened.is_known:
            if self._is_linked and not self.path.parent.exists():
                # A new file there would be hidden by the disk once it is mounted, and what is on it done again.
                raise StoreUnfit(
                    f"{self} is where a link leads, and its folder does not exist. Mount the disk that has it, make "
                    "the folder, or remove the link."
                )
            self.path.parent.mkdir(mode=0o700, exist_ok=True)
        self._lock.take()
        self._opened.open()

    def _hide(self) -> None:
        """Make the files readable by their owner only; a restored copy may have the permissions of any file."""
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
            copy_tables(self.purpose, connection)
        missing = find_missing(connection, self.purpose, str(self))
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA journal_size_limit = {_LEFT_IN_WAL}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_PAGES_IN_WAL}")
        carry_out(missing, connection)
        if missing:  # Then the file itself, and not only its log, says whose it is.
            connection.execute("PRAGMA wal_checkpoint").fetchall()
        # Makes the log where nothing was written, and the memory beside the file, which no reader does.
        connection.execute("PRAGMA schema_version").fetchone()


def _try_room(path: Path) -> None:
    """Try whether there is some, by writing beside the file, which minds quotas.

    Raises:
        DiskFull: There is none.
    """
    trial = Path(f"{path}.room")
    try:
        trial.write_bytes(bytes(_ROOM))
    except OSError as error:
        if error.errno in NO_ROOM:
            raise DiskFull from None
    finally:
        with suppress(OSError):
            trial.unlink(missing_ok=True)


def find_lack(path: Path, size: int) -> DiskFull | None:
    """Return why so many bytes more in the log of a file, and all of that in the file itself, find no room."""
    if sys.platform == "win32":
        return None
    try:
        found = os.statvfs(path)
        log = os.stat(f"{path}-wal").st_size
        length = os.stat(path).st_size
    except OSError:  # The writer finds out what is wrong.
        return None
    if found.f_blocks and found.f_bavail * found.f_frsize < log + 2 * size + _ROOM:
        return DiskFull()
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    is_limited = limit != resource.RLIM_INFINITY and length + log + size + _ROOM > limit
    return LengthLimited(limit) if is_limited else None


def _refuse_taken(file: SqliteFile, error: FileTaken) -> StoreUnfit:
    if isinstance(error, FileLeft):
        left = f"what a process ({error.message}) has left behind that was killed"
        return StoreLeft(f"{file} is still used by {left}: start again when that has ended, or end it.")
    return StoreTaken(f"{file} is used by another process ({error.message}). {_ELSEWHERE}")
