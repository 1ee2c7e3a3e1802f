"""The tables in a PostgreSQL database: migrations, by one server at a time, and tests."""

import time
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs, unquote, urlsplit

import asyncpg

from sidecall.kernel.core.overload import StoreUnfit
from sidecall.storage.feature_tables import FIND_VERSIONS, MAKE_VERSIONS, VERSIONS, list_missing_of_features
from sidecall.storage.migrate import Migration, list_missing

_SCHEMES = ("postgresql", "postgres")

_NOT_AN_ADDRESS = (
    "SIDECALL_STORE is no address of a PostgreSQL database: write postgresql://user:password@host:5432/database, and "
    "of the characters @ : / ? # % in a password their percent-encoded form."
)
# The database is there, and cannot be used just now: by the first two characters of SQLSTATE, or all five.
_UNAVAILABLE = (
    *("08", "53", "57", "58", "25006", "40001", "40P01", "55P03", "XX"),
    # What its administrator did to the user, the database, the schema, rights and tables.
    *("28", "3D", "3F", "42501", "42P01"),
    # What was prepared is in another session, or another's in this one.
    *("26000", "42P05"),
)
# Only one of several statements may have to do with it.
_OF_ONE = ("55P03", "40001", "40P01", "57014")

POOLED = "a pooler gives each transaction another connection: use its session mode, or name the database itself"
# What the server's own words do not say.
_WORDS = {
    "26000": f"{{}}: {POOLED}",
    "42P05": f"{{}}: {POOLED}",
    "25006": "it cannot be written: it is a standby, or was made read-only",
    "42501": "{}; its user lacks a right",
    "55P03": "{}: something else in the database has locked it",
}


class DatabaseUnfit(OSError):
    """It is there, and is not as it has to be; the message says what to do."""


def name_address(url: str) -> str:
    """Return host, port and database of a URL.

    Raises:
        StoreUnfit: It is none; the message does not repeat it.
    """
    try:
        parts = urlsplit(url)
        database, port = unquote(parts.path.removeprefix("/")), parts.port
    except ValueError:
        raise StoreUnfit(_NOT_AN_ADDRESS) from None
    # A password with a / or # in it would end up in the wrong part.
    if parts.scheme not in _SCHEMES or parts.fragment or "@" in parts.path or "@" in parts.query:
        raise StoreUnfit(_NOT_AN_ADDRESS)
    host = (parse_qs(parts.query).get("host") or [parts.hostname or "localhost"])[0]
    return f"{host}{'' if port is None else f':{port}'}/{database}"


def format_fault(error: BaseException) -> str:
    """Return briefly why the database is unavailable."""
    if isinstance(error, TimeoutError):
        return "it does not answer in time"
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return _WORDS.get(getattr(error, "sqlstate", None) or "", "{}").format(text.splitlines()[0])


def is_unavailable(error: BaseException) -> bool:
    """Return whether an error says that the database is unavailable, not that the statement is wrong."""
    if isinstance(error, asyncpg.PostgresError):
        return (error.sqlstate or "").startswith(_UNAVAILABLE)
    # What the driver refuses before it is sent is a ValueError too; the last is one that breaks as it is made.
    lost = isinstance(error, asyncpg.InterfaceError) and not isinstance(error, ValueError)
    return lost or isinstance(error, (OSError, TimeoutError, asyncpg.InternalClientError))


def is_said(error: BaseException) -> bool:
    """Return whether the database itself reports that it can run no statement."""
    return isinstance(error, asyncpg.PostgresError) and is_of_all(error)


def is_locked(error: BaseException) -> bool:
    """Return whether another client has locked what a statement needs."""
    return isinstance(error, asyncpg.LockNotAvailableError)


def is_of_all(error: BaseException) -> bool:
    """Return whether every statement of the round would fail like this alone."""
    if isinstance(error, asyncpg.PostgresError) and (error.sqlstate or "") in _OF_ONE:
        return False
    return is_unavailable(error)


# The advisory lock of Sidecall's migrations: "sidecall" in ASCII.
_LOCK = 0x7369646563616C6C

_VERSIONS = "schema_version"

_IS_MADE = "SELECT to_regclass('schema_version') IS NOT NULL"

_FIND_PLACE = """
SELECT
    quote_ident(current_user),
    quote_ident(current_schema()),
    current_schema() IS NOT NULL AND has_schema_privilege(current_schema(), 'CREATE')
"""

_MAKE = """
CREATE TABLE IF NOT EXISTS schema_version (
    version bigint PRIMARY KEY,
    name text NOT NULL,
    applied_at double precision NOT NULL
)
"""
# Of a table of another program the numbers may be texts, which this does not take.
_FIND_TAKEN = "SELECT coalesce(version, 0), name FROM schema_version"

_FIND_FAULTS = """
SELECT
    quote_ident(current_user),
    quote_ident(current_schema()),
    array_agg(name ORDER BY name) FILTER (WHERE place IS NULL),
    array_agg(name ORDER BY name) FILTER (WHERE NOT (
        has_table_privilege(place, 'SELECT') AND has_table_privilege(place, 'INSERT')
        AND has_table_privilege(place, 'UPDATE') AND has_table_privilege(place, 'DELETE')
    ))
FROM (SELECT name, to_regclass(name)::oid AS place FROM unnest($1::text[]) AS name) AS tables
"""
# Changes nothing, but has to be written like any other. Of several servers that try at once each takes its own row.
_TRIAL = """
UPDATE schema_version SET name = name
WHERE version = (SELECT version FROM schema_version ORDER BY version LIMIT 1 FOR UPDATE SKIP LOCKED)
"""
# PostgreSQL itself locks a table for a moment where it gives the room at its end back (VACUUM), and lets go as soon as
# another client waits. Without waiting that would look like another program's lock.
_LET_GO = "SET LOCAL lock_timeout = 500"

