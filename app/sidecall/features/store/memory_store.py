"""The store in this process's memory."""

import json
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from msgspec import Struct

from sidecall.features.store.filters import compile_filter, pick_namespaces
from sidecall.features.store.items import ItemTooLarge, NamespaceSearch, Search, StoreFull
from sidecall.kernel.ports.store import Item, Namespace

# Bytes of one item's value.
MOST_ITEM_BYTES = 1024 * 1024

MINUTE = 60.0


def write_value(value: Any, most: int) -> str:
    """Return a value as ASCII JSON, which every database can store.

    Raises:
        ItemTooLarge: It takes more than `most` bytes.
        TypeError: JSON cannot represent it.
        ValueError: JSON cannot represent it.
    """
    try:
        text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    except TypeError as error:
        raise TypeError(f"The store keeps what JSON can say: {error}.") from None
    except RecursionError:
        raise ValueError("The store keeps what JSON can say: the value is nested too deeply.") from None
    if len(text) > most:
        raise ItemTooLarge(len(text), most)
    return text


def read_item(namespace: Namespace, key: str, value: Any, created: float, updated: float) -> Item:
    """Return an item of a value that was read."""
    return Item(namespace, key, value, datetime.fromtimestamp(created, UTC), datetime.fromtimestamp(updated, UTC))


_Place = tuple[str, Namespace, str]

# Bytes of an entry besides its content: its place in the dictionary.
_BESIDE = 256


class _Entry(Struct):
    text: str
    created: float
    updated: float
    ttl: float | None
    expires: float
    taken: int = 0

    def use(self, now: float) -> None:
        if self.ttl is not None:
            self.expires = now + self.ttl * MINUTE


class MemoryItems:
    """Keep items of `most` bytes together; its methods never block and are thread-safe.

    One item's value takes up to `most_of_one` bytes.
    """

    loop = None

    def __init__(
        self,
        most: int = 16 * 1024 * 1024,
        most_of_one: int = MOST_ITEM_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._entries: dict[_Place, _Entry] = {}
        self._most = most
        self._taken = 0
        self._most_of_one = most_of_one
        self._clock = clock
        self._lock = threading.Lock()

    async def get(self, tenant: str, namespace: Namespace, key: str, *, refresh: bool = True) -> Item | None:
        """Return the item, None if there is none."""
        with self._lock:
            now = self._clock()
            entry = self._entries.get((tenant, namespace, key))
            if entry is None or entry.expires <= now:
                return None
            if refresh:
                entry.use(now)
            return read_item(namespace, key, json.loads(entry.text), entry.created, entry.updated)

    async def put(self, tenant: str, namespace: Namespace, key: str, value: Any, ttl: float | None = None) -> None:
        """Store a value, replacing an earlier one, until `ttl` minutes after its last use.

        Raises:
            StoreFull: There is no room for it; the earlier one stays.
            ItemTooLarge: The value is larger than an item may be.
            TypeError: JSON cannot represent it.
            ValueError: JSON cannot represent it.
        """
        text = write_value(value, self._most_of_one)
        place = (tenant, namespace, key)
        with self._lock:
            now = self._clock()
            before = self._entries.get(place)
            if before is not None and before.expires <= now:
                self._remove(place)
                before = None
            entry = _Entry(text, now if before is None else before.created, now, ttl, math.inf)
            entry.use(now)
            entry.taken = weigh(place, entry) + _BESIDE
            more = entry.taken - (0 if before is None else before.taken)
            if more > 0 and self._taken + more > self._most:
                self._forget(now)
                if self._taken + more > self._most:
                    raise StoreFull
            self._taken += more
            self._entries[place] = entry

    async def delete(self, tenant: str, namespace: Namespace, key: str) -> None:
        """Delete the item; do nothing if there is none."""
        with self._lock:
            self._remove((tenant, namespace, key))

    async def search(self, tenant: str, namespace: Namespace, search: Search) -> list[Item]:
        """List the items at and below a namespace, oldest first.

        Raises:
            ValueError: An operator of the filter is unknown.
        """
        passes = compile_filter(search.filter)
        with self._lock:
            now = self._clock()
            living = self._list(tenant, namespace, now)
            wanted = ((place, entry) for place, entry in living if passes is None or passes(json.loads(entry.text)))
            # Sliced twice, since the sum of both numbers may be too large for islice.
            found = list(islice(islice(wanted, search.offset, None), search.limit))
            if search.refresh:
                for _, entry in found:
                    entry.use(now)
        return [
            read_item(where, key, json.loads(entry.text), entry.created, entry.updated)
            for (_, where, key), entry in found
        ]

    async def list_namespaces(self, tenant: str, search: NamespaceSearch) -> list[Namespace]:
        """List the namespaces that have items, in their order."""
        with self._lock:
            return pick_namespaces((place[1] for place, _ in self._list(tenant, (), self._clock())), search)

    def _list(self, tenant: str, namespace: Namespace, now: float) -> Iterator[tuple[_Place, _Entry]]:
        depth = len(namespace)
        for place, entry in self._entries.items():
            if place[0] == tenant and place[1][:depth] == namespace and entry.expires > now:
                yield place, entry

    def _forget(self, now: float) -> None:
        for place in [place for place, entry in self._entries.items() if entry.expires <= now]:
            self._remove(place)

    def _remove(self, place: _Place) -> None:
        entry = self._entries.pop(place, None)
        if entry is not None:
            self._taken -= entry.taken


# Types whose values hold no others.
_PLAIN = frozenset((str, bytes, int, float, bool, type(None)))


def weigh(*values: Any) -> int:
    """Return the bytes of values and everything that they hold; shared objects count once."""
    seen: set[int] = set()
    size = 0
    left = list(values)
    while left:
        value = left.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        size += sys.getsizeof(value, 64)
        if type(value) not in _PLAIN:
            left.extend(_parts(value))
    return size


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value.keys()
        yield from value.values()
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from value
    yield from getattr(value, "__dict__", {}).values()
    yield from (getattr(value, name, None) for kind in type(value).__mro__ for name in _slots(kind))


def _slots(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)
