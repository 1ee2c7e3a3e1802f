"""What a module offers: tools, toolkits and registries, and the tools that come of them."""

from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sidecall.authoring.decorators import tool
from sidecall.authoring.foreign.adopt import is_foreign_tool, is_foreign_toolkit
from sidecall.authoring.foreign.declared import adopt_declaration
from sidecall.authoring.foreign.hosted_tool import HostedTool
from sidecall.authoring.structured import StructuredTool
from sidecall.authoring.tool import BaseTool
from sidecall.authoring.toolkit import BaseToolkit
from sidecall.core.errors import DefinitionError, DiscoveryError
from sidecall.core.tool import Compilable, CompiledTool
from sidecall.later import Later
from sidecall.registry import Registry
from sidecall.schema.signature import find_source

if TYPE_CHECKING:
    from sidecall.authoring.foreign import tool as _tool
else:
    _tool = Later("sidecall.authoring.foreign.tool")

# What lists tools, by its name: a process has to load it for itself.
TOOLS_OF = f"{__name__}:tools_of"


def list_offers(offered: object) -> list[Any]:
    """List what a module offers that has no leading underscore, or that its `__all__` names; or else the thing itself.

    Tools, toolkits and registries count, those of LangChain and of the OpenAI Agents SDK too.
    """
    items = list(find_public(offered).values()) if isinstance(offered, ModuleType) else [offered]
    return [item for item in items if is_offer(item)]


def compile_offers(offers: Iterable[Any]) -> list[CompiledTool]:
    """Make offers ready; what a module offers itself and in a toolkit or Registry too is offered once.

    A tool of another library gives way to what `tool(...)` has made of it under its name.

    Raises:
        DefinitionError: A tool cannot be offered.
    """
    known = list(offers)
    held = {id(tool) for it in known if isinstance(it, Registry) for tool in it.offered}
    items = {id(it): it for offer in known for it in (offer if isinstance(offer, Registry) else _list_tools(offer))}
    replaced = _find_replaced((*known, *items.values()))
    items = {key: it for key, it in items.items() if key not in replaced}
    ready = [it if isinstance(it, CompiledTool) else _adopt(it).compiled for it in items.values()]
    return list({id(it): it for it in ready if id(it) not in held or id(it) in items}.values())


def tools_of(offered: object) -> Iterator[CompiledTool]:
    """Yield the tools that a module offers, then those that it keeps for itself; or those of what stands in one.

    Raises:
        DefinitionError: One of them cannot be made; the others come before.
    """
    items = list_offers(offered)
    if isinstance(offered, ModuleType):
        items += [item for item in vars(offered).values() if is_offer(item) and not any(item is it for it in items)]
    problems = []
    replaced = _find_replaced(items)
    for item in (it for it in items if id(it) not in replaced):
        try:
            yield from compile_offers([item])
        except DefinitionError as error:
            problems.append(error)
    if problems:
        raise problems[0]


def _find_replaced(offers: Iterable[Any]) -> set[int]:
    """Find the tools in whose place others are offered."""
    given = (it for offer in offers for it in (offer.given if isinstance(offer, Registry) else (offer,)))
    # Most are functions that were made tools here, for which nothing has to be loaded.
    others = (it for it in given if isinstance(it, StructuredTool) and type(it) is not StructuredTool)
    foreign = (it for it in others if isinstance(it, _tool.ForeignTool))
    return {id(it.stands_for) for it in foreign if it.stands_for is not None}


def is_offer(item: object) -> bool:
    """Return whether this is a tool, a toolkit or a registry."""
    return is_tool(item) or _is_toolkit(item) or isinstance(item, Registry)


def is_tool(item: object) -> bool:
    """Return whether this is a tool, of another library too."""
    return isinstance(item, BaseTool | HostedTool) or is_foreign_tool(item) or adopt_declaration(item) is not None


def _is_toolkit(item: object) -> bool:
    return isinstance(item, BaseToolkit) or is_foreign_toolkit(item)


def _list_tools(offer: Any) -> list[Any]:
    if is_tool(offer):
        return [offer]
    where = f"{find_source(offer.get_tools)}: toolkit {type(offer).__name__}"
    try:
        tools = list(offer.get_tools())
    except DefinitionError:
        raise
    except BaseException as error:
        raise DiscoveryError(f"{where} cannot make its tools: {type(error).__name__}: {error}") from error
    for it in tools:
        if not is_tool(it):
            raise DiscoveryError(f"{where} has to return tools, not {type(it).__name__}; decorate it with @tool.")
    return tools


def _adopt(item: Any) -> Compilable:
    return item if isinstance(item, BaseTool | HostedTool) else adopt_declaration(item) or tool(item)


def find_public(module: ModuleType) -> dict[str, Any]:
    """Find what in a module has no leading underscore, or is named by its `__all__`."""
    exported = getattr(module, "__all__", None)
    names = exported if exported is not None else [name for name in vars(module) if not name.startswith("_")]
    return {name: getattr(module, name) for name in names if hasattr(module, name)}