_FIND_HOLDER = """
SELECT locks.relation::regclass::text, locks.pid, users.usename,
    coalesce(nullif(users.application_name, ''), users.backend_type, 'a program')
FROM pg_locks AS locks JOIN pg_stat_activity AS users USING (pid)
WHERE locks.granted AND locks.pid <> pg_backend_pid()
    AND locks.relation IN (SELECT to_regclass(name)::oid FROM unnest($1::text[]) AS name)
    AND locks.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
LIMIT 1
"""


# What comes of tables that bear our names, and are not ours.
_OF_OTHERS = (
    asyncpg.DuplicateTableError,
    asyncpg.UndefinedColumnError,
    asyncpg.WrongObjectTypeError,
    asyncpg.DatatypeMismatchError,
)


class NoTables(DatabaseUnfit):
    """There are none of ours."""


async def bring_up_to_date(
    connection: asyncpg.Connection, address: str, features: Mapping[str, tuple[Migration, ...]]
) -> None:
    """Apply the missing migrations, all or none; a server that starts at the same time waits.

    Raises:
        StoreUnfit: The tables are of a newer program, or not ours.
        DatabaseUnfit: The user lacks rights.
    """
    try:
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
            if await connection.fetchval(_IS_MADE):  # Then no right to create tables is needed.
                await require_tables(connection, ())
            else:
                await _begin(connection)
            taken = {row[0]: row[1] for row in await connection.fetch(_FIND_TAKEN)}
            for migration in list_missing("postgres", taken, f"The database {address}"):
                await _carry_out(connection, migration)
            await _bring_features_up_to_date(connection, address, features)
    except _OF_OTHERS as error:
        raise StoreUnfit(
            f"The database {address} has tables of another program: {error}. Give Sidecall a database of its own."
        ) from None


async def _bring_features_up_to_date(
    connection: asyncpg.Connection, address: str, features: Mapping[str, tuple[Migration, ...]]
) -> None:
    is_made = await connection.fetchval("SELECT to_regclass($1) IS NOT NULL", VERSIONS)
    taken = [tuple(row) for row in await connection.fetch(FIND_VERSIONS)] if is_made else []
    missing = list_missing_of_features(features, taken, f"The database {address}")
    if missing and not is_made:
        await connection.execute(MAKE_VERSIONS)
    for step in missing:
        await connection.execute(step.script)
        await connection.execute(
            f"INSERT INTO {VERSIONS} VALUES ($1, $2, $3, $4)",  # noqa: S608
            *(step.feature, step.number, step.name, time.time()),
        )


async def _begin(connection: asyncpg.Connection) -> None:
    """Create the table with the schema versions."""
    (found,) = await connection.fetch(_FIND_PLACE)
    user, schema, may_create = found
    if not may_create:
        where = "any schema" if schema is None else f"the schema {schema}"
        grant = "" if schema is None else f"GRANT USAGE, CREATE ON SCHEMA {schema} TO {user}, or "
        raise DatabaseUnfit(
            f"its tables are not made yet, and the user {user} may make none in {where}: {grant}"
            f"CREATE SCHEMA {user} AUTHORIZATION {user}"
        )
    await connection.execute(_MAKE)


async def _carry_out(connection: asyncpg.Connection, migration: Migration) -> None:
    await connection.execute(migration.script)
    await connection.execute(
        "INSERT INTO schema_version VALUES ($1, $2, $3)", migration.number, migration.name, time.time()
    )


async def require_tables(connection: asyncpg.Connection, tables: Sequence[str]) -> None:
    """Check that these tables exist and are accessible.

    Raises:
        NoTables: The database has none of our tables.
        DatabaseUnfit: Some are missing, or the user lacks rights.
    """
    (found,) = await connection.fetch(_FIND_FAULTS, [*tables, _VERSIONS])
    user, schema, missing, denied = found
    if _VERSIONS in (missing or ()):
        raise NoTables("its tables are gone")
    if missing:
        raise DatabaseUnfit(
            f"it lacks the tables {', '.join(missing)} and has others: restore a backup that is whole, or give "
            "Sidecall an empty database"
        )
    if denied:
        raise DatabaseUnfit(
            f"the user {user} may not use the tables {', '.join(denied)}: "
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {user}"
        )


async def try_tables(connection: asyncpg.Connection, tables: Sequence[str]) -> None:
    """Check that these tables can be written now.

    Raises:
        NoTables: The database has none of our tables.
        DatabaseUnfit: Some are missing, the user lacks rights, or a table is locked.
        asyncpg.PostgresError: It cannot be written.
    """
    await require_tables(connection, tables)
    try:
        async with connection.transaction():
            await connection.execute(_LET_GO)
            await connection.execute(f"LOCK TABLE {', '.join(tables)} IN ROW EXCLUSIVE MODE")
            await connection.execute(_TRIAL)
    except asyncpg.LockNotAvailableError:
        holders = await connection.fetch(_FIND_HOLDER, tables)
        if holders:
            table, process, user, program = holders[0]
            who = program if user is None else f"{program} of the user {user}"
            raise DatabaseUnfit(f"its table {table} is locked by {who} (process {process})") from None
        raise
