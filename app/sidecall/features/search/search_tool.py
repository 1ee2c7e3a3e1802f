"""The tools with which models find other tools: the server's own, under Anthropic's names."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from sidecall.compiler.compile import DescriptionTexts, compile_tool
from sidecall.features.provider_formats.searches import write_found
from sidecall.features.search.index import MOST_OF_QUERY, BadPattern, ToolIndex
from sidecall.kernel.concurrency.fair_queue import key_of
from sidecall.kernel.concurrency.pools import TOOL_SEARCH
from sidecall.kernel.core.context import Caller, ToolContext
from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.core.native_results import SEARCH_BY_PATTERN, SEARCH_BY_WORDS
from sidecall.kernel.core.options import ToolAnnotations, ToolOptions
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.hooks import visible
from sidecall.kernel.registry import Registry

_MOST = 20

_OPTIONS = ToolOptions(
    response_format="content_and_artifact", annotations=ToolAnnotations(read_only=True, destructive=False)
)

Query = Annotated[str, Field(min_length=1, max_length=MOST_OF_QUERY)]

Count = Annotated[int, Field(ge=1, le=_MOST)]

_Found = tuple[str, dict[str, Any]]


def make_search_tools(registry: Registry) -> list[CompiledTool]:
    """Make the tools that find those of a registry."""
    search = _Search(registry)
    return [replace(_BY_WORDS, function=search.by_words), replace(_BY_PATTERN, function=search.by_pattern)]


class _Search:
    """Searches the tools of a registry."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    async def by_words(self, query: Query, limit: Count = 5, *, context: ToolContext) -> _Found:  # noqa: D417
        """Find tools that are not listed yet, by what they should do. They can be called afterwards.

        Args:
            query: Words that name the task, such as "send email".
            limit: The most tools to be found.
        """
        return write_found((await find_tools(self._registry, context.caller, context.context, query))[:limit])

    async def by_pattern(self, pattern: Query, limit: Count = 5, *, context: ToolContext) -> _Found:  # noqa: D417
        """Find tools that are not listed yet, by a regular expression. They can be called afterwards.

        It is looked for in names, descriptions, and names and descriptions of parameters.

        Args:
            pattern: The expression, such as "(?i)e?mail|calendar".
            limit: The most tools to be found.
        """
        try:
            found = await find_tools(self._registry, context.caller, context.context, pattern, "regex")
        except BadPattern as error:
            raise ToolException(f"Error: {error}") from None
        return write_found(found[:limit])


def _compile(name: str, function: Any) -> CompiledTool:
    texts = DescriptionTexts(docstring=function.__doc__)
    return replace(compile_tool(function, _OPTIONS, name=name, texts=texts), is_own=True)


# The parts that are the same for every registry.
_NOTHING = _Search(Registry())

_BY_WORDS = _compile(SEARCH_BY_WORDS, _NOTHING.by_words)

_BY_PATTERN = _compile(SEARCH_BY_PATTERN, _NOTHING.by_pattern)


# The kind of a question: words, or a regular expression.
SearchMode = Literal["bm25", "regex"]


async def find_tools(
    registry: Registry, caller: Caller, context: Mapping[str, Any], query: str, mode: SearchMode = "bm25"
) -> list[CompiledTool]:
    """List the matching tools that a caller may see, best first.

    Raises:
        BadPattern: The query is not a valid regular expression.
    """
    index = _find_index(registry)
    find = index.rank if mode == "bm25" else index.match
    # The first search indexes all tools, which takes long if they are many.
    names = await TOOL_SEARCH.run_for(key_of(caller), find, query)
    found = [tool for name in names if (tool := registry.get(name)) is not None]
    return await visible(found, caller, context)


def _find_index(registry: Registry) -> ToolIndex:
    if ToolIndex not in registry.derived:
        registry.derived[ToolIndex] = ToolIndex(registry)
    index: ToolIndex = registry.derived[ToolIndex]
    return index
