"""Suggest existing tools when the model calls an unknown one."""

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from sidecall.kernel.concurrency.pools import LISTINGS
from sidecall.kernel.core.context import ANY_SCOPE, Caller
from sidecall.kernel.core.errors import ToolNotFound
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.options import EARLIER, tell_member
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.hooks import visible
from sidecall.kernel.registry import Registry
from sidecall.kernel.suggest.fuzzy_match import NameIndex

# SeenNamess that are remembered: callers who see the same tools share one.
_MOST = 16
# How many names a model is told.
_MOST_NAMED = 50


class SeenNames(Struct, frozen=True):
    """The names that a caller is shown, and the nearest ones."""

    names: Sequence[str]
    choices: NameIndex


class MissingTools:
    """Explains to callers which tools exist; each caller's list is cached until the tools change."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._version = -1
        self._toolsets: frozenset[str | None] = frozenset()
        self._listings: OrderedDict[Hashable, SeenNames] = OrderedDict()

    def __len__(self) -> int:
        return len(self._listings)

    async def explain(self, request: CallRequest, hidden: CompiledTool | None) -> ToolNotFound:
        """Build the failure that names the tools this caller can see; `hidden` is known not to be one."""
        toolset = (request.call.item or {}).get("toolset_name")
        listing = await self.list_for(request.sender.caller, request.context, toolset, hidden)
        name, choices = request.call.name, listing.choices
        nearest = choices.find_nearest(name)
        meant = EARLIER.get(name)
        if meant is not None and meant in choices.names:
            nearest = list(dict.fromkeys([meant, *nearest]))
        else:
            meant = choices.find_resembling(name)
        return ToolNotFound(name, _choose_named(listing.names, nearest), nearest, meant)

    async def list_for(
        self,
        caller: Caller,
        context: Mapping[str, Any],
        toolset: str | None = None,
        hidden: CompiledTool | None = None,
    ) -> SeenNames:
        """List the tools that a caller sees, or those of a toolset."""
        version = self._follow_tools()
        if toolset not in self._toolsets:  # Clients may make up any.
            toolset = toolset and ""
        if self._registry.is_conditional:
            others = (tool for tool in self._registry if tool is not hidden)
            seen = await visible(others, caller, context)
            what: Hashable = tuple(tool.name for tool in seen)
        else:  # What is hidden from a caller is so for good.
            what, seen = _tell_kind(caller, self._registry.scopes), None
        key = version, what, toolset
        listing = self._listings.pop(key, None)
        if listing is None:
            listing = _list_tools(await visible(self._registry, caller) if seen is None else seen, toolset)
        if not listing.choices.is_ready:
            await LISTINGS.run(listing.choices.make_ready)
        self._listings[key] = listing
        if len(self._listings) > _MOST:
            self._listings.popitem(last=False)
        return listing

    def _follow_tools(self) -> int:
        if self._version != self._registry.version:
            self._version = self._registry.version
            self._toolsets = frozenset(tool.options.toolset for tool in self._registry)
            self._listings.clear()
        return self._version


def _tell_kind(caller: Caller, scopes: frozenset[str]) -> Hashable:
    """Return the key for callers that see the same tools."""
    return None if ANY_SCOPE in caller.scopes else scopes & caller.scopes, caller.toolset


def _list_tools(tools: Sequence[CompiledTool], toolset: str | None) -> SeenNames:
    names = tuple(tool.name for tool in tools)
    if toolset is None:
        return SeenNames(names, NameIndex(names))
    members = tuple(tell_member(toolset, tool.name) for tool in tools if tool.options.toolset == toolset)
    return SeenNames(members or names, NameIndex(members))


def _choose_named(names: Sequence[str], nearest: Sequence[str]) -> Sequence[str]:
    """Choose the nearest of very many names and the first of the others, and count the rest."""
    if len(names) <= _MOST_NAMED:
        return names
    first = [name for name in names[:_MOST_NAMED] if name not in nearest]
    named = [*nearest, *first[: _MOST_NAMED - len(nearest)]]
    return [*named, f"and {len(names) - len(named):,} more"]
