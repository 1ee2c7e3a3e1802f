"""The store as tools see it: values under a namespace and a key, of one tenant."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, cast, runtime_checkable

DEFAULT_TENANT = "default"

Namespace = tuple[str, ...]


_Members = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """A stored value, and the times of its creation and last change."""

    namespace: Namespace
    key: str
    value: Any
    created_at: datetime
    updated_at: datetime

    def dict(self) -> _Members:
        """Return its members as JSON values."""
        return {
            "namespace": list(self.namespace),
            "key": self.key,
            "value": self.value,
            "created_at": self.created_at.isoformat(),
            "updated_at": self.updated_at.isoformat(),
        }

    # As of LangGraph's: one that was found is the same as the one that was got, and values need not be hashable.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Item) and Item.dict(self) == Item.dict(other)

    def __hash__(self) -> int:
        return hash((self.namespace, self.key))


@dataclass(frozen=True, slots=True, eq=False)
class SearchItem(Item):
    """A found item, and its score; None if it has none."""

    score: float | None = None

    def dict(self) -> _Members:
        """Return its members as JSON values."""
        return {**Item.dict(self), "score": self.score}


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


# LangGraph's name: what `Annotated[BaseStore, InjectedStore]` is filled with.
BaseStore = Store


class TenantStore:
    """Base of the server's own store; each tenant sees only its own items."""

    def of(self, tenant: str) -> Any:
        """Return the store of this tenant."""
        raise NotImplementedError


def pick_tenant(store: Store | SyncStore | None, tenant: str) -> Store | None:
    """Return this tenant's part of a store; a program's own store is returned unchanged."""
    # Of a sync one the program's own tools know that they cannot await it.
    return store.of(tenant) if isinstance(store, TenantStore) else cast("Store | None", store)
