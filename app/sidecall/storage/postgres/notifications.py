"""Notifications between the servers of a PostgreSQL database, by LISTEN and NOTIFY."""

import asyncio
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import asyncpg

from sidecall.storage.notifications import (
    EVERYWHERE,
    Bundle,
    NotificationKind,
    NotificationListener,
    hand_on,
    write_word,
)
from sidecall.storage.postgres.link import Link
from sidecall.storage.postgres.tables import format_fault, is_unavailable, name_address

logger = logging.getLogger("sidecall")

# A database may have several ledgers, each in a schema of its own.
_NAME = "SELECT 'sidecall_' || current_schema()::regnamespace::oid"
_TELL = "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload"
# Of a message; PostgreSQL takes less than 8000 bytes.
_LONGEST = 7800
# Seconds between two messages at least, and at most: a server hears itself, so it knows whether others can hear it.
_APART = 0.005
_SELDOM = 2.0
# Seconds between two looks whether it is connected again.
_AWAY = 0.05
_POOLED = "perhaps a pooler stands before it"
# Seconds without its own notifications after which the connection counts as dead.
_DEAF = 6.0


class PostgresNotifications:
    """Sends and receives notifications over one connection; after a reconnect everything is checked once.

    A notice is a transaction of its own that writes nothing to disk: with NOTIFY in a writing transaction, all commits
    of the database would be serialized.
    """

    def __init__(self, url: str, owner: str, patience: float = 2.0) -> None:
        """Send as the server `owner`; nothing waits longer than `patience` seconds for an unresponsive database."""
        self._owner = owner
        self._address = name_address(url)
        self._patience = patience
        self._link = Link(url, patience, is_kept=True, begin=self._listen)
        self._channel = ""
        self._listener: NotificationListener | None = None
        self._waiting = Bundle()
        self._is_awake = asyncio.Event()
        self._teller: asyncio.Task[None] | None = None
        self._heard_at = 0.0
        self._is_deaf = False

    def attach(self, listener: NotificationListener) -> None:
        """Pass what others send to a listener."""
        self._listener = listener

    def tell(self, kind: NotificationKind, call_id: str = "") -> None:
        """Send a notification soon, bundled with others; never waits, and never fails."""
        if self._teller is None or self._link.connection is None:
            return
        self._waiting.add(write_word(kind, call_id))
        self._is_awake.set()

    async def open(self) -> None:
        """Begin to connect, without waiting."""
        self._heard_at, self._is_awake = time.monotonic(), asyncio.Event()
        self._link.reconnect()
        self._teller = asyncio.create_task(self._go_round())

    async def close(self) -> None:
        """Send what is queued, and disconnect."""
        teller, self._teller = self._teller, None
        if teller is not None:
            teller.cancel()
            await asyncio.wait([teller])
        with suppress(Exception):
            await self._send()
        await self._link.close()

    async def _listen(self, connection: asyncpg.Connection) -> None:
        self._channel = await connection.fetchval(_NAME)
        await connection.add_listener(self._channel, self._hear)
        # Notifications sent during the interruption were lost on both sides.
        self._waiting.take()
        self._waiting.add(EVERYWHERE)
        self._is_awake.set()
        if self._listener is not None:
            self._listener.miss()

    def _hear(self, _connection: Any, _pid: int, _channel: str, payload: object) -> None:
        """Pass on a notification of another server, and skip anything else."""
        owner, *words = str(payload).split(" ")
        if owner == self._owner:
            self._heard_at = time.monotonic()
        elif self._listener is not None:
            hand_on(words, self._listener)

    async def _go_round(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_SELDOM):
                    await self._is_awake.wait()
            self._check_own()
            if self._link.connection is None:
                await asyncio.sleep(_AWAY)
                continue
            self._is_awake.clear()
            try:
                await self._send()
            except Exception as error:
                if not is_unavailable(error):
                    logger.warning("other servers were not told of something new: %s", format_fault(error))
            await asyncio.sleep(_APART)

    async def _send(self) -> None:
        if self._link.connection is not None:
            messages = list(_pack(self._owner, self._waiting.take()))
            await self._link.use(lambda one: one.execute(_TELL, self._channel, messages), self._patience)

    def _check_own(self) -> None:
        """Log once that this server has not received its own notifications for long, and once that it does again."""
        is_deaf = time.monotonic() > self._heard_at + _DEAF
        if is_deaf and not self._is_deaf:
            logger.warning(
                "PostgreSQL at %s passes on no notifications (LISTEN), so what happens at other servers is seen up to "
                "a second later: %s",
                self._address,
                _POOLED if self._link.connection is not None else self._link.trouble,
            )
        elif self._is_deaf and not is_deaf:
            logger.warning("PostgreSQL at %s passes on notifications", self._address)
        self._is_deaf = is_deaf


def _pack(owner: str, words: Sequence[str]) -> Iterator[str]:
    """Pack these words into one or more messages."""
    message = owner
    for word in words:
        if len(message) + len(word) >= _LONGEST:
            yield message
            message = owner
        message += f" {word}"
    yield message
