"""Operations of a store's batch, in LangGraph's form; its own objects are accepted too."""

from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any, NamedTuple

from sidecall.kernel.ports.store_items import Namespace

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
