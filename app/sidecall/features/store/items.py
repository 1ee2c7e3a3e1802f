"""What a storage of items offers of all tenants, and how it is searched."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from msgspec import Struct

from sidecall.kernel.ports.store import Item, Namespace


class Search(Struct, frozen=True):
    """A search: `limit` items that pass the filter, after the first `offset`.

    `refresh` renews the time to live of the found items.
    """

    filter: Mapping[str, Any]
    limit: int
    offset: int
    refresh: bool = True


@dataclass(frozen=True, slots=True)
class NamespaceSearch:
    """A search for namespaces by prefix and suffix, in which `*` matches any part.

    Results are cut after `depth` parts, and duplicates removed.
    """

    prefix: Namespace
    suffix: Namespace
    depth: int | None
    limit: int
    offset: int


class Items(Protocol):
    """Stores the items of all tenants; each tenant has its own."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """The event loop on which the methods must run; None if they never wait and are thread-safe."""

    async def get(self, tenant: str, namespace: Namespace, key: str, *, refresh: bool = True) -> Item | None:
        """Return the item, or None; `refresh` renews its time to live."""

    async def put(self, tenant: str, namespace: Namespace, key: str, value: Any, ttl: float | None = None) -> None:
        """Store a value, replacing the present one; the item keeps its time of creation.

        Args:
            tenant: Whose it is.
            namespace: Where it is.
            key: Its name there.
            value: Anything that JSON can say.
            ttl: Minutes after its last use when it is forgotten; None keeps it for ever.

        Raises:
            StoreFull: There is no room for it.
            ItemTooLarge: One item takes no so many bytes.
            TypeError: JSON cannot say it.
            ValueError: JSON cannot say it, NaN for instance.
        """

    async def delete(self, tenant: str, namespace: Namespace, key: str) -> None:
        """Delete the item, if it exists."""

    async def search(self, tenant: str, namespace: Namespace, search: Search) -> list[Item]:
        """List the items at and below a namespace, oldest first.

        Raises:
            ValueError: The filter has an operator that there is not.
        """

    async def list_namespaces(self, tenant: str, search: NamespaceSearch) -> list[Namespace]:
        """List the namespaces that have items, in order."""


class StoreFull(RuntimeError):
    """The tools of this server remember as much as they may (SIDECALL_MAX_STORE_BYTES)."""

    def __init__(self) -> None:
        super().__init__(self.__doc__)


class ItemTooLarge(ValueError):
    """An item is larger than one may be."""

    def __init__(self, size: int, most: int) -> None:
        super().__init__(f"The value takes {size:,} bytes as JSON, and an item of the store up to {most:,}.")
