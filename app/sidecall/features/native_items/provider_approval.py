"""The question whether a provider may call a tool elsewhere; only the decision is made here."""

from dataclasses import replace
from functools import cache
from typing import Any

from sidecall.kernel.core.native_items import APPROVAL
from sidecall.kernel.core.options import ToolOptions
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.schema.compile import DescriptionTexts, compile_tool


@cache
def make_provider_approval() -> CompiledTool:
    """Make the tool that only asks a person to approve a provider's call."""

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
