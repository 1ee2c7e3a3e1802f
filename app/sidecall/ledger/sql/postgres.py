"""PostgreSQL as a ledger's database."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import asyncpg

from sidecall.core.overload import StoreUnavailable, StoreUnfit
from sidecall.ledger.sql.database import Dialect, Row
from sidecall.ledger.sql.postgres_link import Link
from sidecall.ledger.sql.postgres_tables import bring_up_to_date
from sidecall.ledger.sql.postgres_words import is_of_all, is_unavailable, name_address, word_fault
from sidecall.ledger.sql.rounds import Line, Round, Wish, hand_out, refuse_all, turn_away
from sidecall.ledger.sql.statements import read_statements

# What one commit takes at most, so that it is done in a time that can be waited for.
_ROUND = 1000
_ROUND_BYTES = 4 * 1024 * 1024
# Wishes that wait take up to so much memory; more are refused.
_WAITING_BYTES = 64 * 1024 * 1024
# Bytes a second with which a slow network is reckoned, where one wish is large.
_SLOWLY = 4 * 1024 * 1024
_READERS = 3
_TO_CONNECT = 5.0
_TO_START = 30.0
# Seconds for which a failed write counts as trouble when none follows.
_COMPLAINS = 5.0


class PostgresDatabase:
    """A PostgreSQL database, which is written on one connection and read on a few.

    Nothing waits for longer than `patience`, in seconds, for a database that does not answer, or a little longer for
    what is large. Where the connection breaks at the very moment of a commit, nobody can know whether the database
    has carried it out: then `write` raises although something may have been written.
    """

    dialect: Dialect = "postgres"

    def __init__(
        self, url: str, statements: Mapping[str, str] | None = None, patience: float = 2.0, readers: int = _READERS
    ) -> None:
        self._address = name_address(url)
        self._statements = read_statements(self.dialect) if statements is None else statements
        self._patience = patience
        self._url = url
        self._link = Link(url, patience, is_kept=True)
        self._readers = [Link(url, patience, is_kept=False) for _ in range(readers)]
        self._free: asyncio.LifoQueue[Link] = asyncio.LifoQueue()
        self._line = Line(_WAITING_BYTES)
        self._writing: asyncio.Task[None] | None = None
        self._complaint: str | None = None
        self._complained_at = 0.0
        self._is_closing = False

    @property
    def trouble(self) -> str | None:
        """Why it cannot be used just now; None when it can."""
        is_fresh = time.monotonic() < self._complained_at + _COMPLAINS
        found = self._link.trouble or (self._complaint if is_fresh else None)
        return None if found is None else f"PostgreSQL at {self._address}: {found}"

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
            for link in (self._link, *self._readers):
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
        if self._writing is not None:
            await asyncio.wait([self._writing], timeout=2 * self._patience)
            self._writing.cancel()
        turn_away(self._line.empty())
        await asyncio.gather(*(link.close() for link in (self._link, *self._readers)))

    async def write(self, statement: str, *values: Any) -> Row | None:
        """Carry out a statement, and return the first row of its RETURNING, None if there is none, once it is durable.

        Raises:
            StoreUnavailable: The database cannot be used just now.
        """
        return await self._join(Wish.of(self._statements[statement], [values], is_single=True))

    async def write_all(self, statement: str, rows: Sequence[Row]) -> None:
        """Carry out a statement for each of these rows, all or none.

        Raises:
            StoreUnavailable: The database cannot be used just now.
        """
        if rows:
            await self._join(Wish.of(self._statements[statement], rows, is_single=False))

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
        if self._link.connection is None:
            raise ConnectionResetError
        async with asyncio.timeout(self._patience):
            link = await self._free.get()
        try:
            yield link
        finally:
            self._free.put_nowait(link)

    async def _join(self, wish: Wish) -> Row | None:
        if self._is_closing or self._link.connection is None or not self._line.join(wish):
            raise StoreUnavailable
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_rounds())
        return await wish.done

    async def _write_rounds(self) -> None:
        while self._line:
            taken = self._line.take(_ROUND, _ROUND_BYTES)
            try:
                await self._write_round(taken)
            except Exception as error:
                self._refuse(taken.wishes, error)

    async def _write_round(self, taken: Round) -> None:
        wishes = taken.wishes
        try:
            await self._attempt(taken)
        except Exception as error:
            if is_of_all(error) or len(wishes) == 1:
                raise
            await self._write_one_by_one(wishes)

    async def _write_one_by_one(self, wishes: Sequence[Wish]) -> None:
        for wish in wishes:
            alone = Round(size=wish.size)
            if wish.is_single:
                alone.singles[wish.statement][wish.key] = wish
            else:
                alone.many.append(wish)
            try:
                await self._attempt(alone)
            except Exception as error:
                self._refuse([wish], error)

    async def _attempt(self, taken: Round) -> None:
        patience = self._patience + taken.size / _SLOWLY
        await self._link.use(lambda connection: _carry_out(connection, taken), patience)
        self._complaint = None

    def _refuse(self, wishes: Sequence[Wish], error: Exception) -> None:
        if not is_unavailable(error):
            refuse_all(wishes, error)
            return
        if is_of_all(error) and self._link.connection is not None:
            self._complaint = word_fault(error)
            self._complained_at = time.monotonic()
        turn_away(wishes, error)


async def _carry_out(connection: asyncpg.Connection, taken: Round) -> None:
    # What goes in one message to the server is a transaction of itself.
    whole = connection.transaction() if len(taken.singles) + len(taken.many) > 1 else nullcontext()
    async with whole:
        found = await _carry_out_parts(connection, taken)
    for wishes, rows in found:
        hand_out(wishes, rows)


async def _carry_out_parts(connection: asyncpg.Connection, taken: Round) -> list[tuple[list[Wish], list[Any]]]:
    found: list[tuple[list[Wish], list[Any]]] = []
    for statement, group in taken.singles.items():
        wishes = list(group.values())
        found.append((wishes, await connection.fetchmany(statement, [wish.rows[0] for wish in wishes])))
    for wish in taken.many:
        await connection.executemany(wish.statement, wish.rows)
        found.append(([wish], []))
    return found
