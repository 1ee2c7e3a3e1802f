"""Open connections to PostgreSQL with the session settings that we depend on."""

import asyncpg

from sidecall.storage.postgres.words import DatabaseUnfit

# How long a statement may take is ours to say; the server ends it by itself where a client that is gone cannot. The
# first of these in the message holds for the rest of it.
_OWN_TIMES = """
SET statement_timeout = {statement_timeout};
SET lock_timeout = {lock_timeout};
SELECT set_config('application_name', 'sidecall', false) WHERE current_setting('application_name') = '';
SELECT set_config(name, '0', false) FROM pg_settings
WHERE name IN ('idle_session_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout') AND setting <> '0'
"""
# What is answered is durable, also where the database is set up to say so before it is. Other values stay as they are.
_DURABLE = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
# Those that keep every text: the second takes the bytes of UTF-8 as they come.
_ENCODINGS = ("UTF8", "SQL_ASCII")
# A time of 1 ms may be over before it is overridden.
_TRIES = 5


async def open_connection(url: str, patience: float, lock_patience: float = 0.0) -> asyncpg.Connection:
    """Return a connection that can write, and whose only timeouts are ours.

    Args:
        url: The address of the database.
        patience: Seconds that each step may take.
        lock_patience: Seconds; 0 where there is no end to it, nor to a statement, as where tables are changed.

    Raises:
        OSError: It cannot be reached, or is not as it has to be; asyncpg has more such errors.
    """
    connection = await asyncpg.connect(url, timeout=patience)
    try:
        encoding = connection.get_settings().server_encoding
        if encoding not in _ENCODINGS:
            raise DatabaseUnfit(
                f"its encoding is {encoding}, which lacks most characters: make another with "
                "CREATE DATABASE sidecall ENCODING 'UTF8' LOCALE 'C.UTF-8' TEMPLATE template0"
            )
        longest = 2 * patience if lock_patience else 0.0
        times = _OWN_TIMES.format(statement_timeout=round(longest * 1000), lock_timeout=round(lock_patience * 1000))
        settings = f"{times}; {_DURABLE}"
        await _set_up(connection, settings, patience)
        if await connection.fetchval("SHOW transaction_read_only", timeout=patience) == "on":
            raise DatabaseUnfit("it cannot be written: it is a standby, or was made read-only")
    except BaseException:
        connection.terminate()
        raise
    return connection


async def _set_up(connection: asyncpg.Connection, settings: str, patience: float) -> None:
    for tries_left in reversed(range(_TRIES)):
        try:
            await connection.execute(settings, timeout=patience)
            return
        except asyncpg.QueryCanceledError:
            if not tries_left:
                raise
