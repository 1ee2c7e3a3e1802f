"""What tools remember, kept in this process until it ends."""

import copy
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sidecall.core.store import Item, Namespace, Search

_Place = tuple[str, Namespace, str]


class MemoryItems:
    """Keep items in a dictionary; its methods never wait and are safe to run in any thread.

    Values are copied on their way in and out, so that no tool changes what another one reads.
    """

    loop = None

    def __init__(self) -> None:
        self._items: dict[_Place, Item] = {}
        self._lock = threading.Lock()

    async def get(self, tenant: str, namespace: Namespace, key: str) -> Item | None:
        """Return the item, None if there is none."""
        with self._lock:
            return copy.deepcopy(self._items.get((tenant, namespace, key)))

    async def put(self, tenant: str, namespace: Namespace, key: str, value: Any) -> None:
        """Keep a value, in place of the one that is there."""
        place = (tenant, namespace, key)
        now = datetime.now(UTC)
        with self._lock:
            before = self._items.get(place)
            created = before.created_at if before is not None else now
            self._items[place] = Item(namespace, key, copy.deepcopy(value), created, now)

    async def delete(self, tenant: str, namespace: Namespace, key: str) -> None:
        """Remove the item; nothing happens if there is none."""
        with self._lock:
            self._items.pop((tenant, namespace, key), None)

    async def search(self, tenant: str, namespace: Namespace, search: Search) -> list[Item]:
        """List the items at and below a namespace, oldest first."""
        with self._lock:
            found = [
                item
                for (owner, _, _), item in self._items.items()
                if owner == tenant and _matches(item, namespace, search.members)
            ]
        ordered = sorted(found, key=lambda item: item.created_at)
        return copy.deepcopy(ordered[search.offset : search.offset + search.limit])


def _matches(item: Item, namespace: Namespace, members: Mapping[str, Any]) -> bool:
    if item.namespace[: len(namespace)] != namespace:
        return False
    value = item.value if isinstance(item.value, Mapping) else {}
    return all(name in value and value[name] == member for name, member in members.items())
