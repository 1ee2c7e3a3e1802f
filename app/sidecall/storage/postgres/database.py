"""The PostgreSQL database of a ledger."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

import asyncpg

from sidecall.kernel.concurrency.coroutines import await_all
from sidecall.kernel.core.overload import StoreUnavailable, StoreUnfit
from sidecall.storage.database import Dialect, Row
from sidecall.storage.group_commit import BESIDE, Gathering, Line, Round, Wish, hand_out, measure, refuse_all, turn_away
from sidecall.storage.postgres.link import (
    Link,
    NoneFreeError,
    PostgresReaders,
    find_by_index,
    name_loss,
    open_connection,
)
from sidecall.storage.postgres.outage import LEDGER, DatabaseRole, Outage, with_features
from sidecall.storage.postgres.tables import (
    POOLED,
    DatabaseUnfit,
    NoTables,
    bring_up_to_date,
    format_fault,
    is_locked,
    is_of_all,
    is_said,
    is_unavailable,
    name_address,
    require_tables,
    try_tables,
)
from sidecall.storage.statements import read_statements

# What one commit takes at most, so that it is done in a time that can be waited for.
_ROUND = 1000

_ROUND_BYTES = 4 * 1024 * 1024
# Wishes that wait take up to so much memory; more are refused.
_WAITING_BYTES = 64 * 1024 * 1024
# Bytes a second with which a slow network is reckoned, where one wish is large.
_SLOWLY = 4 * 1024 * 1024
# While one waits for a commit, another takes the next round; rounds with the same key run in order.
_WRITERS = 2

_READERS = 3
# As many are enough for one message, which costs the database as much as some ten of the calls in it. What is more is
# shared by idle connections: while the database wrote all of it, this process would have nothing to do.
_ENOUGH = 16

_TO_CONNECT = 5.0

_TO_START = 30.0


class PostgresDatabase:
    """A PostgreSQL database, written over two connections and read over a few.

    Nothing waits longer than `patience` seconds for an unresponsive database, or a little longer for large values. If
    the connection breaks during a commit, its result is unknown: `write` then raises although the data may have been
    written.
    """

    dialect: Dialect = "postgres"
    is_shared = True

    def __init__(
        self,
        url: str,
        statements: Mapping[str, str] | None = None,
        patience: float = 2.0,
        readers: int = _READERS,
        writers: int = _WRITERS,
        concern: DatabaseRole = LEDGER,
    ) -> None:
        concern = with_features(concern)
        self._address = name_address(url)
        self._statements = read_statements(self.dialect, concern.others) if statements is None else statements
        self._patience = patience
        self._url = url
        self._concern = concern
        self._writers = [
            Link(url, patience, is_kept=True, when_lost=self._miss, begin=find_by_index) for _ in range(writers)
        ]
        self._idle = list(self._writers)
        self._readers = PostgresReaders(url, patience, readers)
        self._line = Line(_WAITING_BYTES)
        self._writing: set[asyncio.Task[None]] = set()
        self._gathering = Gathering(self._line.__len__, self._wake, _ENOUGH)
        self._outage = Outage(concern, self._address, self._find_fault, self._empty_line)
        self._is_closing = False

    @property
    def trouble(self) -> str | None:
        """Why it is unavailable; None if it is available."""
        return self._outage.trouble

    @property
    def unavailable_since(self) -> float | None:
        """When that began, in Unix seconds; None if it is available."""
        return self._outage.unavailable_since

    async def open(self) -> None:
        """Connect, and migrate the tables.

        Raises:
            StoreUnfit: It cannot be reached under this address, or its tables are not for this program.
        """
        try:
            first = await open_connection(self._url, _TO_CONNECT)
            try:
                await asyncio.wait_for(bring_up_to_date(first, self._address, self._concern.feature_steps), _TO_START)
                await asyncio.wait_for(require_tables(first, self._concern.tables), _TO_START)
            finally:
                first.terminate()
            for link in self._writers:
                await link.open()
            await self._readers.open()
            async with self._readers.take() as reader:
                await self._try_sessions(reader)
            self._outage.open()
        except (OSError, TimeoutError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            await self.close()
            raise StoreUnfit(
                f"The database {self._address} (SIDECALL_STORE) cannot be used: {format_fault(error)}."
            ) from None

    async def close(self) -> None:
        """Write the queue, as far as the database allows, and disconnect."""
        self._is_closing = True
        self._wake()  # For what has come in this very turn.
        if self._writing:
            _, late = await asyncio.wait(self._writing, timeout=2 * self._patience)
            for task in late:
                task.cancel()
        self._empty_line()
        try:
            await self._outage.close()
        finally:
            await await_all([self._readers.close(), *(link.close() for link in self._writers)])

    def write(self, statement: str, *values: Any, size: int | None = None) -> Awaitable[Row | None]:
        """Run a statement, and return the first row of its RETURNING, or None, once it is durable.

        Raises:
            StoreUnavailable: The database cannot be used just now.
        """
        size = measure(values) if size is None else size + BESIDE
        key = values[0] if values else None
        done = asyncio.get_running_loop().create_future()
        # By place, and without a class method, since each call takes two.
        return self._join(Wish(self._statements[statement], (values,), done, True, size, key))

    async def write_all(self, statement: str, rows: Sequence[Row]) -> None:
        """Run a statement for each of these rows, all or none.

        Raises:
            StoreUnavailable: The database cannot be used just now.
        """
        if rows:
            await self._join(Wish.of_many(self._statements[statement], rows))

    async def read(self, statement: str, *values: Any, where: str = "") -> list[Row]:
        """Return the rows that a query finds among durable data.

        Raises:
            StoreUnavailable: The database cannot be used just now.
        """
        sql = self._statements[statement].replace("{where}", where)
        if self._outage.trouble is not None:
            raise StoreUnavailable
        try:
            async with self._readers.take() as link:
                if self._outage.trouble is not None:
                    raise ConnectionResetError
                return [tuple(row) for row in await link.use(lambda one: one.fetch(sql, *values), self._patience)]
        except asyncpg.CharacterNotInRepertoireError:
            return []  # Something is looked for by a text with a NUL in it, and no row can have one.
        except Exception as error:
            if not is_unavailable(error):
                raise
            self._suffer(error)
            if is_locked(error):
                await self._outage.look()
            raise StoreUnavailable from error

    def _join(self, wish: Wish) -> asyncio.Future[Row | None]:
        if self._outage.trouble is not None or self._is_closing or not self._line.join(wish):
            turn_away([wish])
        else:
            self._gathering.begin()
        return wish.done

    def _wake(self) -> None:
        """Let an idle connection write the queue; busy ones take from it by themselves."""
        if (link := self._take_idle()) is not None:
            task = asyncio.create_task(self._write_rounds(link))
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)

    def _take_idle(self) -> Link | None:
        link = next((link for link in self._idle if link.connection is not None), None)
        if link is not None:
            self._idle.remove(link)
        return link

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
        """How much of the queue one connection takes."""
        takers = 1 + sum(link.connection is not None for link in self._idle)
        return min(_ROUND, max(_ENOUGH, -(-len(self._line) // takers)))

    async def _write_round(self, link: Link, taken: Round) -> None:
        try:
            await self._attempt(link, taken)
        except Exception as error:
            # Perhaps a row is locked, perhaps the whole table: then no other statement should wait for it again.
            if is_of_all(error) or (is_locked(error) and await self._outage.look()) or len(taken.wishes) == 1:
                raise
            for wish in taken.wishes:
                await self._write_alone(link, wish)

    async def _write_alone(self, link: Link, wish: Wish) -> None:
        if self._outage.trouble is not None:
            turn_away([wish])
            return
        try:
            await self._attempt(link, Round(wish.statement, [wish], wish.size))
        except Exception as error:
            self._refuse([wish], error)

    async def _attempt(self, link: Link, taken: Round) -> None:
        patience = self._patience + taken.size / _SLOWLY
        await link.use(lambda connection: carry_out(connection, taken), patience)

    def _refuse(self, wishes: Sequence[Wish], error: Exception) -> None:
        if is_unavailable(error):
            self._suffer(error)
            turn_away(wishes, error)
        else:
            refuse_all(wishes, error)

    def _suffer(self, error: Exception) -> None:
        """Note that a statement has failed because of the database."""
        if is_said(error):
            self._outage.begin(format_fault(error), is_found=False)
        else:
            self._outage.doubt()

    def _miss(self) -> None:
        """Note a lost connection."""
        if (lost := name_loss(self._writers)) is not None:
            self._outage.begin(lost)

    def _empty_line(self) -> None:
        turn_away(self._line.empty())

    async def _find_fault(self) -> str | None:
        """Test the database over a reading connection, and return the fault; the previous one if unknown.

        In an empty database the tables are created again: an administrator has recreated it.
        """
        if (lost := name_loss(self._writers)) is not None:
            return lost
        try:
            async with self._readers.take(is_urgent=True) as link:
                await self._try(link)
        except NoneFreeError:
            return self._outage.fault
        except StoreUnfit as error:
            return error.message
        except Exception as error:
            return format_fault(error)
        return None

    async def _try(self, link: Link) -> None:
        tables = self._concern.tables
        try:
            await link.use(lambda one: try_tables(one, tables), self._patience)
        except NoTables:
            await link.use(lambda one: bring_up_to_date(one, self._address, self._concern.feature_steps), _TO_START)
            await link.use(lambda one: try_tables(one, tables), self._patience)
        await self._try_sessions(link)

    async def _try_sessions(self, reader: Link) -> None:
        """Check that connections keep their sessions, unless all writing ones are busy."""
        if (writer := self._take_idle()) is not None:
            try:
                await require_sessions(writer, reader, self._patience)
            finally:
                self._idle.append(writer)
                if self._line:
                    self._wake()


_NAME = "SELECT pg_backend_pid()"
# A pooler that chooses at random may give the same session twice.
_TURNS = 3


async def require_sessions(one: Link, other: Link, patience: float) -> None:
    """Check that two connections each keep their session after a transaction.

    Settings, locks and prepared statements belong to a session, so a shared one would break everything.

    Raises:
        DatabaseUnfit: They have not.
    """
    # They do not run out of time at the same moment.
    await one.use(lambda first: other.use(lambda second: _compare(first, second), patience), 2 * patience)


async def _compare(first: asyncpg.Connection, second: asyncpg.Connection) -> None:
    for _ in range(_TURNS):
        name = await first.fetchval(_NAME)
        async with second.transaction():  # The session that the first had is free for the second.
            if await second.fetchval(_NAME) == name or await first.fetchval(_NAME) != name:
                raise DatabaseUnfit(POOLED)


# Reads what a statement is given as columns, each of all rows of a message. The database carries it out once, which for
# sixteen rows takes half of what sixteen times would.
_COLUMNS = " unnest($1::"


async def carry_out(connection: asyncpg.Connection, taken: Round) -> None:
    """Write a round, and give each waiting statement its returned row."""
    # What goes in one message to the server is a transaction of itself.
    found: list[Any] = []
    if _COLUMNS in taken.statement:
        found = await connection.fetch(taken.statement, *zip(*taken.rows, strict=True))
    elif taken.is_single:
        found = await connection.fetchmany(taken.statement, taken.rows)
    else:
        await connection.executemany(taken.statement, taken.rows)
    hand_out(taken.wishes, found)
