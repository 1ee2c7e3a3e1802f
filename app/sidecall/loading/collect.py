"""Collect the tools, toolkits and registries of a module, and compile the tools in them."""

import logging
from collections import UserDict, UserList, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType, ModuleType
from typing import Any

from sidecall.authoring.base_tool import BaseTool
from sidecall.authoring.decorators import tool
from sidecall.authoring.structured_tool import StructuredTool
from sidecall.authoring.toolkit import BaseToolkit
from sidecall.compat.foreign.adopt import (
    find_lister,
    is_foreign_tool,
    is_foreign_toolkit,
    is_module_tool,
)
from sidecall.compat.foreign.declared import adopt_declaration
from sidecall.compat.foreign.hosted_tool import HostedTool
from sidecall.compat.foreign.tool import ForeignTool
from sidecall.compat.foreign.unsupported_libraries import explain_elsewhere
from sidecall.compiler.signature import find_source
from sidecall.kernel.core.errors import DefinitionError, DiscoveryError
from sidecall.kernel.core.tool import Compilable, CompiledTool
from sidecall.kernel.registry import Registry

logger = logging.getLogger("sidecall")

# What lists tools, by its name: a process has to load it for itself.
TOOLS_OF = f"{__name__}:tools_of"


# Is told of what is not offered: where it stands, and why.
Tell = Callable[[str, str], object]


def collect_items(offered: object) -> list[Any]:
    """List the public tools of a module, or those in its `__all__`; for any other object, the object itself.

    Tools, toolkits and registries count, also those of LangChain and the OpenAI Agents SDK, and collections that hold
    only tools and toolkits.
    """
    if not isinstance(offered, ModuleType):
        return [offered] if is_collected(offered) else []
    # A module that was only imported offers nothing, unlike one in a list.
    items = [item for item in find_public(offered).values() if not isinstance(item, ModuleType)]
    found = [item for item in items if is_collected(item)]
    return [offered, *found] if is_module_tool(offered) else found


def compile_items(collected: Iterable[Any], tell: Tell | None = None) -> list[CompiledTool]:
    """Compile collected items into tools, each of them once even if it is also in a toolkit, Registry or list.

    A tool of another library is replaced by the one that `tool(...)` made of it under the same name; a tool that is
    only in a list is replaced by a tool of the same name from the same source location. `tell` is called with a warning
    for each item of a toolkit that is not a tool.

    Raises:
        DefinitionError: A tool cannot be offered.
    """
    listing = partial(_list_tools, tell=tell or _log)
    known = list(collected)
    groups = [{id(it): it for one in list_held(item) for it in listing(one)} for item in known]
    named = [it for it in known if is_tool(it) or is_toolkit(it) or isinstance(it, Registry)]
    registered = {id(tool) for it in named if isinstance(it, Registry) for tool in it.offered}
    listed = [(item, list(item if isinstance(item, Registry) else listing(item))) for item in named]
    items = {id(it): it for _, found in listed for it in found}
    own = {id(it) for item, found in listed for it in found if not is_toolkit(item)}
    replaced = _find_replaced((*named, *items.values(), *(it for group in groups for it in group.values())))
    items = {key: it for key, it in items.items() if key not in replaced}
    made = {id(it): it for it in _drop_copies({key: _compile(it) for key, it in items.items()}, own)}
    ready = [it for it in made.values() if id(it) not in registered or id(it) in items]
    for group in groups:
        left = [it for key, it in group.items() if key not in replaced and key not in items]
        if left:  # As of lists alone, so that the others do not each look through all.
            ready += _find_new(ready, left, registered)
    return ready


def _drop_copies(made: Mapping[int, CompiledTool], own: Container[int]) -> list[CompiledTool]:
    """Leave out the tools of toolkits that are offered under a name of their own as well."""
    known = {(it.name, it.source) for key, it in made.items() if key in own}
    return [it for key, it in made.items() if key in own or (it.name, it.source) not in known]


