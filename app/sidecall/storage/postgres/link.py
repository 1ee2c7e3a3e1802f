"""A connection to PostgreSQL that reconnects."""

import asyncio
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

import asyncpg

from sidecall.storage.postgres.tables import DatabaseUnfit, format_fault

T = TypeVar("T")

_LOST = "the connection to it is lost"

_SILENT = "it does not answer in time"
# What is written is found by its id, also where a table is new: it grows by thousands of rows a second before anybody
# counts them, and a plan that was made for an empty one would go on reading all of it.
_BY_INDEX = "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off"
# Seconds between two attempts: the first, and the longest.
_SOON = 0.1

_SELDOM = 5.0


async def find_by_index(connection: asyncpg.Connection) -> None:
    """Configure a connection to use indexes for look-ups by id, as the writing ones do."""
    await connection.execute(_BY_INDEX)


class Link:
    """One connection; `connection` is None while it is down.

    A `kept` one is reconnected as soon as it breaks, others when they are used. `begin` sets up each new connection,
    and `when_lost` is called when it breaks.
    """

    def __init__(
        self,
        url: str,
        patience: float,
        *,
        is_kept: bool,
        when_lost: Callable[[], None] = lambda: None,
        begin: Callable[[asyncpg.Connection], Awaitable[None]] | None = None,
    ) -> None:
        self._is_kept = is_kept
        self._when_lost = when_lost
        self._begin = begin
        self._url = url
        self._patience = patience
        self._reconnecting: asyncio.Task[None] | None = None
        self._is_closing = False
        self._silent: asyncpg.Connection | None = None
        self.connection: asyncpg.Connection | None = None
        self.trouble: str | None = None
        self.found_at = 0.0  # When that was found.

    async def open(self) -> None:
        """Connect.

        Raises:
            OSError: It cannot be reached; asyncpg has more such errors.
        """
        # Half of the time is left for the other statements, in case another client has locked the row of one.
        connection = await open_connection(self._url, self._patience, lock_patience=self._patience / 2)
        if self._begin is not None:
            try:
                await asyncio.wait_for(self._begin(connection), self._patience)
            except BaseException:
                connection.terminate()
                raise
        connection.add_termination_listener(self._lose)
        self.connection, self.trouble = connection, None

    async def use(self, use: Callable[[asyncpg.Connection], Coroutine[Any, Any, T]], patience: float) -> T:
        """Return the result of a function that uses the connection, which is closed if it takes longer than `patience`.

        Raises:
            OSError: There is no connection, or it breaks; asyncpg has more such errors.
            TimeoutError: It takes too long.
        """
        if self.connection is None:
            if self._is_kept:
                raise ConnectionResetError(self.trouble)
            await self.open()
        connection, loop = self.connection, asyncio.get_running_loop()
        assert connection is not None
        # A task of its own that is waited for would cost as much as all else that a small message does.
        task = asyncio.current_task()
        assert task is not None
        timer = loop.call_later(patience, self._fall_silent, connection, task)
        try:
            return await use(connection)
        except asyncio.CancelledError:
            if self._silent is not connection:
                raise
            task.uncancel()
            raise TimeoutError(_SILENT) from None
        except Exception as error:
            # The driver does not always tell its listener, nor use an error of its own for it.
            if not connection.is_closed() and not isinstance(error, asyncpg.InternalClientError):
                raise
            self._give_up(connection, _LOST)
            raise ConnectionResetError(_LOST) from error
        finally:
            timer.cancel()

    def _fall_silent(self, connection: asyncpg.Connection, task: asyncio.Task[Any]) -> None:
        """Abort a connection and its waiter: the driver's own cancellation may wait forever."""
        self._silent = connection
        self._give_up(connection, _SILENT)
        task.cancel()

    def _give_up(self, connection: asyncpg.Connection, why: str) -> None:
        self._lose(connection, why)
        connection.terminate()

    async def close(self) -> None:
        """Disconnect, within a bounded time."""
        self._is_closing = True
        connection, self.connection = self.connection, None
        if self._reconnecting is not None:
            self._reconnecting.cancel()
            await asyncio.wait([self._reconnecting])
        if connection is not None:
            with suppress(TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                await connection.close(timeout=self._patience)

    def _lose(self, connection: Any, why: str = _LOST) -> None:
        if self._is_closing or connection is not self.connection:
            return
        self.connection = None
        self._note(why)
        if self._is_kept:
            self.reconnect()
        self._when_lost()

    def reconnect(self) -> None:
        """Connect in the background, retrying until it works."""
        self._reconnecting = asyncio.create_task(self._retry())

    def _note(self, why: str) -> None:
        self.trouble, self.found_at = why, time.monotonic()

    async def _retry(self) -> None:
        pause = _SOON
        while True:
            try:
                await self.open()
            except Exception as error:
                self._note(format_fault(error))
            else:
                return
            # Many servers do not come back at the same moment.
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311
            pause = min(2 * pause, _SELDOM)


def name_loss(links: Sequence[Link]) -> str | None:
    """Return the last reason why none of these is connected; None if one is."""
    if any(link.connection is not None for link in links):
        return None
    return max(links, key=lambda link: link.found_at).trouble or ""


class NoneFreeError(TimeoutError):
    """All connections that read do so, for as long as one waits."""


class PostgresReaders:
    """A few connections; the most recently used one is used first."""

    def __init__(self, url: str, patience: float, count: int) -> None:
        self._patience = patience
        self._links = [Link(url, patience, is_kept=False) for _ in range(count)]
        self._free: list[Link] = []
        self._waiting = deque[asyncio.Future[Link]]()

    async def open(self) -> None:
        """Connect.

        Raises:
            OSError: It cannot be reached; asyncpg has more such errors.
        """
        for link in self._links:
            await link.open()
            self._free.append(link)

    async def close(self) -> None:
        """Disconnect, within a bounded time."""
        await asyncio.gather(*(link.close() for link in self._links))

    @asynccontextmanager
    async def take(self, *, is_urgent: bool = False) -> AsyncIterator[Link]:
        """Lend a connection exclusively; urgent requests are served before all others.

        Raises:
            NoneFreeError: None comes free in time.
        """
        link = self._free.pop() if self._free else await self._wait(is_urgent=is_urgent)
        try:
            yield link
        finally:
            self._give(link)

    async def _wait(self, *, is_urgent: bool) -> Link:
        given: asyncio.Future[Link] = asyncio.get_running_loop().create_future()
        link: Link | None = None
        if is_urgent:
            self._waiting.appendleft(given)
        else:
            self._waiting.append(given)
        try:
            async with asyncio.timeout(self._patience):
                link = await given
                return link
        except TimeoutError:
            raise NoneFreeError from None
        finally:
            if link is None and given.done() and not given.cancelled():  # In the moment of the cancellation.
                self._give(given.result())

    def _give(self, link: Link) -> None:
        while self._waiting:
            given = self._waiting.popleft()
            if not given.done():
                given.set_result(link)
                return
        self._free.append(link)


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
