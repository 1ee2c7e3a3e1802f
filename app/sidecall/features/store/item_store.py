"""The store of one tenant."""

from collections.abc import Mapping
from typing import Any

from sidecall.features.store.operations import CheckedStore, ListNamespacesOp, MatchCondition, SearchOp, name_place
from sidecall.kernel.ports.store import Item, Namespace, SearchItem


class ItemStore(CheckedStore):
    """The store of one tenant, over any storage of items.

    Its sync methods may be called from any thread. On the event loop they work only if they need not wait, and raise
    StoreWouldBlock otherwise.
    """

    def get(self, namespace: Namespace, key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        """Return the item, or None; `refresh_ttl` renews its time to live."""
        return self._finish("get", self._get(namespace, key, refresh_ttl))

    def put(self, namespace: Namespace, key: str, value: Any, index: Any = None, *, ttl: Any = None) -> None:  # noqa: ARG002
        """Store a JSON value, replacing the present one.

        Args:
            namespace: Where it is: a tuple of texts.
            key: Its name there.
            value: What to remember; None forgets the item.
            index: For stores that search by meaning; this one does not.
            ttl: Minutes after its last use when it is forgotten; None keeps it for ever.

        Raises:
            StoreFull: There is no room for it.
            ItemTooLarge: One item takes no so many bytes.
            TypeError: JSON cannot say it.
            ValueError: JSON cannot say it, or the namespace is too long.
        """
        self._finish("put", self._put(name_place(namespace), key, value, ttl))

    def delete(self, namespace: Namespace, key: str) -> None:
        """Delete the item, if it exists."""
        self._finish("delete", self._delete(namespace, key))

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
        """List the items at and below a namespace whose value passes the filter, oldest first.

        Args:
            namespace_prefix: Where to look; `()` is everywhere.
            query: Refused, since this store does not search by meaning.
            filter: What members are, or with `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`, what they are compared with.
            limit: How many to list.
            offset: How many to leave out before.
            refresh_ttl: False, where what is found does not count as used.

        Raises:
            NotImplementedError: There is a `query`.
            TypeError: A number is not whole.
            ValueError: The filter has an operator that there is not, or a number is negative, or too large to count to.
        """
        op = SearchOp(namespace_prefix, filter, limit, offset, query, refresh_ttl)
        return self._finish("search", self._search(op))

    def list_namespaces(
        self,
        *,
        prefix: Namespace | None = None,
        suffix: Namespace | None = None,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Namespace]:
        """List the namespaces that have items, in order.

        Args:
            prefix: Their first parts, in which `*` stands for any.
            suffix: Their last parts.
            max_depth: How many parts to show; what is then the same is listed once.
            limit: How many to list.
            offset: How many to leave out before.

        Raises:
            TypeError: A number is not whole.
            ValueError: A number is negative, or too large to count to.
        """
        op = _write_wish(prefix, suffix, max_depth, limit, offset)
        return self._finish("list_namespaces", self._list_namespaces(op))

    async def aget(self, namespace: Namespace, key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        """Do the same as `get`."""
        return await self._wait(self._get(namespace, key, refresh_ttl))

    async def aput(self, namespace: Namespace, key: str, value: Any, index: Any = None, *, ttl: Any = None) -> None:  # noqa: ARG002
        """Do the same as `put`."""
        await self._wait(self._put(name_place(namespace), key, value, ttl))

    async def adelete(self, namespace: Namespace, key: str) -> None:
        """Do the same as `delete`."""
        await self._wait(self._delete(namespace, key))

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
        op = SearchOp(namespace_prefix, filter, limit, offset, query, refresh_ttl)
        return await self._wait(self._search(op))

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
        op = _write_wish(prefix, suffix, max_depth, limit, offset)
        return await self._wait(self._list_namespaces(op))


def _write_wish(
    prefix: Namespace | None, suffix: Namespace | None, depth: int | None, limit: int, offset: int
) -> ListNamespacesOp:
    conditions = (MatchCondition("prefix", prefix or ()), MatchCondition("suffix", suffix or ()))
    return ListNamespacesOp(conditions, depth, limit, offset)
