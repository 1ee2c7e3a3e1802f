"""List deferred tools, which a model finds by search, together with the search tool."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sidecall.kernel.core.errors import InvalidParameter
from sidecall.kernel.core.native_results import OWN_SEARCHES, SEARCH_BY_WORDS, SearchBy
from sidecall.kernel.core.tool import CompiledTool, Schema
from sidecall.kernel.registry import Registry
from sidecall.kernel.schema.forms.definitions import NONE_DECLARED, DefinitionFormat, list_fitting, render_definitions

# The forms of providers whose models can find tools.
WITH_SEARCH: tuple[DefinitionFormat, ...] = ("openai-responses", "anthropic")
_OPENAI_SEARCH = "tool_search"
_ANTHROPIC_SEARCH = {"type": "tool_search_tool_bm25_20251119", "name": SEARCH_BY_WORDS}


def find_search(search: SearchBy, form: DefinitionFormat, registry: Registry) -> CompiledTool | None:
    """Return our own search tool; None where the provider searches.

    Raises:
        InvalidParameter: Models of this provider cannot search, or a tool that is offered has the name of the search.
    """
    if form not in WITH_SEARCH:
        raise InvalidParameter(f"`search` goes with `format={WITH_SEARCH[0]}` and `format={WITH_SEARCH[1]}`.")
    name = OWN_SEARCHES.get(search)
    own = None if name is None else registry.get(name)
    if own is not None and not own.is_own:
        raise InvalidParameter(f"`search={search}` is not there: a tool that is offered has its name, {name}.")
    return own


def list_deferred(
    tools: Sequence[CompiledTool],
    form: DefinitionFormat,
    own: CompiledTool | None,
    declared: Collection[str] = (),
) -> list[CompiledTool]:
    """List the tools whose definitions a provider gets; for OpenAI, deferred ones are sent when found."""
    fitting = [tool for tool in list_fitting(tools, form) if (tool.declaration or {}).get("type") != _OPENAI_SEARCH]
    if own is None or form == "anthropic":
        return fitting
    return [tool for tool in fitting if tool.name in declared or not _is_deferred(tool)]


def render_deferred(
    tools: Sequence[CompiledTool],
    form: DefinitionFormat,
    *,
    strict: bool | Collection[str] = False,
    declared: Mapping[str, list[Schema]] = NONE_DECLARED,
) -> list[dict[str, Any]]:
    """Render tools that models do not see until they are found.

    Tools with `extras={"defer_loading": False}` are visible at once.
    """
    definitions = render_definitions(tools, form, strict=strict, declared=declared)
    deferred = {tool.name for tool in tools if _is_deferred(tool) and tool.name not in declared}
    return [_defer(definition, deferred) for definition in definitions]


def _is_deferred(tool: CompiledTool) -> bool:
    return tool.declaration is None and tool.options.extras.get("defer_loading") is not False


def _defer(definition: dict[str, Any], deferred: set[str]) -> dict[str, Any]:
    if definition.get("type") == "namespace":
        return {**definition, "tools": [_defer(inner, deferred) for inner in definition["tools"]]}
    return {**definition, "defer_loading": True} if definition.get("name") in deferred else definition


def render_search(form: DefinitionFormat, own: CompiledTool | None) -> dict[str, Any]:
    """Render the search tool: ours, or the provider's."""
    if own is None:
        return dict(_ANTHROPIC_SEARCH) if form == "anthropic" else {"type": _OPENAI_SEARCH}
    if form == "anthropic":
        definition: dict[str, Any] = render_definitions([own], form)[0]
        return definition
    said = {"description": own.description, "parameters": own.args_schema.flat}
    return {"type": _OPENAI_SEARCH, "execution": "client", **said}


def write_found(tools: Sequence[CompiledTool]) -> tuple[str, dict[str, Any]]:
    """Write search results: names for the model, definitions for the Responses API."""
    if not tools:
        return "No tool was found. Say it in other words.", {"names": [], "tools": []}
    lines = [f"{tool.name}: {tool.description.partition(_BREAK)[0]}" for tool in tools]
    names = [tool.name for tool in tools]
    return "\n".join(lines), {"names": names, "tools": render_deferred(tools, "openai-responses")}


_BREAK = "\n"
