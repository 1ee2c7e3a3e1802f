"""Validated operations on one tenant's store, single and in batches."""

import json
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from operator import index
from typing import Any, NamedTuple, Self, TypeVar

from sidecall.features.store.items import Items, NamespaceSearch, Search
from sidecall.kernel.concurrency.coroutines import WouldWait, await_on, finish_on
from sidecall.kernel.ports.store import DEFAULT_TENANT, Item, Namespace, SearchItem, TenantStore

_ANY = "*"


class GetOp(NamedTuple):
    """Get an item; `refresh_ttl` renews its time to live."""

    namespace: Namespace
    key: str
    refresh_ttl: bool | None = True


class SearchOp(NamedTuple):
    """List the items at and below a namespace whose value passes the filter."""

    namespace_prefix: Namespace
    filter: Mapping[str, Any] | None = None
    limit: int = 10
    offset: int = 0
    query: str | None = None
    refresh_ttl: bool | None = True


class MatchCondition(NamedTuple):
    """A condition on the beginning (`prefix`) or end (`suffix`) of a namespace; `*` matches any part."""

    match_type: str
    path: Namespace


class ListNamespacesOp(NamedTuple):
    """List the namespaces that have items and meet all conditions."""

    match_conditions: tuple[MatchCondition, ...] | None = None
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0


class PutOp(NamedTuple):
    """Put an item; a value of None deletes it."""

    namespace: Namespace
    key: str
    value: Any
    index: Any = None
    ttl: Any = None


StoreOperation = GetOp | SearchOp | ListNamespacesOp | PutOp

# What only one of them has, or all that come before in this order have not.
_MARKS: Mapping[str, type[StoreOperation]] = {
    "match_conditions": ListNamespacesOp,
    "namespace_prefix": SearchOp,
    "value": PutOp,
    "key": GetOp,
}


def read_store_operation(op: Any) -> StoreOperation:
    """Convert an operation to ours, by its members.

    Raises:
        ValueError: It is none.
    """
    kind: Any = next((kind for mark, kind in _MARKS.items() if hasattr(op, mark)), None)
    if kind is None:
        raise ValueError(
            f"Unknown operation type: {type(op)}; a batch takes GetOp, SearchOp, ListNamespacesOp and PutOp."
        )
    read: StoreOperation = kind(**{name: getattr(op, name) for name in kind._fields if hasattr(op, name)})
    return read


def merge_conditions(conditions: Iterable[Any]) -> tuple[Namespace, Namespace] | None:
    """Merge conditions into one prefix and one suffix; None if they contradict each other.

    Raises:
        ValueError: One is neither about a prefix nor about a suffix.
    """
    paths: dict[str, list[Namespace]] = {"prefix": [], "suffix": []}
    for condition in conditions:
        if condition.match_type not in paths:
            raise ValueError(f"Unknown match type: {condition.match_type!r}; there are prefix and suffix.")
        paths[condition.match_type].append(tuple(condition.path))
    prefix = _merge(paths["prefix"])
    suffix = _merge([path[::-1] for path in paths["suffix"]])
    return None if prefix is None or suffix is None else (prefix, suffix[::-1])


def _merge(paths: list[Namespace]) -> Namespace | None:
    merged = []
    for parts in zip_longest(*paths, fillvalue=_ANY):
        named = {part for part in parts if part != _ANY}
        if len(named) > 1:
            return None
        merged.append(named.pop() if named else _ANY)
    return tuple(merged)


T = TypeVar("T")
# What is left to do of something that has been checked.
_Step = Callable[[], Coroutine[Any, Any, T]]

# What databases can count to.
_MOST = 2**63 - 1
# Characters of a namespace as JSON; databases keep it in an index, whose entries are bounded.
_MOST_OF_NAMESPACE = 2000


class StoreWouldBlock(RuntimeError):
    """A sync method of the store would have to wait on the event loop, which would then stand still."""


