"""Select tools for a listing: which, in which form, how many, for which search."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NoReturn, Protocol, cast

from fastapi import Query

from sidecall.http.parameters import WHOLE_NUMBER
from sidecall.kernel.core.context import Toolset
from sidecall.kernel.core.errors import InvalidParameter
from sidecall.kernel.core.native_results import SearchBy
from sidecall.kernel.core.tool import CompiledTool, Finding, Schema
from sidecall.kernel.registry import Registry
from sidecall.kernel.schema.forms.definitions import (
    NONE_DECLARED,
    DefinitionFormat,
    choose_strict,
    find_form,
    list_fitting,
    render_definitions,
)
from sidecall.lazy_imports import Provided

# How a provider's built-in tools are listed: as its declarations, or as functions of ours.
HostedTools = Literal["keep", "replace"]
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
class Declared:
    """The tools of a list, and the declarations that replace some of them, by name."""

    tools: Sequence[CompiledTool]
    by_name: Mapping[str, list[Schema]] = field(default_factory=dict)


class Listing(Protocol):
    """What listings ask of the forms of providers."""

    def declare(self, tools: Sequence[CompiledTool], form: DefinitionFormat, hosted: HostedTools) -> Declared:
        """Choose the tools that are listed, and what takes the place of some."""

    def find_search(self, search: SearchBy, form: DefinitionFormat, registry: Registry) -> CompiledTool | None:
        """Return our own search tool; None where the provider searches.

        Raises:
            InvalidParameter: Models of this provider cannot search.
        """

    def list_deferred(
        self,
        tools: Sequence[CompiledTool],
        form: DefinitionFormat,
        own: CompiledTool | None,
        declared: Collection[str] = (),
    ) -> list[CompiledTool]:
        """List the tools whose definitions a provider gets."""

    def render_deferred(
        self,
        tools: Sequence[CompiledTool],
        form: DefinitionFormat,
        *,
        strict: bool | Collection[str] = False,
        declared: Mapping[str, list[Schema]] = NONE_DECLARED,
    ) -> list[dict[str, Any]]:
        """Render tools that models do not see until they are found."""

    def render_search(self, form: DefinitionFormat, own: CompiledTool | None) -> dict[str, Any]:
        """Render the search tool."""

    def lint_tool(self, tool: CompiledTool) -> list[Finding]:
        """Return what models and providers misread in a tool."""


class _PlainListing:
    """Where the forms of providers are not installed: each tool is listed as it is."""

    def declare(self, tools: Sequence[CompiledTool], _form: DefinitionFormat, _hosted: HostedTools) -> Declared:
        return Declared(tools)

    def find_search(self, search: SearchBy, _form: DefinitionFormat, _registry: Registry) -> NoReturn:
        raise InvalidParameter(f"`search={search}` needs a feature that is not installed.")

    def lint_tool(self, _tool: CompiledTool) -> list[Finding]:
        return []


LISTINGS = cast("Listing", Provided("listing", _PlainListing()))


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
        return LISTINGS.declare([tool for tool in tools if self.has(tool)], self.form, self.hosted)

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
    own = LISTINGS.find_search(stretch.search, choice.form, registry)
    fitting = LISTINGS.list_deferred(chosen, choice.form, own, by_name)
    page, cursor = _cut(fitting, stretch)
    strict = _choose_strict(fitting, page, choice, by_name)
    definitions = LISTINGS.render_deferred(page, choice.form, strict=strict, declared=by_name)
    return ([] if stretch.cursor is not None else [LISTINGS.render_search(choice.form, own)]) + definitions, cursor


def _choose_strict(
    listed: list[CompiledTool], page: list[CompiledTool], choice: ToolChoice, declared: Collection[str]
) -> bool | Collection[str]:
    """Choose the strict tools of a page, such that all pages together stay within the provider's limit."""
    if page is listed or find_form(choice.form).limit is None:
        return choice.strict
    return choose_strict((tool for tool in listed if tool.name not in declared), choice.form, asked=choice.strict)


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
