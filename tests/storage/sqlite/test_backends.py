"""A little is written in memory at once, and all else in the thread, in the order in which it comes."""

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import pytest

from sidecall.storage.sqlite.backends import ThreadWriter
from sidecall.storage.sqlite.file import SqliteFile
from sidecall.storage.sqlite.writer_connection import Ended, Kind, Order, Outcomes, Unavailable, WriterConnection

PUT = "INSERT INTO servers VALUES (?, 0, 0)"
ALL = "SELECT id FROM servers ORDER BY id"


class NotingConnection(WriterConnection):
    """Writes, and notes whether that is done on the event loop."""

    def __init__(self, path: Path | None) -> None:
        super().__init__(SqliteFile(path, 2.0))
        self.at_once: list[bool] = []

    def write(self, group: Sequence[Order]) -> list[object] | Unavailable:
        """Write, and note where."""
        self.at_once.append(threading.current_thread() is threading.main_thread())
        return super().write(group)


class Opened:
    """What writes by a thread, and what is heard of it."""

    def __init__(self, path: Path | None = None) -> None:
        self.pen = NotingConnection(path)
        self.writer = ThreadWriter(self.pen)
        self.heard = asyncio.Queue[Outcomes | Ended]()

    async def open(self) -> None:
        """Open it."""
        self.writer.open()
        await self.writer.start(self.heard.put_nowait)

    async def close(self) -> None:
        """Close it, and wait for its end."""
        self.writer.finish()
        assert await self.heard.get() == Ended()

    def put(self, first: int, count: int = 1, kind: Kind = "key", *, is_large: bool = False) -> None:
        """Put servers with these numbers."""
        numbers = range(first, first + count)
        self.writer.send([(PUT, (f"id {number}",), kind) for number in numbers], is_large=is_large)


@pytest.fixture
async def opened() -> AsyncIterator[Opened]:
    """Give one in memory."""
    made = Opened()
    await made.open()
    yield made
    await made.close()


@pytest.mark.parametrize(
    ("count", "kind", "is_large", "at_once"),
    [
        (1, "key", False, True),
        (1, "row", False, True),
        (32, "key", False, True),
        (33, "key", False, False),
        (1, "rows", False, False),
        (1, "key", True, False),
    ],
)
async def test_only_a_little_is_written_at_once(
    opened: Opened, count: int, kind: Kind, is_large: bool, at_once: bool
) -> None:
    """What is more would hold up the event loop."""
    opened.put(1, count, kind, is_large=is_large)
    outcomes = await opened.heard.get()

    first: Mapping[Kind, object] = {"key": ("id 1",), "row": None, "rows": []}
    assert outcomes == [first[kind], *((f"id {number}",) for number in range(2, count + 1))]
    assert opened.pen.at_once == [at_once]


async def test_what_comes_behind_a_query_waits_for_it(opened: Opened) -> None:
    """So that it finds what was written before it, and nothing else; after that a little is written at once again."""
    opened.put(1)
    opened.writer.send([(ALL, (), "rows")], is_large=False)
    opened.put(2)
    heard = [await opened.heard.get() for _ in range(3)]
    opened.put(3)

    assert heard == [[("id 1",)], [[("id 1",)]], [("id 2",)]]
    assert opened.heard.get_nowait() == [("id 3",)]
    assert opened.pen.at_once == [True, False, False, True]


async def test_a_file_is_always_written_in_the_thread(tmp_path: Path) -> None:
    """A disk may take its time."""
    opened = Opened(tmp_path / "ledger.db")
    await opened.open()
    opened.put(1)

    assert await opened.heard.get() == [("id 1",)]
    assert opened.pen.at_once == [False]
    await opened.close()
