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
        """Store a value, replacing the present one."""

    def delete(self, namespace: Namespace, key: str) -> None:
        """Delete the item, if it exists."""

    def search(
        self, namespace: Namespace, /, *, filter: Mapping[str, Any] | None = None, limit: int = 10, offset: int = 0
    ) -> Sequence[Item]:
        """List the items at and below a namespace whose value has these members, oldest first."""


@runtime_checkable
class Store(SyncStore, Protocol):
    """A store of values under a namespace and a key, like LangGraph's BaseStore.

    Async tools use the methods that begin with an `a`; the others are for tools that run in a thread.
    """

    def get(self, namespace: Namespace, key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        """Return the item, or None; `refresh_ttl` renews its time to live."""

    def put(self, namespace: Namespace, key: str, value: Any, index: Any = None, *, ttl: Any = None) -> None:
        """Store a JSON value, replacing the present one.

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
        """Run several operations: first reads, then writes; results are in the given order."""

    async def aget(self, namespace: Namespace, key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        """Do the same as `get`."""

    async def aput(self, namespace: Namespace, key: str, value: Any, index: Any = None, *, ttl: Any = None) -> None:
        """Do the same as `put`."""

    async def adelete(self, namespace: Namespace, key: str) -> None:
        """Do the same as `delete`."""

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
        """Do the same as `search`."""

    async def alist_namespaces(
        self,
        *,
        prefix: Namespace | None = None,
        suffix: Namespace | None = None,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Namespace]:
        """Do the same as `list_namespaces`."""

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        """Do the same as `batch`."""


def pick_tenant(store: Store | SyncStore | None, tenant: str) -> Store | None:
    """Return this tenant's part of a store; a program's own store is returned unchanged."""
    # Of a sync one the program's own tools know that they cannot await it.
    return store.of(tenant) if isinstance(store, ItemStore) else cast("Store | None", store)
