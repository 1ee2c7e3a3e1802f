"""Select tools for a listing: which, in which form, how many, for which search."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Query

from sidecall.kernel.core.context import Toolset
from sidecall.kernel.core.errors import InvalidParameter
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.http.parameters import WHOLE_NUMBER
from sidecall.kernel.registry import Registry
from sidecall.kernel.schema.forms.deferred import (
    OWN_SEARCHES,
    WITH_SEARCH,
    SearchBy,
    list_deferred,
    render_deferred,
    render_search,
)
from sidecall.kernel.schema.forms.definitions import (
    LIMITED,
    DefinitionFormat,
    choose_strict,
    has_room_for_hosted,
    list_fitting,
    render_definitions,
)
from sidecall.kernel.schema.forms.native import Declared, HostedTools, choose_hosted, declare_native

Format = Annotated[DefinitionFormat, Query(description="Whose form the definitions have.")]
Strict = Annotated[bool, Query(description="Say the schemas in the provider's strict form where that is possible.")]
Tags = Annotated[list[str] | None, Query(alias="tag", description="Only tools with one of these tags.")]
Names = Annotated[list[str] | None, Query(alias="name", description="Only the tools of these names.")]
OfToolset = Annotated[str | None, Query(description="Only the tools of this toolset, as the operator has named it.")]
Hosted = Annotated[
    HostedTools,
    Query(
        description="What becomes of what the provider has of its own: `keep` lists its declarations, `replace`"
        " functions of this server that do the same."
    ),
]
MostTools = Annotated[
    int | None, Query(ge=1, le=1000, description="Most tools of one page; all of them when left out."), WHOLE_NUMBER
]
AfterTool = Annotated[
    str | None, Query(max_length=64, description="Where the page begins: from the `Link` of the one before.")
]
FoundBy = Annotated[
    SearchBy | None,
    Query(
        alias="search",
        description="Let the model find the tools: by a search of the `provider`, or of this server, which takes words"
        " (`bm25`) or a regular expression (`regex`). For `openai-responses` and `anthropic`.",
    ),
]


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """The tools that a program asks to list; without `toolset`, all that its caller may see."""

    form: DefinitionFormat
    strict: bool
    tags: list[str] | None
    names: list[str] | None
    toolset: Toolset | None = None
    hosted: HostedTools = "keep"

    def declare(self, tools: list[CompiledTool]) -> Declared:
        """Filter tools, and replace those that implement a provider's built-in tool by its declaration."""
        chosen = [tool for tool in tools if self.has(tool)]
        chosen = choose_hosted(chosen, self.hosted, has_room=has_room_for_hosted(self.form))
        return Declared(chosen) if self.hosted == "replace" else declare_native(chosen, self.form)

    def has(self, tool: CompiledTool) -> bool:
        """Return whether a tool is selected."""
        tags = tool.options.tags
        return (
            (not self.tags or not set(self.tags).isdisjoint(tags))
            and (not self.names or tool.name in self.names)
            and (self.toolset is None or self.toolset.has(tool.name, tags))
        )


@dataclass(frozen=True, slots=True)
class Stretch:
    """The requested page of a list, and the name index for its search."""

    limit: int | None
    cursor: str | None
    search: SearchBy | None


async def read_stretch(limit: MostTools = None, cursor: AfterTool = None, search: FoundBy = None) -> Stretch:
    """Read the page's parameters from the query; a dependency of routes."""
    return Stretch(limit, cursor, search)


def write_page(
    tools: list[CompiledTool], choice: ToolChoice, stretch: Stretch, registry: Registry
) -> tuple[list[Any], str | None]:
    """Return the definitions of a page, and the cursor of the next one, if any.

    Raises:
        InvalidParameter: The cursor leads nowhere, or models of this provider cannot search.
    """
    declared = choice.declare(tools)
    chosen, by_name = declared.tools, declared.by_name
    if stretch.search is None:
        fitting = list_fitting(chosen, choice.form)
        page, cursor = _cut(fitting, stretch)
        strict = _choose_strict(fitting, page, choice, by_name)
        return render_definitions(page, choice.form, strict=strict, declared=by_name), cursor
    own = _find_search(stretch.search, choice.form, registry)
    fitting = list_deferred(chosen, choice.form, own, by_name)
    page, cursor = _cut(fitting, stretch)
    strict = _choose_strict(fitting, page, choice, by_name)
    definitions = render_deferred(page, choice.form, strict=strict, declared=by_name)
    return ([] if stretch.cursor is not None else [render_search(choice.form, own)]) + definitions, cursor


def _choose_strict(
    listed: list[CompiledTool], page: list[CompiledTool], choice: ToolChoice, declared: Collection[str]
) -> bool | Collection[str]:
    """Choose the strict tools of a page, such that all pages together stay within the provider's limit."""
    if page is listed or choice.form not in LIMITED:
        return choice.strict
    return choose_strict((tool for tool in listed if tool.name not in declared), choice.form, asked=choice.strict)


def _find_search(search: SearchBy, form: DefinitionFormat, registry: Registry) -> CompiledTool | None:
    if form not in WITH_SEARCH:
        raise InvalidParameter(f"`search` goes with `format={WITH_SEARCH[0]}` and `format={WITH_SEARCH[1]}`.")
    name = OWN_SEARCHES.get(search)
    own = None if name is None else registry.get(name)
    if own is not None and not own.is_own:
        raise InvalidParameter(f"`search={search}` is not there: a tool that is offered has its name, {name}.")
    return own


def _cut(tools: list[CompiledTool], stretch: Stretch) -> tuple[list[CompiledTool], str | None]:
    """Cut a page from a list; its cursor is the name of its last tool, which stays valid when tools change."""
    if stretch.limit is None:
        if stretch.cursor is not None:
            raise InvalidParameter("`cursor` goes with `limit`.")
        return tools, None
    start = 0
    if stretch.cursor is not None:
        names = [tool.name for tool in tools]
        if stretch.cursor not in names:
            raise InvalidParameter("`cursor` leads nowhere, or not any more: list the tools from their beginning.")
        start = names.index(stretch.cursor) + 1
    page = tools[start : start + stretch.limit]
    return page, page[-1].name if start + stretch.limit < len(tools) else None
