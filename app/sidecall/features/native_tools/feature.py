"""What the feature native_tools adds to a server: options of tools, and the question about calls of a provider."""

from dataclasses import replace
from functools import cache
from typing import Any

from sidecall.compiler.compile import DescriptionTexts, compile_tool
from sidecall.feature import Built, Feature, Host
from sidecall.kernel.core.native_results import APPROVAL
from sidecall.kernel.core.options import ToolOptions
from sidecall.kernel.core.tool import CompiledTool


@cache
def make_provider_approval() -> CompiledTool:
    """Make the tool that only asks a person whether a provider may call a tool elsewhere."""

    async def approve(server_label: str, name: str, arguments: Any = None) -> str:
        """Ask a person whether the model's provider may call a tool of an MCP server.

        Args:
            server_label: The server.
            name: The tool.
            arguments: What it would be called with.
        """
        del arguments
        return f"{name} of {server_label} may be called."

    texts = DescriptionTexts(docstring=approve.__doc__)
    made = compile_tool(approve, ToolOptions(requires_approval=True), name=APPROVAL, texts=texts)
    return replace(made, is_own=True)


def build(_host: Host) -> Built:
    """Make the tool that only asks a person."""
    return Built(tools=[make_provider_approval()])


FEATURE = Feature(
    name="native_tools",
    options=frozenset({"native", "toolset", "input", "grammar"}),
    build=build,
)
