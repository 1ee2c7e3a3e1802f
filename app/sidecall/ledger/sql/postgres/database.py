"""PostgreSQL as a ledger's database."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from sidecall.core.overload import StoreUnavailable, StoreUnfit
from sidecall.ledger.sql.database import Dialect, Row
from sidecall.ledger.sql.gathering import Gathering
from sidecall.ledger.sql.postgres.link import Link
from sidecall.ledger.sql.postgres.tables import bring_up_to_date
from sidecall.ledger.sql.postgres.words import is_of_all, is_unavailable, name_address, word_fault
from sidecall.ledger.sql.rounds import BESIDE, Line, Round, Wish, hand_out, measure, refuse_all, turn_away
from sidecall.ledger.sql.statements import read_statements

# What one commit takes at most, so that it is done in a time that can be waited for.
_ROUND = 1000
_ROUND_BYTES = 4 * 1024 * 1024
# Wishes that wait take up to so much memory; more are refused.
_WAITING_BYTES = 64 * 1024 * 1024
# Bytes a second with which a slow network is reckoned, where one wish is large.
_SLOWLY = 4 * 1024 * 1024
# While one waits for a commit, another takes what has come meanwhile; the rounds of one key follow each other.
_WRITERS = 2
_READERS = 3
# As many are enough for one message, which costs the database as much as some ten of the calls in it. What is more is
# shared by idle connections: while the database wrote all of it, this process would have nothing to do.
_ENOUGH = 16
# Reads what a statement is given as columns, each of all rows of a message. The database carries it out once, which for
# sixteen rows takes half of what sixteen times would.
_COLUMNS = " unnest($1::"
_TO_CONNECT = 5.0
_TO_START = 30.0
# Seconds for which a failed write counts as trouble when none follows.
_COMPLAINS = 5.0


class PostgresDatabase:
    """A PostgreSQL database, which is written on two connections and read on a few.

    Nothing waits for longer than `patience`, in seconds, for a database that does not answer, or a little longer for
    what is large. Where the connection breaks at the very moment of a commit, nobody can know whether the database
    has carried it out: then `write` raises although something may have been written.
    """

    dialect: Dialect = "postgres"

    def __init__(
        self,
        url: str,
        statements: Mapping[str, str] | None = None,
        patience: float = 2.0,
        readers: int = _READERS,
        writers: int = _WRITERS,
    ) -> None:
        self._address = name_address(url)
        self._statements = read_statements(self.dialect) if statements is None else statements
        self._patience = patience
        self._url = url
        self._writers = [Link(url, patience, is_kept=True) for _ in range(writers)]
        self._idle = list(self._writers)
        self._readers = [Link(url, patience, is_kept=False) for _ in range(readers)]
        self._free: asyncio.LifoQueue[Link] = asyncio.LifoQueue()
        self._line = Line(_WAITING_BYTES)
        self._writing: set[asyncio.Task[None]] = set()
        self._gathering = Gathering(self._line.__len__, self._wake, _ENOUGH)
        self._complaint: str | None = None
        self._complained_at = 0.0
        self._complaining_since: float | None = None  # In seconds since 1970.
        self._is_closing = False

    @property
    def trouble(self) -> str | None:
        """Why it cannot be used just now; None when it can."""
        is_fresh = time.monotonic() < self._complained_at + _COMPLAINS
        lost = None if self._is_connected else self._writers[0].trouble
        found = lost or (self._complaint if is_fresh else None)
        return None if found is None else f"PostgreSQL at {self._address}: {found}"

    @property
    def troubled_since(self) -> float | None:
        """When that began, in seconds since 1970; None when it can be used."""
        if self.trouble is None:
            return None
        lost = [link.troubled_since for link in self._writers if link.troubled_since is not None]
        return self._complaining_since if self._is_connected else max(lost, default=None)

    @property
    def _is_connected(self) -> bool:
        for link in self._writers:  # noqa: SIM110  a generator takes four times as long, and each call looks twice
            if link.connection is not None:
                return True
        return False

    async def open(self) -> None:
        """Connect, and bring the tables up to date.

        Raises:
            StoreUnfit: It cannot be reached under this address, or its tables are not for this program.
        """
        try:
            first = await asyncpg.connect(self._url, timeout=_TO_CONNECT)
            try:
                await asyncio.wait_for(bring_up_to_date(first, self._address), _TO_START)
            finally:
                first.terminate()
            for link in (*self._writers, *self._readers):
                await link.open()
            for reader in self._readers:
                self._free.put_nowait(reader)
        except (OSError, TimeoutError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise StoreUnfit(
                f"The database {self._address} (SIDECALL_STORE) cannot be used: {word_fault(error)}."
            ) from None

    async def close(self) -> None:
        """Write what waits, as far as the database lets it, and disconnect."""
        self._is_closing = True
        self._wake()  # For what has come in this very turn.
        if self._writing:
            _, late = await asyncio.wait(self._writing, timeout=2 * self._patience)
            for task in late:
                task.cancel()
        turn_away(self._line.empty())
        await asyncio.gather(*(link.close() for link in (*self._writers, *self._readers)))

    def write(self, statement: str, *values: Any, size: int | None = None) -> Awaitable[Row | None]:
        """Carry out a statement, and return the first row of its RETURNING, None if there is none, once it is durable.

        Raises:
            StoreUnavailable: The database cannot be used just now.
        """
        size = measure(values) if size is None else size + BESIDE
        key = values[0] if values else None
        done = asyncio.get_running_loop().create_future()
        # By place, and without a class method, since each call takes two.
        return self._join(Wish(self._statements[statement], (values,), done, True, size, key))

    async def write_all(self, statement: str, rows: Sequence[Row]) -> None:
        """Carry out a statement for each of these rows, all or none.

        Raises:
            StoreUnavailable: The database cannot be used just now.
        """
        if rows:
            await self._join(Wish.of_many(self._statements[statement], rows))

    async def read(self, statement: str, *values: Any, where: str = "") -> list[Row]:
        """Return what a statement finds among what is durable.

        Raises:
            StoreUnavailable: The database cannot be used just now.
        """
        sql = self._statements[statement].replace("{where}", where)
        try:
            async with self._borrow() as link:
                return [tuple(row) for row in await link.use(lambda one: one.fetch(sql, *values), self._patience)]
        except asyncpg.CharacterNotInRepertoireError:
            return []  # Something is looked for by a text with a NUL in it, and no row can have one.
        except Exception as error:
            if is_unavailable(error):
                raise StoreUnavailable from error
            raise

    @asynccontextmanager
    async def _borrow(self) -> AsyncIterator[Link]:
        if not self._is_connected:
            raise ConnectionResetError
        async with asyncio.timeout(self._patience):
            link = await self._free.get()
        try:
            yield link
        finally:
            self._free.put_nowait(link)

    def _join(self, wish: Wish) -> asyncio.Future[Row | None]:
        if self._is_closing or not self._is_connected or not self._line.join(wish):
            turn_away([wish])
        else:
            self._gathering.begin()
        return wish.done

    def _wake(self) -> None:
        """Let a connection that has nothing to do write what waits; those that write take it by themselves.

        Where there is none any more, it is turned away.
        """
        link = next((link for link in self._idle if link.connection is not None), None)
        if link is not None:
            self._idle.remove(link)
            task = asyncio.create_task(self._write_rounds(link))
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)
        elif not self._is_connected:
            turn_away(self._line.empty())

    async def _write_rounds(self, link: Link) -> None:
        try:
            while link.connection is not None and (taken := self._line.take(self._share, _ROUND_BYTES)) is not None:
                if self._line:
                    self._wake()  # Another connection, for the rest.
                try:
                    await self._write_round(link, taken)
                except Exception as error:
                    self._refuse(taken.wishes, error)
                finally:
                    self._line.give_back(taken)
        finally:
            self._idle.append(link)
        if link.connection is None:
            self._wake()

    @property
    def _share(self) -> int:
        """How much of what waits one connection takes."""
        takers = 1 + sum(link.connection is not None for link in self._idle)
        return min(_ROUND, max(_ENOUGH, -(-len(self._line) // takers)))

    async def _write_round(self, link: Link, taken: Round) -> None:
        try:
            await self._attempt(link, taken)
        except Exception as error:
            if is_of_all(error) or len(taken.wishes) == 1:
                raise
            for wish in taken.wishes:
                await self._write_alone(link, wish)

    async def _write_alone(self, link: Link, wish: Wish) -> None:
        try:
            await self._attempt(link, Round(wish.statement, [wish], wish.size))
        except Exception as error:
            self._refuse([wish], error)

    async def _attempt(self, link: Link, taken: Round) -> None:
        patience = self._patience + taken.size / _SLOWLY
        await link.use(lambda connection: _carry_out(connection, taken), patience)
        self._complaint = None

    def _refuse(self, wishes: Sequence[Wish], error: Exception) -> None:
        if not is_unavailable(error):
            refuse_all(wishes, error)
            return
        if is_of_all(error) and self._is_connected:
            if self.trouble is None:
                self._complaining_since = time.time()
            self._complaint = word_fault(error)
            self._complained_at = time.monotonic()
        turn_away(wishes, error)


async def _carry_out(connection: asyncpg.Connection, taken: Round) -> None:
    # What goes in one message to the server is a transaction of itself.
    found: list[Any] = []
    if _COLUMNS in taken.statement:
        found = await connection.fetch(taken.statement, *zip(*taken.rows, strict=True))
    elif taken.is_single:
        found = await connection.fetchmany(taken.statement, taken.rows)
    else:
        await connection.executemany(taken.statement, taken.rows)
    hand_out(taken.wishes, found)
