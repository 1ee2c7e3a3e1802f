"""Find which tool implements each built-in tool of a provider."""

from collections.abc import Iterable, Mapping

from sidecall.kernel.core.errors import ToolAlreadyRegistered
from sidecall.kernel.core.native_kinds import NAMES, NativeKind
from sidecall.kernel.core.tool import CompiledTool


def find_implementers(tools: Iterable[CompiledTool]) -> Mapping[NativeKind, CompiledTool]:
    """Index the tools by the built-in tools that they implement.

    Raises:
        ToolAlreadyRegistered: Two implement the same, or one has the name by which models call another.
    """
    known = {tool.name: tool for tool in tools}
    found: dict[NativeKind, CompiledTool] = {}
    for tool in known.values():
        for kind in tool.options.native:
            if kind == "computer_use":  # Which has many functions.
                continue
            other = found.setdefault(kind, tool)
            if other is not tool:
                raise ToolAlreadyRegistered(
                    f"Two tools, {other.name!r} and {tool.name!r} both implement {kind}: {other.source} and "
                    f"{tool.source}. Leave one out."
                )
            namesake = known.get(NAMES.get(kind, tool.name), tool)
            if namesake is not tool:
                raise ToolAlreadyRegistered(
                    f"{tool.name!r} is called {namesake.name!r} by Anthropic's models, which is the name of another "
                    f"tool: {tool.source} and {namesake.source}. Give the other one another name."
                )
    return found