def _compile(item: Any) -> CompiledTool:
    return item if isinstance(item, CompiledTool) else _adopt(item).compiled


def _find_new(ready: Sequence[CompiledTool], items: Iterable[Any], held: Container[int]) -> list[CompiledTool]:
    """Compile the items that are not offered otherwise: directly, in a registry, or as an equal tool."""
    known = {id(tool) for tool in ready}
    same = {(tool.name, tool.source) for tool in ready}
    made = {id(it): it for it in map(_compile, items)}
    fresh = (it for key, it in made.items() if key not in known and key not in held)
    return [it for it in fresh if (it.name, it.source) not in same]


def tools_of(offered: object) -> Iterator[CompiledTool]:
    """Yield the tools that a module offers, then those it keeps private; for a container, the tools in it.

    Raises:
        DefinitionError: One of them cannot be made; the others come before.
    """
    items = collect_items(offered)
    if isinstance(offered, ModuleType):
        hidden = (item for item in vars(offered).values() if not isinstance(item, ModuleType) and is_collected(item))
        items += [item for item in hidden if not any(item is it for it in items)]
    problems = []
    replaced = _find_replaced(items)
    for item in (it for it in items if id(it) not in replaced):
        try:
            yield from compile_items([item])
        except DefinitionError as error:
            problems.append(error)
    if problems:
        raise problems[0]


def _find_replaced(items: Iterable[Any]) -> set[int]:
    """Find the tools that other tools replace."""
    given = (it for item in items for it in (item.given if isinstance(item, Registry) else (item,)))
    # Most are functions that were made tools here, for which nothing has to be loaded.
    others = (it for it in given if isinstance(it, StructuredTool) and type(it) is not StructuredTool)
    foreign = (it for it in others if isinstance(it, ForeignTool))
    return {id(it.stands_for) for it in foreign if it.stands_for is not None}


def is_collected(item: object) -> bool:
    """Return whether this is a tool, a toolkit, a registry, or a collection of tools and toolkits alone."""
    return is_tool(item) or is_toolkit(item) or isinstance(item, Registry) or bool(list_held(item))


def _list_tools(item: Any, tell: Tell) -> list[Any]:
    if is_tool(item):
        return [item]
    place, toolkit = find_source(getattr(item, "get_tools", type(item))), f"toolkit {type(item).__name__}"
    try:
        answer = get_lister(item)()
        tools = list(answer) if isinstance(answer, Iterable) else [answer]
    except DefinitionError:
        raise
    except BaseException as error:
        raise DiscoveryError(f"{place}: {toolkit} cannot make its tools: {type(error).__name__}: {error}") from error
    known = [it for it in tools if is_tool(it)]
    others = [it for it in tools if not is_tool(it)]
    if not known or others:
        what = f"offers {'only its tools' if known else 'nothing'}"
        tell(place, f"{toolkit} {what}: it has to return tools, not {_name_wrong(others)}")
    return known


def _name_wrong(others: Sequence[Any]) -> str:
    """Name the first item of a toolkit that is not a tool, and say how to fix it."""
    if not others:
        return "an empty list"
    elsewhere = explain_elsewhere(others[0], "it")
    kind = type(others[0]).__name__
    return f"{kind}; decorate it with @tool" if elsewhere is None else f"{kind}, since {elsewhere}"


def _log(place: str, text: str) -> None:
    logger.warning("%s: %s", place, text)


def _adopt(item: Any) -> Compilable:
    return item if isinstance(item, BaseTool | HostedTool) else adopt_declaration(item) or tool(item)


def find_public(module: ModuleType) -> dict[str, Any]:
    """Find the public names of a module, or those in its `__all__`."""
    exported = getattr(module, "__all__", None)
    names = exported if exported is not None else [name for name in vars(module) if not name.startswith("_")]
    return {name: getattr(module, name) for name in names if hasattr(module, name)}


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
