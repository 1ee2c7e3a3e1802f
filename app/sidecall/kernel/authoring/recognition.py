"""Recognize tools and toolkits, those of other libraries too, and collections of them."""

from collections import UserDict, UserList, deque
from collections.abc import Callable, Iterable, Iterator
from types import MappingProxyType
from typing import Any

from sidecall.compat.foreign.adopt import find_lister, is_foreign_tool, is_foreign_toolkit
from sidecall.compat.foreign.declared import adopt_declaration
from sidecall.compat.foreign.hosted_tool import HostedTool
from sidecall.kernel.authoring.tool import BaseTool
from sidecall.kernel.authoring.toolkit import BaseToolkit

_BY_NAME = (dict, MappingProxyType, UserDict)
COLLECTIONS: tuple[type[Any], ...] = (list, tuple, set, frozenset, deque, UserList, type({}.values()), *_BY_NAME)
# Of collections in collections; deeper, something else than tools is kept.
_DEPTH = 3


def is_tool(item: object) -> bool:
    """Return whether this is a tool, also of another library."""
    return isinstance(item, BaseTool | HostedTool) or is_foreign_tool(item) or adopt_declaration(item) is not None


def is_toolkit(item: object) -> bool:
    """Return whether this is a group of tools that lists them itself."""
    return isinstance(item, BaseToolkit) or is_foreign_toolkit(item)


def get_lister(toolkit: Any) -> Callable[[], Any]:
    """Return what lists the tools of a toolkit."""
    return find_lister(toolkit) or toolkit.get_tools


def list_held(item: object) -> list[Any]:
    """List the tools and toolkits in a collection, in order; return none if it holds anything else."""
    if not isinstance(item, COLLECTIONS):
        return []
    held = []
    for it in walk(item):
        if not (is_tool(it) or is_toolkit(it)):
            return []
        held.append(it)
    # A set has an order of its own in each process.
    return sorted(held, key=lambda it: str(getattr(it, "name", ""))) if isinstance(item, set | frozenset) else held


def walk(items: Iterable[Any], depth: int = _DEPTH) -> Iterator[Any]:
    """Yield the items of a collection and of nested collections; for a dict, its values."""
    for it in items.values() if isinstance(items, _BY_NAME) else items:
        if isinstance(it, COLLECTIONS) and depth:
            yield from walk(it, depth - 1)
        else:
            yield it