class CheckedStore(TenantStore):
    """The items of one tenant; all operations of a batch are validated before any is run."""

    def __init__(self, items: Items, tenant: str = DEFAULT_TENANT) -> None:
        self._items = items
        self._tenant = tenant

    def of(self, tenant: str) -> Self:
        """Return the store of this tenant."""
        return self if tenant == self._tenant else type(self)(self._items, tenant)

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Run several operations: first reads, then writes; results are in the given order.

        Args:
            ops: `GetOp`, `SearchOp`, `ListNamespacesOp`, `PutOp`, LangGraph's too; a `PutOp` of None forgets the item.

        Raises:
            ValueError: There is no such operation, or one asks for what cannot be; then nothing is done.
        """
        return self._finish("batch", self._batch(ops))

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        """Do the same as `batch`."""
        return await self._wait(self._batch(ops))

    def _get(self, namespace: Namespace, key: str, refresh: bool | None) -> _Step[Item | None]:
        return partial(self._items.get, self._tenant, _check(namespace), str(key), refresh=refresh is not False)

    def _delete(self, namespace: Namespace, key: str) -> _Step[None]:
        return partial(self._items.delete, self._tenant, _check(namespace), str(key))

    def _put(self, namespace: Namespace, key: str, value: Any, ttl: Any) -> _Step[None]:
        if value is None:  # As LangGraph's stores have it.
            return self._delete(namespace, key)
        namespace = _check(namespace)
        if len(json.dumps(namespace)) > _MOST_OF_NAMESPACE:
            raise ValueError(f"A namespace takes up to {_MOST_OF_NAMESPACE:,} characters as JSON.")
        return partial(self._items.put, self._tenant, namespace, str(key), value, _read_ttl(ttl))

    def _search(self, op: SearchOp) -> _Step[list[SearchItem]]:
        if op.query:
            raise NotImplementedError(
                "This store has no embeddings, so it cannot search by meaning: leave out `query`, and use `filter`."
            )
        limit, offset = _count("limit", op.limit), _count("offset", op.offset)
        search = Search(op.filter or {}, limit, offset, op.refresh_ttl is not False)
        return partial(self._find, _check(op.namespace_prefix), search)

    async def _find(self, namespace: Namespace, search: Search) -> list[SearchItem]:
        found = await self._items.search(self._tenant, namespace, search)
        return [SearchItem(it.namespace, it.key, it.value, it.created_at, it.updated_at) for it in found]

    def _list_namespaces(self, op: ListNamespacesOp) -> _Step[list[Namespace]]:
        return partial(self._items.list_namespaces, self._tenant, _wish(op))

    def _batch(self, ops: Iterable[Any]) -> _Step[list[Any]]:
        read = [read_store_operation(op) for op in ops]
        # Each is checked before the first is done.
        steps = [self._prepare(op) for op in read]
        return partial(_do_all, steps, [isinstance(op, PutOp) for op in read])

    def _prepare(self, op: StoreOperation) -> _Step[Any]:
        match op:
            case GetOp():
                return self._get(*op)
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._list_namespaces(op)
            case PutOp():
                return self._put(op.namespace, op.key, op.value, op.ttl)

    async def _wait(self, step: _Step[T]) -> T:
        return await await_on(self._items.loop, step())

    def _finish(self, name: str, step: _Step[T]) -> T:
        try:
            return finish_on(self._items.loop, step())
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


def name_place(namespace: Any) -> Namespace:
    """Validate a namespace for writing.

    Batch operations skip this, as in LangGraph's stores, so that older items elsewhere can still be moved.

    Raises:
        TypeError: It is no tuple of texts.
        ValueError: It is empty, or one of its parts is, or has a NUL.
    """
    parts = _check(namespace)
    if not parts or not all(parts) or any("\0" in part for part in parts):
        raise ValueError(
            "A namespace has one part at least, and none that is empty or has a NUL, as in ('users', 'ada'), and is"
            f" not {namespace!r}."
        )
    return parts


def _wish(op: ListNamespacesOp) -> NamespaceSearch:
    depth = None if op.max_depth is None else _count("max_depth", op.max_depth)
    limit, offset = _count("limit", op.limit), _count("offset", op.offset)
    conditions = [MatchCondition(it.match_type, _check(it.path)) for it in op.match_conditions or ()]
    merged = merge_conditions(conditions)
    if merged is None:
        return NamespaceSearch((), (), depth, 0, 0)
    return NamespaceSearch(*merged, depth, limit, offset)


async def _do_all(steps: Sequence[_Step[Any]], writes: Sequence[bool]) -> list[Any]:
    """Run reads, then writes, like LangGraph's stores; the results are in the order of the steps."""
    results: list[Any] = [None] * len(steps)
    for is_write in (False, True):
        for place, step in enumerate(steps):
            if writes[place] == is_write:
                results[place] = await step()
    return results


def _count(name: str, number: Any) -> int:
    """Validate a number of a search, before the database fails with its own error."""
    try:
        count = index(number)
    except TypeError:
        raise TypeError(f"`{name}` is a whole number, and not {number!r}.") from None
    if not 0 <= count <= _MOST:
        raise ValueError(f"`{name}` is not negative, and at most {_MOST:,}.")
    return count


def _read_ttl(ttl: Any) -> float | None:
    # LangGraph marks with an object that is false that nothing was given, which is other than its None only where a
    # store has a default.
    if not ttl and ttl != 0:
        return None
    minutes = float(ttl)
    if not 0 < minutes < float("inf"):
        raise ValueError("`ttl` is a number of minutes above 0.")
    return minutes
