"""Find what a module seems to offer and does not, with its line and what to write in its place."""

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from types import FunctionType, ModuleType
from typing import Any

from sidecall.authoring.foreign.declared import explain_not_offered
from sidecall.authoring.foreign.hosted_tool import HostedTool
from sidecall.authoring.offers import find_public, is_offer, is_tool
from sidecall.authoring.omissions.lines import find_place
from sidecall.authoring.tool import BaseTool
from sidecall.authoring.toolkit import BaseToolkit
from sidecall.dataclasses import dataclass
from sidecall.registry import Registry


@dataclass(frozen=True, slots=True)
class Omission:
    """Something that is not offered: where it stands, why, and the tools in it, which may be offered elsewhere."""

    place: str
    text: str
    tools: tuple[str, ...] = ()


TakeOmission = Callable[[Omission], object]

_COLLECTIONS = (list, tuple, set, frozenset, dict)
# A list of tools begins with one; in others nothing is looked for far.
_MOST_LOOKED_AT = 100
_MOST_NAMED = 3
_MOST_WRAPPERS = 20


def find_omissions(module: ModuleType) -> Iterator[Omission]:
    """Find what is not offered of that which has no leading underscore, or which `__all__` names."""
    public = find_public(module)
    offered = _list_offered(public.values())
    for name, item in public.items():
        if not is_offer(item):
            text, tools = _explain(module, name, item, public.values(), offered)
            if text:
                yield Omission(find_place(module, name), text, tools)


def _list_offered(items: Collection[Any]) -> set[int]:
    held = (it for item in items if isinstance(item, Registry) for it in item.given)
    return {id(it) for it in (*items, *held)}


def _explain(
    module: ModuleType, name: str, item: Any, items: Collection[Any], offered: set[int]
) -> tuple[str, tuple[str, ...]]:
    reason = explain_not_offered(item)
    if reason is not None:
        return f"{name}, of the class {type(item).__name__}, is not offered: {reason}", ()
    if inspect.isclass(item):
        return _remind_of_instance(module, item, items), ()
    if isinstance(item, FunctionType):
        return _explain_wrapper(name, item, offered)
    if isinstance(item, _COLLECTIONS):
        return _explain_collection(name, item, offered)
    return "", ()


def _remind_of_instance(module: ModuleType, kind: type, items: Collection[Any]) -> str:
    if not issubclass(kind, BaseTool | BaseToolkit) or kind.__module__ != module.__name__:
        return ""
    if any(isinstance(item, kind) for item in items) or kind.__subclasses__():
        return ""
    variable = "tool" if issubclass(kind, BaseTool) else "toolkit"
    return f"class {kind.__name__} is not offered; make an instance: {variable} = {kind.__name__}()"


def _explain_wrapper(name: str, function: FunctionType, offered: set[int]) -> tuple[str, tuple[str, ...]]:
    """Explain that a decorator above @tool has made a function of the tool again."""
    inner: Any = function
    for _ in range(_MOST_WRAPPERS):
        inner = vars(inner).get("__wrapped__") if isinstance(inner, FunctionType) else None
        if inner is not None and is_tool(inner) and id(inner) not in offered:
            text = f"{name} is not offered: it is a function around the tool {inner.name!r}"
            return f"{text}; write that decorator below @tool", (inner.name,)
    return "", ()


def _explain_collection(name: str, items: Any, offered: set[int]) -> tuple[str, tuple[str, ...]]:
    values = islice(items.values() if isinstance(items, Mapping) else items, _MOST_LOOKED_AT)
    tools = [it for it in values if is_tool(it) and id(it) not in offered]
    if not tools:
        return "", ()
    names = tuple(str(it.name) for it in tools)
    shown = f"{', '.join(names[:_MOST_NAMED])}{', ...' if len(names) > _MOST_NAMED else ''}"
    whole = f"{name}.values()" if isinstance(items, Mapping) else name
    ours = all(isinstance(it, BaseTool | HostedTool) for it in tools)
    mend = f"write {name} = Registry({whole})" if ours else "give each a name of its own there"
    return f"{name} holds tools that are not offered ({shown}): {mend}", names
