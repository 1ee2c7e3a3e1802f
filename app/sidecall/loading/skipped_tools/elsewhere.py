"""Find a module's tools of libraries that are not supported."""

import inspect
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from types import ModuleType
from typing import Any

from sidecall.compat.foreign.elsewhere import explain_elsewhere, find_name
from sidecall.loading.offers import COLLECTIONS, walk

# Where an object keeps the tools that it holds.
_HOLDERS = ("functions", "tools", "spec_functions", "_tools_by_name")
# A list of tools is short; others are not looked through.
_MOST_LOOKED_AT = 100
_DEPTH = 3


def find_elsewhere(
    module: ModuleType, public: Mapping[str, Any], offered: Iterable[Any] = ()
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Find tools of other libraries, also in collections: their name in the module, the replacement, their own name.

    Args:
        module: Where they stand.
        public: Its public names that are not offered.
        offered: Those that are.
    """
    seen: set[int] = set()
    own = {name: it for name, it in public.items() if not isinstance(it, COLLECTIONS)}
    rest = {name: it for name, it in public.items() if isinstance(it, COLLECTIONS)}
    known = [*own.values(), *(one for it in offered for one in (walk(it) if isinstance(it, COLLECTIONS) else (it,)))]
    for name, thing in (*own.items(), *rest.items()):
        for written, it in _walk(name, thing, _DEPTH):
            is_new = id(it) not in seen and not _is_of_others(module, it, known)
            seen.add(id(it))
            reached = f"{written}()" if isinstance(it, type) else written
            text = explain_elsewhere(it, reached) if is_new else None
            if text is not None:
                yield name, f"{written} is not offered: {text}", _list_names(it) or (name,)


def _walk(written: str, thing: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield an object as a program writes it; for a collection, its items."""
    if not isinstance(thing, COLLECTIONS) or not depth:
        yield written, thing
        return
    for key, it in islice(thing.items() if hasattr(thing, "items") else enumerate(thing), _MOST_LOOKED_AT):
        yield from _walk(f"{written}[{key!r}]", it, depth - 1)


def _is_of_others(module: ModuleType, thing: Any, own: Collection[Any]) -> bool:
    """Return whether a class was only imported, or is represented by instances in the module."""
    if not isinstance(thing, type):
        return False
    # Not asked with isinstance(), which a TypedDict and most protocols refuse.
    return thing.__module__ != module.__name__ or any(kind is thing for it in own for kind in type(it).__mro__)


def _list_names(thing: Any) -> tuple[str, ...]:
    """List the names of the tools in an object, without calling it; else its own name."""
    for holder in _HOLDERS:
        held = inspect.getattr_static(thing, holder, None)
        if isinstance(held, dict):
            return tuple(map(str, held))
        if isinstance(held, list | tuple):
            return tuple(it if isinstance(it, str) else find_name(it) for it in held)
    name = find_name(thing)
    return (name,) if name else ()
