"""Check the tables of a SQLite file against its role, and find its missing migrations."""

import socket
import sqlite3
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache

from sidecall.kernel.core.overload import StoreUnfit
from sidecall.storage.feature_tables import (
    FIND_VERSIONS,
    MAKE_VERSIONS,
    VERSIONS,
    FeatureTables,
    find_tables,
    find_taken,
    list_missing_of_features,
    list_steps,
)
from sidecall.storage.migrate import Migration, list_missing, read_migrations
from sidecall.storage.sqlite.errors import REPAIR


@dataclass(frozen=True, slots=True)
class DatabaseRole:
    """The role of a file: its migrations, and its text in the log when it cannot be written.

    `sign` is a table that no other kind of file has, from its first version on. `is_apart` says that a separate process
    writes it, so that its delays do not affect the server. `is_alone` says that no other code in this process opens the
    file, as in a server; `is_seldom` that its writes are seldom awaited, so that a full disk must be looked for.
    `writer` connects to the process that writes it for several workers, if there is one; `ending` is appended to the
    name of the ledger's file. `others` are features of other packages that have tables in it.
    """

    series: str
    sign: str
    name: str
    loss: str
    is_apart: bool
    is_alone: bool = False
    is_seldom: bool = True
    writer: socket.socket | None = None
    ending: str = ""
    others: tuple[FeatureTables, ...] = ()

    @property
    def feature_steps(self) -> Mapping[str, tuple[Migration, ...]]:
        """The migrations of features that have tables in it."""
        return list_steps("sqlite", self.others) if self.sign == _SIGN_OF_LEDGER else {}


_SIGN_OF_LEDGER = "approvals"

LEDGER = DatabaseRole(
    "sqlite", _SIGN_OF_LEDGER, "the ledger", "calls that have to be remembered get 503", is_apart=True, is_seldom=False
)

HISTORY = DatabaseRole(
    "sqlite_history",
    "history_blocks",
    "the history",
    "calls that end are kept in memory as far as there is room",
    is_apart=True,
    ending=".history",
)

FILES = DatabaseRole(
    "sqlite_files",
    "vector_stores",
    "the files",
    "files can be neither sent nor searched",
    is_apart=False,
    ending=".files",
)

PURPOSES = (LEDGER, HISTORY, FILES)


# Set by the first migration of each series.
OURS = 1397310533

_VERSIONS = "schema_version"

_LEDGER_ALONE = (
    "SIDECALL_STORE names the file of the ledger; the server itself finds the history and the files beside it, for "
    "ledger.db in ledger.history.db and ledger.files.db."
)


def find_missing(connection: sqlite3.Connection, purpose: DatabaseRole, place: str) -> tuple[Migration, ...]:
    """Return the migrations that a file lacks, without changing it.

    Raises:
        StoreUnfit: It is not ours, is newer than this program, has another purpose, or lacks some of its tables.
    """
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if mark != OURS:
        if mark or found:
            raise StoreUnfit(f"{place} is the database of another program, with tables that Sidecall did not make.")
        return (*list_missing(purpose.series, {}, place), *_list_all(purpose))
    _require_purpose(found, purpose, place)
    _require_all({_VERSIONS}, found, place)
    taken = {int(number): name for number, name in connection.execute("SELECT version, name FROM schema_version")}
    missing = list_missing(purpose.series, taken, place)
    _require_all(_list_tables(purpose.series, max(taken, default=0)), found, place)
    return (*missing, *_find_missing_of_features(connection, purpose, found, place))


def _list_all(purpose: DatabaseRole) -> tuple[Migration, ...]:
    return tuple(step for steps in purpose.feature_steps.values() for step in steps)


def _find_missing_of_features(
    connection: sqlite3.Connection, purpose: DatabaseRole, found: Collection[str], place: str
) -> tuple[Migration, ...]:
    steps = purpose.feature_steps
    taken = connection.execute(FIND_VERSIONS).fetchall() if VERSIONS in found else []
    missing = list_missing_of_features(steps, taken, place)
    _require_all(find_tables(find_taken(steps, taken)), found, place)
    return missing


def _require_purpose(found: Collection[str], purpose: DatabaseRole, place: str) -> None:
    others = [one.name for one in PURPOSES if one.sign in found and one is not purpose]
    if others and purpose.sign not in found:
        raise StoreUnfit(f"{place} is a file of {others[0]}, not of {purpose.name}. {_LEDGER_ALONE}")


def _require_all(wanted: Collection[str], found: Collection[str], place: str) -> None:
    lacking = ", ".join(sorted(name for name in wanted if name not in found))
    if lacking:
        raise StoreUnfit(f"{place} lacks tables that another program must have removed: {lacking}. {REPAIR}")


def carry_out(steps: Iterable[Migration], connection: sqlite3.Connection) -> None:
    """Run migrations, all or none: if the last one fails, the file still belongs to the older program."""
    scripts = [f"{step.script}\n{_note(step)}" for step in steps]
    if not scripts:
        return
    try:
        connection.executescript("".join(["BEGIN IMMEDIATE;\n", *scripts, "COMMIT;"]))
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _note(step: Migration) -> str:
    values = f"{step.number}, '{step.name}', {time.time()});\n"
    if not step.feature:
        return f"INSERT INTO {_VERSIONS} (version, name, applied_at) VALUES ({values}"  # noqa: S608  no outsider's words
    return f"{MAKE_VERSIONS}INSERT INTO {VERSIONS} VALUES ('{step.feature}', {values}"  # noqa: S608


@cache
def _list_tables(series: str, version: int) -> frozenset[str]:
    """Return the tables of a file of this version."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        carry_out([step for step in read_migrations(series) if step.number <= version], connection)
        return frozenset(name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))


@cache
def _make_tables(purpose: DatabaseRole) -> bytes:
    """Return an empty database with all tables for a purpose."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        carry_out([*read_migrations(purpose.series), *_list_all(purpose)], connection)
        return connection.serialize()


def copy_tables(purpose: DatabaseRole, connection: sqlite3.Connection) -> None:
    """Migrate an empty in-memory database; the result is cached, for programs that make many."""
    with closing(sqlite3.connect(":memory:")) as made:
        made.deserialize(_make_tables(replace(purpose, writer=None)))
        made.backup(connection)
