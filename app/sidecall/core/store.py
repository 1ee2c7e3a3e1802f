"""What tools may remember from call to call."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

Namespace = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """Hold one remembered value and when it was made and changed."""

    namespace: Namespace
    key: str
    value: Any
    created_at: datetime
    updated_at: datetime


@runtime_checkable
class Store(Protocol):
    """Remember values under a namespace and a key, as LangGraph's BaseStore does."""

    def get(self, namespace: Namespace, key: str) -> Item | None:
        """Return the item, None if there is none."""

    def put(self, namespace: Namespace, key: str, value: Any) -> None:
        """Remember a value, in place of the one that is there."""

    def delete(self, namespace: Namespace, key: str) -> None:
        """Forget the item; nothing happens if there is none."""

    def search(
        self, namespace: Namespace, *, filter: Mapping[str, Any] | None = None, limit: int = 10, offset: int = 0
    ) -> list[Item]:
        """List the items at and below a namespace, oldest first, whose value has these members."""
