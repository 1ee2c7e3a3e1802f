"""The store in a database."""

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from sidecall.features.store.filters import compile_filter, pick_namespaces
from sidecall.features.store.items import NamespaceSearch, Search
from sidecall.features.store.memory_store import MINUTE, MOST_ITEM_BYTES, read_item, write_value
from sidecall.kernel.ports.store import Item, Namespace
from sidecall.storage.database import Database, Row

# Rows that are read at once while a filter skips some; other calls get a turn in between.
_PAGE = 200
# Items of a namespace that are ordered at once; the database scans the whole namespace for it.
_MOST_NUMBERS = 50_000
# Parts of namespaces, tenants and keys are stored as ASCII JSON, which every database keeps and orders alike.
_AFTER_COMMA = "-"
_BEYOND_ALL = "~"
_ANY = "*"


class SqlItems:
    """Store items in a database; one item's value takes up to `most_of_one` bytes."""

    def __init__(
        self, database: Database, most_of_one: int = MOST_ITEM_BYTES, clock: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._most_of_one = most_of_one
        self._clock = clock
        self.loop: asyncio.AbstractEventLoop | None = None

    def attach(self) -> None:
        """Let other threads use the running event loop, on which the database is."""
        self.loop = asyncio.get_running_loop()

    async def get(self, tenant: str, namespace: Namespace, key: str, *, refresh: bool = True) -> Item | None:
        """Return the item, None if there is none.

        Raises:
            StoreUnavailable: The database is unavailable.
        """
        await _begin()
        item_id, now = _identify(tenant, namespace, key), self._clock()
        rows = await self._database.read("get_item", item_id, now)
        if not rows:
            return None
        value, created, updated, ttl = rows[0]
        if refresh and ttl is not None:
            await self._database.write("refresh_item", item_id, now)
        return read_item(namespace, key, json.loads(value), created, updated)

    async def put(self, tenant: str, namespace: Namespace, key: str, value: Any, ttl: float | None = None) -> None:
        """Store a value, replacing an earlier one, until `ttl` minutes after its last use.

        Raises:
            ItemTooLarge: The value is larger than an item may be.
            TypeError: JSON cannot represent it.
            ValueError: JSON cannot represent it.
            StoreUnavailable: The database is unavailable.
        """
        text = write_value(value, self._most_of_one)
        await _begin()
        now = self._clock()
        expires = None if ttl is None else now + ttl * MINUTE
        item_id, where = _identify(tenant, namespace, key), _write_namespace(namespace)
        row = (item_id, json.dumps(tenant), where, json.dumps(key), text, now, ttl, expires)
        await self._database.write("put_item", *row)

    async def delete(self, tenant: str, namespace: Namespace, key: str) -> None:
        """Delete the item; do nothing if there is none.

        Raises:
            StoreUnavailable: The database is unavailable.
        """
        await _begin()
        await self._database.write("delete_item", _identify(tenant, namespace, key))

    async def search(self, tenant: str, namespace: Namespace, search: Search) -> list[Item]:
        """List the items at and below a namespace, oldest first.

        Raises:
            ValueError: An operator of the filter is unknown.
            StoreUnavailable: The database is unavailable.
        """
        passes, now = compile_filter(search.filter), self._clock()
        await _begin()
        place = (json.dumps(tenant), *_find_bounds(namespace), now)
        found: list[tuple[Row, Any]] = []
        if passes is None:
            rows = await self._database.read("search_items", *place, -1.0, 0, search.limit, search.offset)
            found = [(row, json.loads(row[4])) for row in rows]
        elif search.limit:
            left_out = 0
            async for row in self._read_pages(place):
                value = json.loads(row[4])
                if not passes(value):
                    continue
                if left_out < search.offset:
                    left_out += 1
                    continue
                found.append((row, value))
                if len(found) == search.limit:
                    break
        if search.refresh:
            await self._refresh([row for row, _ in found], now)
        return [read_item(_read_namespace(row[2]), json.loads(row[3]), value, *row[5:7]) for row, value in found]

    async def list_namespaces(self, tenant: str, search: NamespaceSearch) -> list[Namespace]:
        """List the namespaces with items, in order.

        Raises:
            StoreUnavailable: The database is unavailable.
        """
        await _begin()
        known = search.prefix[: search.prefix.index(_ANY)] if _ANY in search.prefix else search.prefix
        rows = await self._database.read("list_namespaces", json.dumps(tenant), *_find_bounds(known), self._clock())
        return pick_namespaces((_read_namespace(where) for (where,) in rows), search)

    async def forget(self) -> None:
        """Delete expired items.

        Raises:
            StoreUnavailable: The database is unavailable.
        """
        await self._database.write("forget_items", self._clock())

    async def _read_pages(self, place: Row) -> AsyncIterator[Row]:
        rows = await self._database.read("search_items", *place, -1.0, 0, _PAGE, 0)
        for row in rows:
            yield row
        if len(rows) < _PAGE:
            return
        number, created = rows[-1][1], rows[-1][5]
        while True:
            numbers = await self._database.read("number_items", *place, created, number, _MOST_NUMBERS)
            for start in range(0, len(numbers), _PAGE):
                wanted = [number for number, _ in numbers[start : start + _PAGE]]
                places = ", ".join(f"${number}" for number in range(2, 2 + len(wanted)))
                for row in await self._database.read("show_items", place[-1], *wanted, where=places):
                    yield row
            if len(numbers) < _MOST_NUMBERS:
                return
            number, created = numbers[-1]

    async def _refresh(self, rows: Sequence[Row], now: float) -> None:
        used = [(row[0], now) for row in rows if row[7] is not None]
        if used:
            await self._database.write_all("refresh_item", used)


async def _begin() -> None:
    """Fail before anything is done, for callers that cannot wait."""
    await asyncio.sleep(0)


def _identify(tenant: str, namespace: Namespace, key: str) -> str:
    return hashlib.sha256(json.dumps([tenant, namespace, key]).encode()).hexdigest()


def _write_namespace(namespace: Namespace) -> str:
    return "".join(f"{json.dumps(part)}," for part in namespace)


def _read_namespace(text: str) -> Namespace:
    return tuple(json.loads(f"[{text[:-1]}]"))


def _find_bounds(namespace: Namespace) -> tuple[str, str]:
    """Return between which texts the namespaces below one are, itself among them."""
    text = _write_namespace(namespace)
    return text, f"{text[:-1]}{_AFTER_COMMA}" if text else _BEYOND_ALL
