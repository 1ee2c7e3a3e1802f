"""Choose the ledger by a setting."""

import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec import Struct

from sidecall.features.approvals.memory_store import MemoryApprovals
from sidecall.features.approvals.packing import MakeAnswer
from sidecall.features.approvals.rule_stores import MemoryRules
from sidecall.features.audit.stores import MemoryAudit
from sidecall.features.contents.memory_store import MemoryContents
from sidecall.features.credentials.stores import MemorySecrets
from sidecall.features.jobs.sql_queue import SqlCallQueue
from sidecall.features.jobs.sql_store import SqlCalls
from sidecall.features.ledger.ledger import Ledger, LedgerBounds
from sidecall.features.ledger.sql_ledger import DatabaseLedger
from sidecall.features.store.memory_store import MemoryItems
from sidecall.kernel.core.overload import StoreUnfit
from sidecall.storage.database import Database
from sidecall.storage.feature_tables import FeatureTables
from sidecall.storage.memory_database import LateDatabase
from sidecall.storage.postgres.outage import FILES, HISTORY, LEDGER
from sidecall.storage.sqlite import tables as _purposes
from sidecall.storage.sqlite.database import SqliteDatabase

IN_MEMORY = "memory://"
_SQLITE = "sqlite:///"
_SQLITE_MEMORY = ":memory:"
# Loaded when it is wanted, since its driver is an extra.
_POSTGRES = "sidecall.storage.postgres.database"
_NOTIFICATIONS = "sidecall.storage.postgres.notifications"
_DRIVER = "asyncpg"
_SIGN = "://"
_FORMS = (
    "sqlite:///ledger.db for a file where the server is started, sqlite:////var/lib/sidecall/ledger.db for one by its "
    f"absolute path, postgresql://user:password@host:5432/database, or {IN_MEMORY}"
)
# The sockets by which workers ask the processes that write files for all of them, each by the series of its file.
Writers = Mapping[str, socket.socket]
NO_WRITERS: Writers = {}
# Seconds that a search, or a large file, may take.
_LONG = 10.0
# Most bytes of durable calls in memory; a database may take more.
_CALLS_IN_MEMORY = 32 * 1024 * 1024


class _Wanted(Struct, frozen=True):
    url: str
    bounds: LedgerBounds
    make_answer: MakeAnswer
    is_server: bool
    writers: Writers
    others: tuple[FeatureTables, ...]


def open_ledger(
    url: str,
    bounds: LedgerBounds,
    make_answer: MakeAnswer,
    *,
    is_server: bool = False,
    writers: Writers = NO_WRITERS,
    others: tuple[FeatureTables, ...] = (),
) -> Ledger:
    """Create the ledger of a URL; it is opened when the server starts.

    Args:
        url: `memory://`, `sqlite:///path` or `postgresql://user:password@host:5432/database`.
        bounds: How much it keeps, and for how long.
        make_answer: Makes the message of a failed call.
        is_server: Whether the process is a server, where no other code opens the file.
        writers: The addresses of the processes that write the files for all workers of a server.
        others: Features of other packages that have tables in it.

    Raises:
        StoreUnfit: There is no such kind of ledger.
    """
    return _MAKERS[_require_kind(url)](_Wanted(url, bounds, make_answer, is_server, writers, others))


def open_history(url: str, *, is_server: bool = False, writers: Writers = NO_WRITERS) -> Database | None:
    """Create the database of the history for a ledger's URL; None for one in memory.

    A SQLite file has one writer, and commits of the history must not delay the ledger's: the history has its own file,
    and in PostgreSQL its own connections. `is_server` and `writers` are as in `open_ledger`.

    Raises:
        StoreUnfit: The URL names no ledger.
    """
    path = sqlite_path(url)
    if path is not None:
        purpose = _purposes.HISTORY
        return SqliteDatabase(_find_file(path, purpose), purpose=_fit(purpose, writers, is_server=is_server))
    if url == IN_MEMORY:
        return None
    _require_kind(url)
    database: Database = _load_postgres(_POSTGRES).PostgresDatabase(url, readers=1, writers=1, concern=HISTORY)
    return database


def open_file_store(url: str, writers: Writers = NO_WRITERS) -> Database:
    """Create the database of files and their index for a ledger's URL.

    Commits of large files must not delay the ledger's: they have their own file, and in PostgreSQL their own
    connections. `writers` are as in `open_ledger`.

    Raises:
        StoreUnfit: The URL names no ledger.
    """
    path = sqlite_path(url)
    if path is not None:
        purpose = _fit(_purposes.FILES, writers, is_server=False)
        return SqliteDatabase(_find_file(path, purpose), purpose=purpose)
    if url == IN_MEMORY:
        return SqliteDatabase(purpose=_purposes.FILES)
    _require_kind(url)
    concern = FILES
    database: Database = _load_postgres(_POSTGRES).PostgresDatabase(
        url, None, _LONG, readers=3, writers=1, concern=concern
    )
    return database


