"""The store that tools use to remember values between calls."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, cast, runtime_checkable

from sidecall.kernel.ports.store_items import Item, Namespace, SearchItem
from sidecall.kernel.ports.tenant_store import ItemStore


class SyncStore(Protocol):
    """The methods that a program's own store must have to be passed to a tool."""

    def get(self, namespace: Namespace, key: str) -> Item | None:
        """Return the item, or None."""

    def put(self, namespace: Namespace, key: str, value: Any) -> None:
        """Remember a value, in place of the one that is there."""

    def delete(self, namespace: Namespace, key: str) -> None:
        """Delete the item, if it exists."""

    def search(
        self, namespace: Namespace, /, *, filter: Mapping[str, Any] | None = None, limit: int = 10, offset: int = 0
    ) -> Sequence[Item]:
        """List the items at and below a namespace whose value has these members, oldest first."""


@runtime_checkable
class Store(SyncStore, Protocol):
    """Remember values under a namespace and a key, as LangGraph's BaseStore does.

    Async tools use the methods that begin with an `a`; the others are for tools that run in a thread.
    """

    def get(self, namespace: Namespace, key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        """Return the item, or None; `refresh_ttl` renews its time to live."""

    def put(self, namespace: Namespace, key: str, value: Any, index: Any = None, *, ttl: Any = None) -> None:
        """Remember what JSON can say, in place of the value that is there.

        Args:
            namespace: Where it is: a tuple of texts.
            key: Its name there.
            value: What to remember.
            index: For stores that search by meaning; this one does not.
            ttl: Minutes after its last use when it is forgotten; None keeps it for ever.
        """

    def search(
        self,
        namespace_prefix: Namespace,
        /,
        *,
        query: str | None = None,
        filter: Mapping[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]:
        """List the items at and below a namespace whose value passes the filter, oldest first."""

    def list_namespaces(
        self,
        *,
        prefix: Namespace | None = None,
        suffix: Namespace | None = None,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Namespace]:
        """List the namespaces that have items, filtered by prefix and suffix, in which `*` matches any part."""

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Do several things at once, first what reads, then what writes, and answer each in its place."""

    async def aget(self, namespace: Namespace, key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        """Do what `get` does."""

    async def aput(self, namespace: Namespace, key: str, value: Any, index: Any = None, *, ttl: Any = None) -> None:
        """Do what `put` does."""

    async def adelete(self, namespace: Namespace, key: str) -> None:
        """Do what `delete` does."""

    async def asearch(
        self,
        namespace_prefix: Namespace,
        /,
        *,
        query: str | None = None,
        filter: Mapping[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]:
        """Do what `search` does."""

    async def alist_namespaces(
        self,
        *,
        prefix: Namespace | None = None,
        suffix: Namespace | None = None,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Namespace]:
        """Do what `list_namespaces` does."""

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        """Do what `batch` does."""


def pick_tenant(store: Store | SyncStore | None, tenant: str) -> Store | None:
    """Return this tenant's part of a store; a program's own store is returned unchanged."""
    # Of a sync one the program's own tools know that they cannot await it.
    return store.of(tenant) if isinstance(store, ItemStore) else cast("Store | None", store)
