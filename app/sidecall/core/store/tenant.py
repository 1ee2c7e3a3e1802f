"""The store of one tenant."""

import json
from collections.abc import Coroutine, Mapping
from typing import Any, Self, TypeVar

from sidecall.core.coroutines import WouldWait, await_on, finish_on
from sidecall.core.store.items import Item, Items, Namespace, NamespaceSearch, Search

T = TypeVar("T")

DEFAULT_TENANT = "default"
# Characters of a namespace as JSON; databases keep it in an index, whose entries are bounded.
_MOST_OF_NAMESPACE = 2000


class StoreWouldBlock(RuntimeError):
    """A sync method of the store would have to wait on the event loop, which would then stand still."""


class ItemStore:
    """The store of one tenant, over items that are kept anywhere.

    Its sync methods may be called from any thread. On the event loop they raise StoreWouldBlock, unless nothing has to
    be waited for; what is kept in memory is no exception, so that a tool that works with it works with a database.
    """

    def __init__(self, items: Items, tenant: str = DEFAULT_TENANT) -> None:
        self._items = items
        self._tenant = tenant

    def of(self, tenant: str) -> Self:
        """Return the store of this tenant."""
        return self if tenant == self._tenant else type(self)(self._items, tenant)

    def get(self, namespace: Namespace, key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        """Return the item, None if there is none; it counts as used, unless `refresh_ttl` is false."""
        return self._finish("get", self._get(namespace, key, refresh_ttl))

    def put(self, namespace: Namespace, key: str, value: Any, index: Any = None, *, ttl: Any = None) -> None:  # noqa: ARG002
        """Remember what JSON can say, in place of the value that is there.

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
        self._finish("put", self._put(namespace, key, value, ttl))

    def delete(self, namespace: Namespace, key: str) -> None:
        """Forget the item; nothing happens if there is none."""
        self._finish("delete", self._items.delete(self._tenant, _check(namespace), str(key)))

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
    ) -> list[Item]:
        """List the items at and below a namespace, oldest first, whose value passes the filter.

        Args:
            namespace_prefix: Where to look; `()` is everywhere.
            query: Refused, since this store does not search by meaning.
            filter: What members are, or with `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`, what they are compared with.
            limit: How many to list.
            offset: How many to leave out before.
            refresh_ttl: False, where what is found does not count as used.

        Raises:
            NotImplementedError: There is a `query`.
            ValueError: The filter has an operator that there is not, or a number is negative.
        """
        return self._finish("search", self._search(namespace_prefix, query, filter or {}, limit, offset, refresh_ttl))

    def list_namespaces(
        self,
        *,
        prefix: Namespace | None = None,
        suffix: Namespace | None = None,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Namespace]:
        """List the namespaces that have items, in their order.

        Args:
            prefix: Their first parts, in which `*` stands for any.
            suffix: Their last parts.
            max_depth: How many parts to show; what is then the same is listed once.
            limit: How many to list.
            offset: How many to leave out before.
        """
        search = _wish(prefix, suffix, max_depth, limit, offset)
        return self._finish("list_namespaces", self._items.list_namespaces(self._tenant, search))

    async def aget(self, namespace: Namespace, key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        """Do what `get` does."""
        return await self._wait(self._get(namespace, key, refresh_ttl))

    async def aput(self, namespace: Namespace, key: str, value: Any, index: Any = None, *, ttl: Any = None) -> None:  # noqa: ARG002
        """Do what `put` does."""
        await self._wait(self._put(namespace, key, value, ttl))

    async def adelete(self, namespace: Namespace, key: str) -> None:
        """Do what `delete` does."""
        await self._wait(self._items.delete(self._tenant, _check(namespace), str(key)))

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
    ) -> list[Item]:
        """Do what `search` does."""
        return await self._wait(self._search(namespace_prefix, query, filter or {}, limit, offset, refresh_ttl))

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
        search = _wish(prefix, suffix, max_depth, limit, offset)
        return await self._wait(self._items.list_namespaces(self._tenant, search))

    def _get(self, namespace: Namespace, key: str, refresh: bool | None) -> Coroutine[Any, Any, Item | None]:
        return self._items.get(self._tenant, _check(namespace), str(key), refresh=refresh is not False)

    def _put(self, namespace: Namespace, key: str, value: Any, ttl: Any) -> Coroutine[Any, Any, None]:
        namespace = _check(namespace)
        if value is None:  # As LangGraph's stores have it.
            return self._items.delete(self._tenant, namespace, str(key))
        if len(json.dumps(namespace)) > _MOST_OF_NAMESPACE:
            raise ValueError(f"A namespace takes up to {_MOST_OF_NAMESPACE:,} characters as JSON.")
        return self._items.put(self._tenant, namespace, str(key), value, _read_ttl(ttl))

    def _search(
        self,
        namespace: Namespace,
        query: str | None,
        wanted: Mapping[str, Any],
        limit: int,
        offset: int,
        refresh: bool | None,
    ) -> Coroutine[Any, Any, list[Item]]:
        if query:
            raise NotImplementedError(
                "This store has no embeddings, so it cannot search by meaning: leave out `query`, and use `filter`."
            )
        _refuse_negative(limit, offset)
        search = Search(wanted, limit, offset, refresh is not False)
        return self._items.search(self._tenant, _check(namespace), search)

    async def _wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return await await_on(self._items.loop, coroutine)

    def _finish(self, name: str, coroutine: Coroutine[Any, Any, T]) -> T:
        try:
            return finish_on(self._items.loop, coroutine)
        except WouldWait:
            raise StoreWouldBlock(
                f"store.{name}() has to wait here, which would hold up all other calls; write `await"
                f" store.a{name}(...)` in an async tool, or let a sync one run in a thread."
            ) from None


def _check(namespace: Any) -> Namespace:
    parts = tuple(namespace)
    if isinstance(namespace, str) or not all(isinstance(part, str) for part in parts):
        raise TypeError(f"A namespace is a tuple of texts, as in ('users', 'ada'), and not {namespace!r}.")
    return parts


def _wish(
    prefix: Namespace | None, suffix: Namespace | None, depth: int | None, limit: int, offset: int
) -> NamespaceSearch:
    _refuse_negative(limit, offset, depth or 0)
    return NamespaceSearch(_check(prefix or ()), _check(suffix or ()), depth, limit, offset)


def _refuse_negative(*numbers: int) -> None:
    if min(numbers) < 0:
        raise ValueError("The numbers of a search are not negative.")


def _read_ttl(ttl: Any) -> float | None:
    # LangGraph marks with an object that is false that nothing was given, which is other than its None only where a
    # store has a default.
    if not ttl and ttl != 0:
        return None
    minutes = float(ttl)
    if not 0 < minutes < float("inf"):
        raise ValueError("`ttl` is a number of minutes above 0.")
    return minutes