def list_files(url: str, *, history: bool, files: bool) -> list[tuple[Path, _purposes.DatabaseRole]]:
    """List the files of a SQLite URL: the ledger, and the history and file store if wanted."""
    path = sqlite_path(url)
    wanted = (_purposes.LEDGER, True), (_purposes.HISTORY, history), (_purposes.FILES, files)
    return [] if path is None else [(_find_file(path, purpose), purpose) for purpose, is_wanted in wanted if is_wanted]


def _find_file(path: Path, purpose: _purposes.DatabaseRole) -> Path:
    """Return the path of the file for a role, next to the ledger's."""
    return path.with_name(f"{path.stem}{purpose.ending}{path.suffix}")


def _fit(purpose: _purposes.DatabaseRole, writers: Writers, *, is_server: bool) -> _purposes.DatabaseRole:
    """Return the role of a file as this process opens it."""
    writer = writers.get(purpose.series)
    return replace(purpose, is_alone=is_server or writer is not None, writer=writer)


def sqlite_path(url: str) -> Path | None:
    """Return the path in a SQLite URL; None for any other URL.

    Raises:
        StoreUnfit: It names none.
    """
    if not url.startswith("sqlite:"):
        return None
    path = url.removeprefix(_SQLITE)
    if path == url or not path or path.endswith("/") or "?" in path:
        raise StoreUnfit(
            f"SIDECALL_STORE is {url}, which names no file; write sqlite:///ledger.db for one where the server is "
            f"started, sqlite:////var/lib/sidecall/ledger.db for an absolute path."
        )
    if path == _SQLITE_MEMORY:
        raise StoreUnfit(f"SIDECALL_STORE is {url}; what is kept in memory is {IN_MEMORY}.")
    home = path.removeprefix("/")
    if home.startswith("~/"):
        raise StoreUnfit(
            f"SIDECALL_STORE is {url}, and nothing puts the home folder in the place of ~; write its path, such as "
            f"{_SQLITE}{os.path.expanduser(home)}."
        )
    return Path(path)


def _make_in_memory(wanted: _Wanted) -> Ledger:
    if wanted.url != IN_MEMORY:
        raise StoreUnfit(f"SIDECALL_STORE is {wanted.url}; what is kept in memory has no name, write {IN_MEMORY}.")
    bounds, database = wanted.bounds, LateDatabase(wanted.others)
    calls = replace(bounds.calls, most_bytes=min(bounds.calls.most_bytes, _CALLS_IN_MEMORY))
    return Ledger(
        approvals=MemoryApprovals(bounds.approval_ttl, bounds.max_approvals, most_bytes=bounds.max_waiting_bytes),
        contents=MemoryContents(
            bounds.artifact_ttl, bounds.max_artifact_bytes, quota=bounds.max_artifact_bytes_per_caller
        ),
        items=MemoryItems(bounds.max_store_bytes, bounds.max_item_bytes),
        calls=SqlCalls(database, calls),
        queue=SqlCallQueue(database),
        database=database,
        audit=MemoryAudit(bounds.audit_ttl, bounds.max_audit_entries),
        secrets=MemorySecrets(bounds.max_secrets),
        rules=MemoryRules(bounds.max_rules, most_of_tenant=bounds.max_rules_per_tenant),
        is_lasting=False,
    )


def _make_sqlite(wanted: _Wanted) -> Ledger:
    purpose = _fit(_purposes.LEDGER, wanted.writers, is_server=wanted.is_server)
    database = SqliteDatabase(sqlite_path(wanted.url), purpose=replace(purpose, others=wanted.others))
    made = DatabaseLedger(database, wanted.bounds, wanted.make_answer)
    made.notifications = database.notifications
    return made


def _make_postgres(wanted: _Wanted) -> Ledger:
    database = _load_postgres(_POSTGRES).PostgresDatabase(wanted.url, concern=replace(LEDGER, others=wanted.others))
    made = DatabaseLedger(database, wanted.bounds, wanted.make_answer)
    made.notifications = _load_postgres(_NOTIFICATIONS).PostgresNotifications(wanted.url, made.owner)
    return made


def _load_postgres(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != _DRIVER:
            raise
        raise StoreUnfit(
            "SIDECALL_STORE names a PostgreSQL database, which needs an extra: pip install 'sidecall[postgres]'"
        ) from None


# Each kind of ledger by the scheme of its URL.
_MAKERS: Mapping[str, Callable[[_Wanted], Ledger]] = {
    "memory": _make_in_memory,
    "sqlite": _make_sqlite,
    "postgresql": _make_postgres,
    "postgres": _make_postgres,  # Another spelling, which is in use and not taught.
}


def _require_kind(url: str) -> str:
    """Return which kind of store a URL names.

    Raises:
        StoreUnfit: It names none.
    """
    kind, sign, _ = url.partition(_SIGN)
    if not sign or kind not in _MAKERS:
        # It is not said back: there may be a password in it.
        raise StoreUnfit(f"SIDECALL_STORE names no kind of store; write {_FORMS}.")
    return kind
