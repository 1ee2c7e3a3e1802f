"""Messages to operators about an unavailable PostgreSQL database; never with its password."""

from urllib.parse import parse_qs, unquote, urlsplit

import asyncpg

from sidecall.kernel.core.overload import StoreUnfit

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
