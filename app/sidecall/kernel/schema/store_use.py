"""Detect whether an async tool's code uses the store's blocking methods."""

import dis
import inspect
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from types import CodeType
from typing import Any

from sidecall.kernel.core.injection import Injection

# Methods of LangGraph's stores with an async variant.
_METHODS = frozenset(("get", "put", "delete", "search", "list_namespaces", "batch"))
# From which a tool has a store: as a parameter of its own, or as a member of its runtime or context.
_SOURCES = frozenset(("store", "made", "tool_context"))
_MEMBER = "store"


def waits_for_store(function: Callable[..., Any], injections: Iterable[Injection]) -> bool:
    """Return whether a function calls a blocking method of its store, as `runtime.store.put(...)` does.

    On the event loop such a call would block all others, so its tool runs in a thread. Calls in other functions are not
    seen.
    """
    given = [it for it in injections if it.source in _SOURCES]
    code = getattr(getattr(inspect.unwrap(function), "__func__", inspect.unwrap(function)), "__code__", None)
    if not given or not isinstance(code, CodeType):
        return False
    stores = {_MEMBER, *(it.parameter for it in given if it.source == "store")}
    return any(
        holder.argval in stores and used.argval in _METHODS and used.opname in ("LOAD_ATTR", "LOAD_METHOD")
        for one in _list_code(code)
        for holder, used in pairwise(dis.get_instructions(one))
    )


def _list_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _list_code(const)
