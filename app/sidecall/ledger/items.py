"""Remember in this process, until it ends."""

import copy
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sidecall.core.store import Item, Namespace


class MemoryStore:
    """Keep items in a dictionary; safe to use from threads.

    Values are copied on their way in and out, so that no tool changes what another one reads.
    """

    def __init__(self) -> None:
        self._items: dict[tuple[Namespace, str], Item] = {}
        self._lock = threading.Lock()

    def get(self, namespace: Namespace, key: str) -> Item | None:
        """Return the item, None if there is none."""
        with self._lock:
            return copy.deepcopy(self._items.get((tuple(namespace), key)))

    def put(self, namespace: Namespace, key: str, value: Any) -> None:
        """Remember a value, in place of the one that is there."""
        place = (tuple(namespace), key)
        now = datetime.now(UTC)
        with self._lock:
            before = self._items.get(place)
            created = before.created_at if before is not None else now
            self._items[place] = Item(*place, copy.deepcopy(value), created, now)

    def delete(self, namespace: Namespace, key: str) -> None:
        """Forget the item; nothing happens if there is none."""
        with self._lock:
            self._items.pop((tuple(namespace), key), None)

    def search(
        self, namespace: Namespace, *, filter: Mapping[str, Any] | None = None, limit: int = 10, offset: int = 0
    ) -> list[Item]:
        """List the items at and below a namespace, oldest first, whose value has these members."""
        with self._lock:
            found = [item for item in self._items.values() if _matches(item, tuple(namespace), filter or {})]
        return copy.deepcopy(sorted(found, key=lambda item: item.created_at)[offset : offset + limit])


def _matches(item: Item, namespace: Namespace, wanted: Mapping[str, Any]) -> bool:
    if item.namespace[: len(namespace)] != namespace:
        return False
    value = item.value if isinstance(item.value, Mapping) else {}
    return all(name in value and value[name] == member for name, member in wanted.items())
