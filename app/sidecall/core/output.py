"""What a tool has returned, read the same wherever it ran."""

from typing import Any

from sidecall.core.errors import ToolOutputError
from sidecall.core.tool import CompiledTool

# The types that LangChain's ToolMessage passes on as blocks.
_BLOCK_TYPES = frozenset("text image_url image json search_result custom_tool_call_output document file".split())


class ObjectList(list[Any]):
    """A list of plain values that is no list of blocks, though its items look like blocks.

    A list of models is one once each model has become a dict on its way from another process.
    """


def split_output(tool: CompiledTool, output: Any) -> tuple[Any, Any]:
    """Return the content and the artifact.

    Raises:
        ToolOutputError: `response_format` promises both, and the output is no pair.
    """
    if tool.options.response_format == "content":
        return output, None
    if not isinstance(output, tuple) or len(output) != 2:
        raise ToolOutputError(
            f"Error: {tool.name} has response_format='content_and_artifact' and must return a pair "
            f"(content, artifact), but returned {type(output).__name__}."
        )
    return output


def are_blocks(value: Any) -> bool:
    """Return whether a value is a list of texts and blocks, which answers pass on as it is."""
    if not isinstance(value, (list, tuple)) or type(value) is ObjectList:
        return False
    return all(_is_block(item) for item in value)


def _is_block(item: Any) -> bool:
    kind = item.get("type") if isinstance(item, dict) else None
    return isinstance(item, str) or (isinstance(kind, str) and kind in _BLOCK_TYPES)


def no_json_form(tool_name: str, value: Any) -> ToolOutputError:
    """Return the error that says that JSON has no form for what a tool returned."""
    kind = type(value).__name__
    return ToolOutputError(f"Error: {tool_name} returned a value of type {kind}, which cannot be said in JSON.")
