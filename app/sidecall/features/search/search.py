"""Find tools among those that a caller may see."""

from collections.abc import Mapping
from typing import Any, Literal

from sidecall.kernel.concurrency.pools import TOOL_SEARCH
from sidecall.kernel.concurrency.turns import key_of
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.visible import visible
from sidecall.kernel.registry import Registry

# The kind of a question: words, or a regular expression.
SearchMode = Literal["bm25", "regex"]


async def find_tools(
    registry: Registry, caller: Caller, context: Mapping[str, Any], query: str, mode: SearchMode = "bm25"
) -> list[CompiledTool]:
    """List the matching tools that a caller may see, best first.

    Raises:
        BadPattern: The query is not a valid regular expression.
    """
    find = registry.index.rank if mode == "bm25" else registry.index.match
    # The first search indexes all tools, which takes long if they are many.
    names = await TOOL_SEARCH.run_for(key_of(caller), find, query)
    found = [tool for name in names if (tool := registry.get(name)) is not None]
    return await visible(found, caller, context)
