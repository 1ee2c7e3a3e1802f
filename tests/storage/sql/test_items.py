"""How much of a database is read to find items in it."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from sidecall.features.store import sql_store as sql_items
from sidecall.features.store.item_store import ItemStore
from sidecall.features.store.sql_store import SqlItems
from sidecall.storage.database import Row
from sidecall.storage.sqlite.database import SqliteDatabase

USERS = ("users",)


class Counted(SqliteDatabase):
    """A database in memory that counts what is read."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = Counter[str]()

    async def read(self, statement: str, *values: Any, where: str = "") -> list[Row]:
        """Count it."""
        self.reads[statement] += 1
        return await super().read(statement, *values, where=where)


@pytest.fixture
async def database() -> AsyncIterator[Counted]:
    """Give one with a thousand items."""
    database = Counted()
    await database.open()
    store = ItemStore(SqlItems(database))
    await asyncio.gather(*(store.aput(USERS, f"{number:04}", {"n": number % 7}) for number in range(1000)))
    yield database
    await database.close()


@pytest.mark.parametrize(
    ("most", "reads"),
    [(50_000, {"search_items": 1, "number_items": 1, "show_items": 4}),
     (300, {"search_items": 1, "number_items": 3, "show_items": 5})],
)  # fmt: skip
async def test_a_filter_has_all_sorted_once(
    database: Counted, monkeypatch: pytest.MonkeyPatch, most: int, reads: dict[str, int]
) -> None:
    """Not again for each page: what none of many items fulfils would take ever longer."""
    monkeypatch.setattr(sql_items, "_MOST_NUMBERS", most)
    store = ItemStore(SqlItems(database))

    assert await store.asearch((), filter={"n": 9}) == []
    assert database.reads == reads
    found = await store.asearch((), filter={"n": 3}, limit=1000)
    assert sorted(item.key for item in found) == [f"{number:04}" for number in range(3, 1000, 7)]
