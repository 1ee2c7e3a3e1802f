"""Filters of the store's items, such as `{"length": {"$gt": 3}}`, and of its namespaces."""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sidecall.features.store.items import NamespaceSearch
from sidecall.kernel.ports.store import Namespace

Passes = Callable[[Any], bool]

_SIGN = "$"

_ANY = "*"


def compile_filter(wanted: Mapping[str, Any]) -> Passes | None:
    """Compile a filter into a test for values; None if every value passes.

    A member is compared for equality, or with operators such as `{"$gt": 1, "$lte": 9}`; a mapping without operators
    filters the member's own members. A member that is missing counts as None. Numbers are compared with numbers and
    texts with texts; other types have no order.

    Raises:
        ValueError: An operator is unknown.
    """
    if not wanted:
        return None
    parts = {name: _compile(member) for name, member in wanted.items()}
    return lambda value: isinstance(value, dict) and all(passes(value.get(name)) for name, passes in parts.items())


def _compile(wanted: Any) -> Passes:
    if isinstance(wanted, Mapping):
        if any(name.startswith(_SIGN) for name in wanted):
            return _compile_operators(wanted)
        members = compile_filter(wanted)
        return members or (lambda value: isinstance(value, dict))
    if isinstance(wanted, (list, tuple)):
        return _compile_list([_compile(part) for part in wanted])
    return lambda value: bool(value == wanted)


def _compile_list(parts: Sequence[Passes]) -> Passes:
    def passes(value: Any) -> bool:
        if not isinstance(value, list) or len(value) != len(parts):
            return False
        return all(part(one) for part, one in zip(parts, value, strict=True))

    return passes


def _compile_operators(wanted: Mapping[str, Any]) -> Passes:
    unknown = wanted.keys() - _OPERATORS.keys()
    if unknown:
        raise ValueError(f"Unsupported operator: {sorted(unknown)[0]}; there are {', '.join(_OPERATORS)}.")
    parts = [(_OPERATORS[name], other) for name, other in wanted.items()]
    return lambda value: all(compare(value, other) for compare, other in parts)


def _if_comparable(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def passes(value: Any, other: Any) -> bool:
        for kind in (str, (int, float)):
            if isinstance(value, kind) and isinstance(other, kind):
                return compare(value, other)
        return False

    return passes


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": _if_comparable(operator.gt),
    "$gte": _if_comparable(operator.ge),
    "$lt": _if_comparable(operator.lt),
    "$lte": _if_comparable(operator.le),
}


def pick_namespaces(namespaces: Iterable[Namespace], search: NamespaceSearch) -> list[Namespace]:
    """Return those that a search wants, in their order."""
    found = {
        namespace[: search.depth]
        for namespace in namespaces
        if _begins(namespace, search.prefix) and _begins(namespace[::-1], search.suffix[::-1])
    }
    return sorted(found)[search.offset : search.offset + search.limit]


def _begins(namespace: Namespace, parts: Namespace) -> bool:
    return len(namespace) >= len(parts) and all(
        part in (_ANY, own) for own, part in zip(namespace, parts, strict=False)
    )
