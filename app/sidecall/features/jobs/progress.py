"""Progress events of running calls, for servers that share a ledger."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from sidecall.storage.database import Database

# An event: its kind, and its JSON on one line.
Said = tuple[str, bytes]


class ProgressBatch(Struct, frozen=True):
    """Consecutive events of one attempt; `last` is the number of the last one, counted from 1."""

    attempt: int
    last: int
    said: Sequence[Said]


class ProgressLog(Protocol):
    """Progress events for watchers at other servers; they may be lost with the database."""

    async def add(self, call_id: str, part: ProgressBatch, forgotten: int) -> None:
        """Append events, and drop those of this attempt up to that number.

        Raises:
            StoreUnavailable: They are not stored.
        """

    async def list_after(self, call_id: str, attempt: int, number: int) -> Sequence[ProgressBatch]:
        """List the events after this number of an attempt, and of later attempts.

        Raises:
            StoreUnavailable: They cannot be read.
        """

    async def forget(self) -> None:
        """Delete the events of calls that ended some minutes ago."""


# Seconds for which events are kept after a call's end: as long as at the server that ran it.
_KEPT = 300.0


class SqlProgress:
    """Keep what tools say, many things in a row: a kind and its JSON a line."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, call_id: str, part: ProgressBatch, forgotten: int) -> None:
        """Append events, and drop those of this attempt up to that number."""
        text = "\n".join(f"{kind} {body.decode()}" for kind, body in part.said)
        writes = [self._database.write("add_progress", call_id, part.attempt, part.last, text)]
        if forgotten:
            writes.append(self._database.write("trim_progress", call_id, part.attempt, forgotten))
        await asyncio.gather(*writes)

    async def list_after(self, call_id: str, attempt: int, number: int) -> Sequence[ProgressBatch]:
        """List the events after this number of an attempt, and of later attempts."""
        rows = await self._database.read("list_progress", call_id, attempt, number)
        return [
            ProgressBatch(attempt, last, [_read(line) for line in text.split("\n")]) for attempt, last, text in rows
        ]

    async def forget(self) -> None:
        """Delete the events of calls that ended some minutes ago."""
        await self._database.write("forget_progress", _KEPT)


def _read(line: str) -> Said:
    kind, _, body = line.partition(" ")
    return kind, body.encode()
