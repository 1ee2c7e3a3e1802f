"""The tools by which models find others: the server's own, under the names of Anthropic's."""

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from sidecall.core.context import ToolContext
from sidecall.core.errors import ToolException
from sidecall.core.options import ToolAnnotations, ToolOptions
from sidecall.core.tool import CompiledTool
from sidecall.pipeline.finding.search import find_tools
from sidecall.registry import Registry
from sidecall.schema.compile import DescriptionTexts, compile_tool
from sidecall.schema.finding.index import MOST_OF_QUERY, BadPattern
from sidecall.schema.forms.deferred import SEARCH_BY_PATTERN, SEARCH_BY_WORDS, write_found

_MOST = 20
_OPTIONS = ToolOptions(
    response_format="content_and_artifact", annotations=ToolAnnotations(read_only=True, destructive=False)
)

Query = Annotated[str, Field(min_length=1, max_length=MOST_OF_QUERY)]
Count = Annotated[int, Field(ge=1, le=_MOST)]
_Found = tuple[str, dict[str, Any]]


def make_search_tools(registry: Registry) -> list[CompiledTool]:
    """Make the tools that find those of a registry."""

    async def find_by_words(query: Query, limit: Count = 5, *, context: ToolContext) -> _Found:  # noqa: D417
        """Find tools that are not listed yet, by what they should do. They can be called afterwards.

        Args:
            query: Words that name the task, such as "send email".
            limit: The most tools to be found.
        """
        return write_found((await find_tools(registry, context.caller, context.context, query))[:limit])

    async def find_by_pattern(pattern: Query, limit: Count = 5, *, context: ToolContext) -> _Found:  # noqa: D417
        """Find tools that are not listed yet, by a regular expression. They can be called afterwards.

        It is looked for in names, descriptions, and names and descriptions of parameters.

        Args:
            pattern: The expression, such as "(?i)e?mail|calendar".
            limit: The most tools to be found.
        """
        try:
            found = await find_tools(registry, context.caller, context.context, pattern, "regex")
        except BadPattern as error:
            raise ToolException(f"Error: {error}") from None
        return write_found(found[:limit])

    return [_compile(SEARCH_BY_WORDS, find_by_words), _compile(SEARCH_BY_PATTERN, find_by_pattern)]


def _compile(name: str, function: Any) -> CompiledTool:
    texts = DescriptionTexts(docstring=function.__doc__)
    return replace(compile_tool(function, _OPTIONS, name=name, texts=texts), is_own=True)
